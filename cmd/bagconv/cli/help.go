package cli

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/convert/extras"
)

// verbs are the commands, in the order of the help.
var verbs = []string{"convert", "filter", "merge", "split", "recover", "info", "topics", "list", "schema", "cat", "check", "verify", "batch", "formats", "completion", "version", "help"}

func (e *env) helpCommand() *cli.Command {
	return &cli.Command{
		Name: "help",
		Action: func(c *cli.Context) error {
			if c.NArg() > 1 {
				return usage("type: bagconv help COMMAND", "help takes one command, not %d", c.NArg())
			}
			return e.help(c.Args().First())
		},
	}
}

// help prints the help of a command, that of the program for "".
func (e *env) help(verb string) error {
	text := e.helpText(verb)
	if text == "" {
		hint := "see: bagconv help"
		if near := nearest(verb, append([]string{"contracts"}, verbs...)); near != "" {
			hint = "did you mean " + near + "?"
		}
		return usage(hint, "there is no command %q", verb)
	}
	_, err := fmt.Fprint(e.Out, text)
	return err
}

// helpText returns the help of a command, that of the program for "", with what the
// formats know of themselves; "" if there is no such command.
func (e *env) helpText(verb string) string {
	text := helpTexts[verb]
	if verb == "contracts" {
		text = contractHelp
	}
	return e.expand(text)
}

// The help texts are at most 80 columns wide and name every flag; a test holds
// them against the flags.
var helpTexts = map[string]string{
	"": helpText, "convert": convertHelp, "filter": filterHelp, "merge": mergeHelp, "split": splitHelp, "recover": recoverHelp, "info": infoHelp, "topics": topicsHelp, "list": listHelp,
	"schema": schemaHelp, "check": checkHelp, "doctor": checkHelp, "cat": catHelp, "verify": verifyHelp, "diff": verifyHelp, "batch": batchHelp, "formats": formatsHelp, "completion": completionHelp, "version": versionHelp, "help": helpHelp,
}

const helpText = `bagconv converts robot recordings, any format to any. No ROS and no Apollo is
needed. Messages are re-encoded, so that the output plays.

USAGE
  bagconv [convert] IN OUT     convert a recording
  bagconv filter IN OUT        a part of it, in the same format
  bagconv merge IN IN... OUT   several recordings as one
  bagconv split IN OUT         one recording as several
  bagconv recover IN OUT       a clean recording from a damaged one
  bagconv info IN...           what is in a recording: topics, times, damage
  bagconv topics IN            its topics, one per line
  bagconv list attachments IN  files and tables that it carries
  bagconv schema IN [TOPIC]    message definitions, as text or as a tree
  bagconv cat IN [FIELD]...    messages as JSON, YAML or CSV
  bagconv check IN...          everything wrong or odd in a recording
  bagconv verify A B           whether two recordings hold the same
  bagconv batch -O OUT/ IN...  every recording of folders, with -j and --resume
  bagconv formats              which formats are read and written
  bagconv completion SHELL     what the tab key completes
  bagconv version              which build this is
  bagconv help [COMMAND]       more about a command and its flags

FORMATS
{kinds}
EXAMPLES
  bagconv drive{file} drive_ros2/
  bagconv drive_ros2/ back{file} --compression lz4
  bagconv drive{other} drive_ros2/
  bagconv info drive{file}

Flags may stand anywhere on the line; after -- everything is a file name. A
file that has the name of a command is written with its folder: ./info
All commands take --color auto|always|never; auto (default) colours errors and
damage on a terminal, unless NO_COLOR is set.

EXIT STATUS
  0    done, nothing lost
  1    failed; there is no usable output
  2    the command line is wrong
  3    done, but something is damaged or lost; it is said what
  4    check: there are findings; verify: there are differences
  5    batch: some inputs failed
  130  interrupted
`

const convertHelp = `bagconv [convert] [FLAGS] IN OUT

Converts one recording. The format of IN is found by its content. The format of
OUT is that of --to, else that of its ending:
{endings}
A folder (/ at the end) and a name without an ending make a folder ({folder}).
OUT appears when it is whole; a run that fails leaves nothing. Files that are
parts of one recording are read as one by their common name or that of their
folder, or when all are named; a single one is read alone.

` + selectHelp + editHelp + outputHelp + strictHelp + extraHelp + runHelp + `EXAMPLES
  bagconv drive{file} drive_ros2/
  bagconv drive{file} drive_ros2/ --distro jazzy --report report.json
  bagconv drive_ros2 drive{file} --compression lz4 --force
  bagconv drive{file} cut{file} -S 1m30s -u 10 -t /imu -t '/camera/*'
  bagconv drive{file} cut/ -S -30s -m /imu:=/imu/data --throttle /imu=50

` + convertExits

