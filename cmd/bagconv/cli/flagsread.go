package cli

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/bagconv/bagconv/convert/check"
	"github.com/bagconv/bagconv/convert/extras"
	"github.com/bagconv/bagconv/convert/render"
	"github.com/bagconv/bagconv/convert/verify"
)

// listFlags are those of list.
func (s *settings) listFlags() []flag {
	return allIn(readGroup, []string{"list"},
		flag{name: "extract", arg: "DIR", kind: aFile, set: put(&s.extract),
			help: "write attachments as files into DIR, which is made if it is not there, and " + extras.IndexName + " with their names, media types and times, and with the metadata records. A name never leads out of DIR: folders in it are left out, and what is there twice gets a number"},
		s.forceFlag("replace files in DIR that have these names"),
	)
}

// infoFlags are those of info, topics, list, schema and formats.
func (s *settings) infoFlags() []flag {
	json := s.jsonFlag()
	keys := words(jsonNames(reflect.TypeFor[infoJSON]())...)
	return []flag{
		{name: "tree", kind: onOff, group: readGroup, on: []string{"schema"}, set: put(&s.tree),
			help: "the fields with their types and array bounds, expanded"},
		json.in(readGroup, "JSON: an object, or an array for several recordings", "info", "check"),
		json.in(readGroup, "JSON, with publishers, quality of service and hashes", "topics"),
		json.in(readGroup, "JSON, with the values of metadata records", "list"),
		json.in(readGroup, "", "schema", "formats"),
		{name: "key", short: "k", arg: "PATH", kind: aKey, values: keys, group: readGroup, on: []string{"info"}, set: put(&s.key),
			help: "one thing of the JSON, such as messages or topics.name; for several recordings behind their names"},
		{name: "scan", kind: oneWord, values: words("auto", "always", "never"), init: "auto", group: readGroup, on: []string{"info"}, set: put(&s.scan),
			help: `read all messages, for exact counts and the sizes and rates of topics; auto does so up to 256 MB. Without it counts are those of the index; where there is none they are estimated, and "about" says so`},
		{name: "no-timeline", kind: onOff, group: readGroup, on: []string{"info", "check"}, set: put(&s.noTimeline),
			help: "no drawing of when topics have messages, or findings; only a terminal gets one, if all messages were read. JSON has the numbers"},
	}
}

// checkFlags are those of check.
func (s *settings) checkFlags() []flag {
	o := &s.check
	return allIn(readGroup, []string{"check"},
		flag{name: "fail-on", kind: oneWord, values: words(check.Severities()...), init: check.Warning.String(), set: put(&s.failOn),
			help: "the least severity that makes the exit status 4; warning is the default"},
		flag{name: "exit-zero", kind: onOff, set: put(&s.exitZero), help: "exit with 0 also with findings"},
		flag{name: "spec", arg: "FILE", kind: aFile, set: parsed(&o.Contract, readContract),
			help: "a contract, what the recording must have: topics, types, rates, gaps, counts, duration, size. Its keys are in bagconv help contracts"},
		flag{name: "make-spec", kind: onOff, set: put(&s.makeSpec),
			help: "write such a contract of a good recording, with room for others like it, to standard output"},
		flag{name: "gap", arg: "N", kind: aDecimal, init: fmt.Sprint(check.DefaultGap), set: func(f *flag) error {
			if err := put(&o.Gap)(f); err != nil || !(o.Gap > 1 && o.Gap < 1e9) {
				return usage("10 is the default", "--gap is a number of periods above 1, not %s", f)
			}
			return nil
		}, help: "a time without messages is a gap when it is longer than N times the median period of its topic; 10 (default)"},
		flag{name: "stamp-offset", arg: "D", init: check.DefaultStampOffset.String(), set: parsed(&o.StampOffset, parseStampOffset),
			help: "how far header stamps may be from the log time; 1s (default)"},
	)
}

func parseStampOffset(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, usage("type for example 500ms, 2s or 1h", "--stamp-offset: %q is no duration above 0", text)
	}
	return d, nil
}

