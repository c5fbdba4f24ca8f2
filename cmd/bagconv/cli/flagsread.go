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

// listFlags returns those of list.
func (s *settings) listFlags() []flag {
	return allIn(readGroup, []string{"list"},
		flag{name: "extract", arg: "DIR", kind: aFile, set: put(&s.extract),
			help: "write attachments as files into DIR, which is created if missing, and " + extras.IndexName + " with their names, media types, times, and the metadata records. Names never lead out of DIR: folders in a name are left out, and a name that is used twice gets a number"},
		s.forceFlag("replace files of the same names in DIR"),
	)
}

// infoFlags returns those of info, topics, list, schema and formats.
func (s *settings) infoFlags() []flag {
	json := s.jsonFlag()
	keys := words(jsonNames(reflect.TypeFor[infoJSON]())...)
	return []flag{
		{name: "tree", kind: onOff, group: readGroup, on: []string{"schema"}, set: put(&s.tree),
			help: "expand all fields, with their types and array bounds; also with the size of fields of fixed size, and their offset in ROS 1 and CDR messages if it is the same in all messages"},
		json.in(readGroup, "print JSON: an object, or an array for several recordings", "info", "check"),
		json.in(readGroup, "print JSON, with publishers, quality of service and hashes", "topics"),
		json.in(readGroup, "print JSON: one object with attachments and the values of metadata records; for records, chunks, connections and parts, one object per line", "list"),
		json.in(readGroup, "", "du", "schema", "formats"),
		{name: "key", short: "k", arg: "PATH", kind: aKey, values: keys, group: readGroup, on: []string{"info"}, set: put(&s.key),
			help: "print one value of the JSON, such as messages or topics.name; for several recordings, each after its name"},
		{name: "scan", kind: oneWord, values: words("auto", "always", "never"), init: "auto", group: readGroup, on: []string{"info"}, set: put(&s.scan),
			help: `read all messages, for exact counts, sizes and rates of topics; auto does so up to 256 MB, and up to 16 MB if the recording is elsewhere. Otherwise counts come from the index; without an index they are estimated and printed with "about"`},
		{name: "no-timeline", kind: onOff, group: readGroup, on: []string{"info", "check"}, set: put(&s.noTimeline),
			help: "do not draw the timeline, which shows when topics have messages and findings. It is drawn on a terminal if all messages were read; JSON always has its numbers"},
	}
}

// numberFlag sets a number of messages, least or more.
func (s *settings) numberFlag(name string, least int64, to *int64) func(*flag) error {
	return func(f *flag) error {
		if err := put(to)(f); err != nil || *to < least {
			return usage("omit it to print all", "--%s needs a number of messages, %d or more, not %s", name, least, f)
		}
		return nil
	}
}

// checkFlags returns those of check.
func (s *settings) checkFlags() []flag {
	o := &s.check
	return allIn(readGroup, []string{"check"},
		flag{name: "fail-on", kind: oneWord, values: words(check.Severities()...), init: check.Warning.String(), set: put(&s.failOn),
			help: "lowest severity that makes the exit status 4; warning is the default"},
		flag{name: "exit-zero", kind: onOff, set: put(&s.exitZero), help: "exit with status 0 even if there are findings"},
		flag{name: "spec", arg: "FILE", kind: aFile, set: parsed(&o.Contract, func(path string) (*check.Contract, error) { return readContract(s.job.Read.FS, path) }),
			help: "check against a contract: topics, types, rates, gaps, counts, duration, size. bagconv help contracts explains its keys"},
		flag{name: "make-spec", kind: onOff, set: put(&s.makeSpec),
			help: "print such a contract, made from a good recording, with limits that allow others like it"},
		flag{name: "gap", arg: "N", kind: aDecimal, init: fmt.Sprint(check.DefaultGap), set: func(f *flag) error {
			if err := put(&o.Gap)(f); err != nil || !(o.Gap > 1 && o.Gap < 1e9) {
				return usage("10 is the default", "--gap needs a number of periods above 1, not %s", f)
			}
			return nil
		}, help: "report a time without messages as a gap if it is longer than N times the median period of its topic; 10 (default)"},
		flag{name: "stamp-offset", arg: "D", init: check.DefaultStampOffset.String(), set: parsed(&o.StampOffset, parseStampOffset),
			help: "largest distance of header stamps from the log time; 1s (default)"},
	)
}

