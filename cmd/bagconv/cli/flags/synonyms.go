package flags

import "strings"

// gone are flags that were, with what to type instead.
var gone = map[string]string{
	"print-config": "bagconv help COMMAND has the defaults, and --config FILE reads flags as they stand on a line, " +
		"without dashes",
	"metrics": "--report FILE and --json have the numbers of a run, results of work the numbers of a task, " +
		"and --progress json the numbers so far",
}

// synonyms are names that other programs have for our flags, by what to type here: choices with | between. The
// answer is the first choice that the command takes. A choice without a dash fits all commands, or only the commands
// named before a colon. A name may be a flag of ours, where another command means something else by it.
var synonyms = ByWord(map[string]string{
	"the input is the first word without a dash": "input in i f src bag bags file files",
	"cat info check list verify formats: add > FILE at the end of the line | -o OUT | -O OUT": "output o out outfile " +
		"output-file dest destination dst",
	"-O OUT | -o OUT": "output-dir O outdir out-dir output-folder",

	"-t TOPIC":          "include include-topics channel channels c select whitelist only",
	"-t TOPIC for each": "topics topic-list",
	"-t re:EXPRESSION":  "regex regexp pattern",
	"-x TOPIC":          "exclude exclude-topics exclude-regex ignore-topic skip-topic drop-topic blacklist",
	"--remap OLD:=NEW":  "rename rename-topic map-topic",
	"flags say what an options file of ros2 bag convert says: --to, --compression, -t": "output-options",
	"--where EXPRESSION":  "filter condition expr expression query",
	"-S TIME":             "begin start-time start-offset from-time begin-time time-from since after b s ss",
	"-E TIME":             "stop end-time stop-time to-time time-to until before e",
	"-S TIME and -E TIME": "time times time-range range",
	"-u DURATION":         "d length max-length",

	"cat: --limit N | record: --limit N | -u DURATION, a limit of time": "limit n count max-messages num-messages",
	"cat: --tail N | -S -30s, the last 30 seconds":                      "tail last",
	"cat: --limit N | -u 10, the first 10 seconds":                      "head first",
	"cat: --skip N | -S TIME":                                           "skip offset",
	"cat: --nth N | --every TOPIC=N":                                    "nth step stride every-n decimate",
	"--throttle TOPIC=HZ, or --resample HZ of export":                   "fps hz frequency rate freq",
	"--throttle TOPIC=HZ, or --every TOPIC=N":                           "downsample subsample sample",
	"--rate X": "speed",

	"-j N | --threads N": "jobs workers parallel parallelism concurrency procs cores cpus " +
		"num-workers j P",
	"--threads N":                           "num-threads",
	"--max-memory SIZE":                     "memory mem ram",
	"--force":                               "overwrite yes y force-overwrite replace clobber",
	"-q":                                    "silent",
	"--dry-run":                             "dry simulate no-act",
	"--json":                                "json-output as-json",
	"--max-size SIZE | --segment-size SIZE": "max-file-size split-size max-bag-size size",
	"--max-duration D | --segment-duration D":           "max-bag-duration split-duration",
	"--by topic | bagconv split cuts a recording":       "split",
	"--compression lz4":                                 "lz4",
	"--compression bz2":                                 "bz2",
	"--compression zstd":                                "zstd",
	"--compression none":                                "uncompressed decompress no-compression",
	"--compression CODEC":                               "compression-format codec",
	"--to FORMAT | --format FORMAT":                     "output-format out-format format storage-id to",
	"--qos TOPIC:PROFILE":                               "qos-profile qos-overrides qos-profile-overrides-path",
	"bagconv serve takes --listen :PORT":                "port",
	"bagconv info --topics lists topics":                "list",
	"bagconv export IN OUT.parquet writes tables":       "parquet",
	"bagconv export IN OUT.csv -t TOPIC writes a table": "csv",
	"cat: name fields behind the recording: bagconv cat IN /imu.orientation.x | --columns NAMES": "fields field",
})

// Synonyms lists the words that lead to an answer, with the choices.
func Synonyms() map[string]string { return synonyms }

// ByWord returns the answer for each word of lists: words that blanks part, by their answer.
func ByWord(lists map[string]string) map[string]string {
	answers := map[string]string{}
	for answer, words := range lists {
		for word := range strings.FieldsSeq(words) {
			answers[word] = answer
		}
	}
	return answers
}

// meant returns what to type in place of a flag that a command does not take; "" if nothing is known.
func (p *parser) meant(c *Command, name string) string {
	for choice := range strings.SplitSeq(synonyms[name], " | ") {
		only, answer, limited := strings.Cut(choice, ": ")
		if limited && !(&Flag{On: only}).TakenBy(c.Name) {
			continue
		}
		if !limited {
			answer = choice
		}
		switch flag := flagOf(answer); {
		case answer == "" || flag == name:
		case flag == "":
			return answer
		case c.Flag(flag) != nil:
			return "type " + answer
		}
	}
	return ""
}

// fromOthers returns what to type for an unknown flag in another command; "" if nothing is known.
func (p *parser) fromOthers(name string) string {
	for choice := range strings.SplitSeq(synonyms[name], " | ") {
		for _, c := range p.commands {
			if c.Flag(flagOf(choice)) != nil {
				return "bagconv " + c.Name + " takes " + choice
			}
		}
	}
	return ""
}

// flagOf returns the name of the flag with which an answer begins; "" if it begins with something else.
func flagOf(answer string) string {
	word, _, _ := strings.Cut(answer, " ")
	return strings.TrimSuffix(flagName(word), ",")
}