// exactCodes are the words of --exact: what they demand.
var exactCodes = []candidate{
	{string(verify.HeaderSeq), "Header.seq, if one side has none"},
	{string(verify.Types), "types that a conversion maps to each other"},
	{string(verify.Fields), "fields that the other type has no place for"},
	{string(verify.Presence), "which protobuf fields are set, when to their default"},
	{string(verify.PublishTime), "the time of sending"},
	{string(verify.Encoding), "bytes that mean nothing, such as padding"},
	{string(verify.Renamed), "a second topic of one name under another name"},
	{string(verify.EmptyTopics), "topics without messages"},
	{string(verify.Definitions), "messages without a definition on one side"},
	{string(verify.Extras), "attachments and metadata records for which the other format has no place"},
	{string(verify.Flaws), "what other readers refuse in A; in B it always counts"},
}

// codes lists the words that --ignore and --exact take.
func codes() (names []string) {
	for _, c := range verify.Codes() {
		names = append(names, string(c))
	}
	return names
}

// verifyFlags are those of verify.
func (s *settings) verifyFlags() []flag {
	parse := func(p *[]verify.Code) func(*flag) error {
		return func(f *flag) (err error) {
			if *p, err = verify.ParseCodes(f.String()); err != nil {
				return usage("it has words of: "+strings.Join(codes(), ", "), "--%s: %v", f.name, err)
			}
			return nil
		}
	}
	return append(allIn(readGroup, []string{"verify"},
		flag{name: "both", kind: onOff, set: put(&s.both),
			help: "take the same of B, whose topics and times are its own: /imu of both, the first minute of both"},
		flag{name: "level", kind: oneWord, values: words(verify.Levels()...), init: verify.Content.String(), set: nth(&s.verify.Level, verify.Content, verify.Counts, verify.Bytes),
			help: "compare all fields of all messages (default); or only the numbers of messages and their first and last time; or messages byte by byte, within one encoding"},
		flag{name: "ignore", arg: "WORDS", kind: someWords, values: words(codes()...), set: parse(&s.verify.Ignore),
			help: "what does not count, with commas between the words: header-seq, extras (all attachments and metadata records), or unconvertible (topics, messages and unknown fields that a conversion leaves out and reports)"},
		flag{name: "exact", arg: "WORDS", kind: someWords, values: append(exactCodes, words("all")...), set: parse(&s.verify.Exact),
			help: "what counts though it may differ by design, or all:"},
	), s.jsonFlag().in(readGroup, "JSON, with the content hash of each topic", "verify"))
}

// catFlags are those of cat.
func (s *settings) catFlags() []flag {
	return allIn(readGroup, []string{"cat"},
		flag{name: "format", kind: oneWord, values: words("ndjson", "yaml", "csv"), init: "ndjson", set: nth(&s.render.Style, render.JSON, render.YAML, render.CSV),
			help: "lines of JSON (default), YAML documents, or CSV: a column for each field named (of a struct, for each of its fields), or for each field of the topic"},
		flag{name: "limit", arg: "N", kind: aNumber, set: func(f *flag) error {
			if err := put(&s.limit)(f); err != nil || s.limit < 1 {
				return usage("leave it out to have all", "--limit is a number of messages above 0, not %s", f)
			}
			return nil
		}, help: "the first N messages"},
		flag{name: "bytes", kind: onOff, set: put(&s.render.Bytes),
			help: `uint8[], byte[] and bytes as base64. Without it they are {"$bytes":N}; one that is named is always written`},
		flag{name: "arrays", kind: onOff, set: put(&s.render.Arrays),
			help: `lists of more than 128 elements whole on a terminal, too. There they are {"$length":N}, unless they are named. In a pipe or file they are whole, unless --arrays=false is set`},
		flag{name: "raw", kind: onOff, set: put(&s.raw), help: `the serialized messages as base64, under "raw"`},
	)
}