func parseStampOffset(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, usage("type for example 500ms, 2s or 1h", "--stamp-offset needs a duration above 0, not %q", text)
	}
	return d, nil
}

// exactCodes are the words of --exact: what they demand.
var exactCodes = []candidate{
	{string(verify.HeaderSeq), "Header.seq, if one side has none"},
	{string(verify.Types), "types that a conversion maps to each other"},
	{string(verify.Fields), "fields that the other type has no place for"},
	{string(verify.Presence), "whether protobuf fields with the default value are set"},
	{string(verify.PublishTime), "publish times"},
	{string(verify.Encoding), "bytes without meaning, such as padding"},
	{string(verify.Times), "the same time in other seconds and nanoseconds"},
	{string(verify.Renamed), "a second topic of the same name that was renamed"},
	{string(verify.EmptyTopics), "topics without messages"},
	{string(verify.Definitions), "messages without a definition on one side"},
	{string(verify.Extras), "attachments and metadata records for which the other format has no place"},
	{string(verify.Flaws), "flaws of A that other readers refuse; those of B always count"},
}

// codes lists the words that --ignore and --exact take.
func codes() (names []string) {
	for _, c := range verify.Codes() {
		names = append(names, string(c))
	}
	return names
}

// verifyFlags returns those of verify.
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
			help: "apply the selection to B, too, with B's own topics and times: /imu of both, the first minute of both"},
		flag{name: "level", kind: oneWord, values: words(verify.Levels()...), init: verify.Content.String(), set: nth(&s.verify.Level, verify.Content, verify.Counts, verify.Bytes),
			help: "what to compare. content (default): all fields of all messages; counts: only number, first and last time of messages; bytes: messages byte by byte, if they have the same encoding"},
		flag{name: "ignore", arg: "WORDS", kind: someWords, values: words(codes()...), set: parse(&s.verify.Ignore),
			help: "differences that do not count, separated by commas: header-seq, extras (all attachments and metadata records), or unconvertible (topics, messages and unknown fields that a conversion leaves out and reports)"},
		flag{name: "exact", arg: "WORDS", kind: someWords, values: append(exactCodes, words("all")...), set: parse(&s.verify.Exact),
			help: "differences by design that count as differences, or all:"},
	), s.jsonFlag().in(readGroup, "print JSON, with the content hash of each topic", "verify"))
}

// catFlags returns those of cat.
func (s *settings) catFlags() []flag {
	return allIn(readGroup, []string{"cat"},
		flag{name: "format", kind: oneWord, values: words("ndjson", "yaml", "csv"), init: "ndjson", set: nth(&s.render.Style, render.JSON, render.YAML, render.CSV),
			help: "ndjson (default): one JSON object per line; yaml: one document per message; csv: one column per named field (a struct has a column for each of its fields), or per field of the topic"},
		flag{name: "limit", arg: "N", kind: aNumber, set: s.numberFlag("limit", 1, &s.limit), help: "print only the first N messages"},
		flag{name: "skip", arg: "N", kind: aNumber, set: s.numberFlag("skip", 0, &s.skip), help: "leave out the first N of the selected messages; the index finds the next one"},
		flag{name: "nth", arg: "N", kind: aNumber, set: s.numberFlag("nth", 1, &s.nth), help: "print only the N-th message, counted from 1; with one topic, the N-th of that topic"},
		flag{name: "tail", arg: "N", kind: aNumber, set: s.numberFlag("tail", 1, &s.tail), help: "print only the last N messages, in the order of time"},
		flag{name: "reverse", kind: onOff, set: put(&s.reverse), help: "print the last message first"},
		flag{name: "bytes", kind: onOff, set: put(&s.render.Bytes),
			help: `print uint8[], byte[] and bytes as base64, not as {"$bytes":N}; a field that is named is always printed`},
		flag{name: "arrays", kind: onOff, set: put(&s.render.Arrays),
			help: `on a terminal, print lists of more than 128 elements whole, not as {"$length":N}; a list that is named is always whole. In a pipe or file all lists are whole, unless --arrays=false is set`},
		flag{name: "raw", kind: onOff, set: put(&s.raw), help: `print serialized messages as base64, under "raw"`},
		flag{name: "framed", kind: onOff, set: put(&s.framed), help: "with --raw, print serialized messages as they are, each behind its time, encoding, type and topic, for other programs; docs/codegen.md draws the bytes"},
	)
}