// convertExits is what convert and filter end with.
const convertExits = `EXIT STATUS
  0    OUT is written, nothing is lost but what the format has no place for
  1    failed; there is no output. With --strict also: damage or loss
  2    the command line is wrong
  3    OUT is written, but IN is damaged or something could not be converted
  4    --verify has found a difference; there is no output
  130  interrupted; there is no output
`

const recoverHelp = `bagconv recover [FLAGS] IN OUT

Writes a clean recording OUT of all that can be read of the damaged recording
IN, and says what was saved and what is lost, in messages, bytes and blocks
(chunks). IN is not changed. It is a conversion: OUT may have any format; where
its name does not tell one, it has that of IN. Index, header, counts and order
of OUT are new and right. Of a database that was being written, messages that
were never committed are taken too.

` + selectHelp + editHelp + outputHelp + "\n" + extraHelp + runHelp + `EXAMPLES
  bagconv recover cut{file} whole{file}
  bagconv recover drive{other} whole{other} --report what.json

EXIT STATUS
  0    OUT is written, nothing was missing
  1    nothing could be read; there is no output
  2    the command line is wrong
  3    OUT is written, and it is said what is lost
  4    --verify has found a difference; there is no output
  130  interrupted; there is no output
`

const infoHelp = `bagconv info [FLAGS] IN...

Shows what is in recordings: times, size, compression, topics with the number
of messages, mean rate and size, attachments and metadata records, and what is
damaged. Nothing is written.

FLAGS
  --from FORMAT         the format of IN, where its content no longer tells
                        it: {formats}
  --json                JSON: an object, or an array for several recordings
  -k, --key PATH        one thing of the JSON, such as messages or topics.name;
                        for several recordings behind their names
  --scan auto|always|never
                        read all messages, for exact counts and the sizes and
                        rates of topics; auto does so up to 256 MB. Without
                        it counts are those of the index; where there is none
                        they are estimated, and "about" says so
  --threads N           workers, 256 at most; 0 (default) is one per core, up
                        to 12
  --progress MODE       auto (default), bar, plain, json or none

EXAMPLES
  bagconv info drive{file}
  bagconv info --json --scan always drive_ros2/ | jq .messages
  bagconv info -k duration_ns *{file}

EXIT STATUS
  0    sound
  1    a recording cannot be read; the others are shown
  2    the command line is wrong
  3    a recording is damaged; what can be read is shown
  130  interrupted
`

const topicsHelp = `bagconv topics [FLAGS] IN

Lists the topics of a recording, one per line: name, number of messages by the
index, type, encoding. Publishers of one topic and type are one line.

FLAGS
  --from FORMAT         the format of IN, where its content no longer tells
                        it: {formats}
  --json                JSON, with publishers, quality of service and hashes

EXAMPLES
  bagconv topics drive{file}
  bagconv topics drive{file} --json | jq -r '.topics[].name'

EXIT STATUS
  0    done
  1    the recording cannot be read
  2    the command line is wrong
  3    the recording is damaged; what can be read is listed
  130  interrupted
`

const listHelp = `bagconv list [FLAGS] attachments IN

Lists what a recording carries besides messages: attachments, which are files
such as a calibration, with size, times and media type, and metadata records,
which are tables of texts. Nothing is written without --extract.

FLAGS
  --extract DIR         write attachments as files into DIR, which is made if it
                        is not there, and ` + extras.IndexName + ` with their names, media
                        types and times, and with the metadata records. A name
                        never leads out of DIR: folders in it are left out, and
                        what is there twice gets a number
  -f, --force           replace files in DIR that have these names
  --from FORMAT         the format of IN, where its content no longer tells
                        it: {formats}
  --json                JSON, with the values of metadata records
  --config FILE         flags from a YAML file, by their long names; those on
                        the line win
  --print-config        print the flags in force as such a file, and do nothing
                        else

EXAMPLES
  bagconv list attachments drive{attached}
  bagconv list attachments drive{attached} --extract files/
  bagconv list attachments drive{attached} --json | jq '.metadata_records[].values'

EXIT STATUS
  0    done
  1    the recording cannot be read, or DIR cannot be written; no file is there
  2    the command line is wrong
  3    the recording is damaged; what can be read is listed and extracted
  130  interrupted
`

const schemaHelp = `bagconv schema [FLAGS] IN [TOPIC]

Prints the message definition of a topic as the recording has it, or those of
all topics. Where the recording has none, the standard definition is printed,
and standard error says so.

FLAGS
  --from FORMAT         the format of IN, where its content no longer tells
                        it: {formats}
  --tree                the fields with their types and array bounds, expanded
  --json                JSON
  --distro NAME         whose standard definitions to take, such as humble;
                        ROS 1 types are those of noetic

EXAMPLES
  bagconv schema drive{file} /imu
  bagconv schema drive_ros2/ /imu --tree

EXIT STATUS
  0    done
  1    the recording cannot be read, has no such topic, or a definition is
       missing or cannot be expanded
  2    the command line is wrong
  130  interrupted
`

const checkHelp = `bagconv check [FLAGS] IN...

Reads recordings from end to end, decodes all messages, and lists everything
that is wrong or odd, with what to do about it: damage, gaps and jumps in the
times of a topic, repeated messages and stamps, header stamps far from the log
time, definitions that are missing or contradict their hash, messages that do
not fit their definition. Nothing is written. The codes are in docs/check.md.
doctor is another name of this command.

FLAGS
  --from FORMAT         the format of IN, where its content no longer tells
                        it: {formats}
  --json                JSON: an object, or an array for several recordings
  --fail-on error|warning|note
                        the least severity that makes the exit status 4;
                        warning is the default
  --exit-zero           exit with 0 also with findings
  --spec FILE           a contract, what the recording must have: topics, types,
                        rates, gaps, counts, duration, size. Its keys are in
                        bagconv help contracts
  --make-spec           write such a contract of a good recording, with room for
                        others like it, to standard output
  --gap N               a time without messages is a gap when it is longer than
                        N times the median period of its topic; 10 (default)
  --stamp-offset D      how far header stamps may be from the log time; 1s
                        (default)
  --distro NAME         ROS 2 distribution, such as humble: its definitions
                        where IN has none
  --threads N           workers, 256 at most; 0 (default) is one per core, up
                        to 12
  --progress MODE       auto (default), bar, plain, json or none

EXAMPLES
  bagconv check drive{file}
  bagconv check --fail-on error *{file}
  bagconv check good{file} --make-spec > drive.yaml
  bagconv check --spec drive.yaml drive_ros2/
  bagconv check --json drive_ros2/ | jq -r '.findings[].code'

EXIT STATUS
  0    nothing found that reaches --fail-on
  1    a recording cannot be read; the others are looked at
  2    the command line is wrong
  4    there is a finding that reaches --fail-on
  130  interrupted
`

const formatsHelp = `bagconv formats [FLAGS]

Lists the formats: what is read and written, which name endings choose them,
the message encodings, the codecs of --compression and the profiles that
--distro chooses. The first of a list is the default.

FLAGS
  --json                JSON

EXAMPLES
  bagconv formats
  bagconv formats --json | jq -r '.formats[].name'

EXIT STATUS
  0    done
  2    the command line is wrong
`

const completionHelp = `bagconv completion bash|zsh|fish|powershell

Prints a script that makes the tab key complete commands, flags, their values,
files, and the topics and types of the recording that is named on the line.

EXAMPLES
  source <(bagconv completion bash)
  source <(bagconv completion zsh)
  bagconv completion fish | source
  bagconv completion powershell | Out-String | Invoke-Expression

In a start-up file of the shell such a line works for every session.

EXIT STATUS
  0    done
  2    the command line is wrong
`

const versionHelp = `bagconv version

Prints the version of this build, the version of Go that made it, and the
platform.

EXAMPLES
  bagconv version
  bagconv --version

EXIT STATUS
  0    done
  2    the command line is wrong
`

const helpHelp = `bagconv help [COMMAND]

Prints the help of a command, or of the program. The same as --help. The word
contracts prints what the file of check --spec may have.

EXAMPLES
  bagconv help convert
  bagconv info --help
  bagconv help contracts

EXIT STATUS
  0    done
  2    there is no such command
`
