package cli

import "github.com/urfave/cli/v2"

// The commands that write recordings.

// conversions returns the commands from one recording to one.
func (e *env) conversions() []command {
	return []command{{
		name: "convert", call: "[convert] IN OUT", summary: "convert a recording",
		about: `Converts one recording. The format of IN is found by its content. The format of
OUT is chosen by --to, or else by the ending of its name:
{endings}
A name with / at its end, or without an ending, becomes a folder ({folder}).
OUT appears only when it is complete; a run that fails leaves no output. If a
recording has several files, name their folder, their common name, or all of
them to read them as one; a single file is read alone.`,
		examples: []string{
			"bagconv drive{file} drive_ros2/",
			"bagconv drive{file} drive_ros2/ --distro jazzy --report report.json",
			"bagconv drive_ros2 drive{file} --compression lz4 --force",
			"bagconv drive{file} cut{file} -S 1m30s -u 10 -t /imu -t '/camera/*'",
			"bagconv drive{file} cut/ -S -30s -m /imu:=/imu/data --throttle /imu=50",
		},
		exits: convertExits,
		run:   func(c *cli.Context) error { return e.convert(c, conversion{}) },
	}, {
		name: "filter", call: "filter IN OUT", summary: "copy part of a recording, in its format",
		about: `Copies a part of a recording. OUT has the format of IN, whatever its name. In all
else it is like bagconv convert.`,
		examples: []string{
			"bagconv filter drive{file} imu{file} -t /imu",
			"bagconv filter drive_ros2/ ten_seconds/ -S 1m30s -u 10",
		},
		exits: convertExits,
		run:   func(c *cli.Context) error { return e.convert(c, conversion{sameFormat: true}) },
	}}
}

// rearrangements returns the commands with several recordings, or a damaged one.
func (e *env) rearrangements() []command {
	return []command{{
		name: "merge", call: "merge IN IN... OUT", summary: "join several recordings into one",
		about: `Joins several recordings into one, ordered by time. They may have any formats.
Topics with the same name and type become one. If two recordings use one name
for different types or definitions, both topics are kept: with the same name if
the format of OUT allows that, otherwise the second one gets _2 at its end.
Memory does not grow with the size of the inputs.`,
		examples: []string{
			"bagconv merge front{file} rear{file} both_ros2/",
			"bagconv merge drive_0/ drive_1/ drive{other} all{other}",
			"bagconv merge a{file} b{file} -o ab{file} --shift b{file}=-1.25s",
		},
		exits: []exit{
			{0, "OUT is written; nothing is lost that its format can store"},
			{1, "failed; no output. With --strict also if anything is damaged or lost"},
			{3, "OUT is written, but an input is damaged or something could not be converted"},
			{4, "--verify found a difference; no output"},
			{130, "interrupted; no output"},
		},
		run: e.merge,
	}, {
		name: "split", call: "split IN OUT", summary: "cut a recording into several",
		about: `Cuts a recording into several. Each part can be used alone: it begins with the
last messages of latched topics and /tf_static from before (see --latch). The
parts of out{file} are out_000{file}, out_001{file}, ...; with --by topic each has
the name of its topic. If OUT has / at its end or no ending, it is a folder: the
parts lie in it and have the name and the format of IN. A part without messages is not written;
the others keep their numbers. There can be 10,000 parts. A run that fails
leaves none of them. IN is read once for every 64 parts, and --max-size reads it
once more to find the times. --json and --report write an array with one object
per part.`,
		examples: []string{
			"bagconv split drive{file} parts/ --max-duration 1m",
			"bagconv split drive{file} part{other} --max-size 2G",
			"bagconv split drive_ros2/ cut{file} --at 10s,1m30s",
		},
		exits: []exit{
			{0, "all parts are written; nothing is lost that their format can store"},
			{1, "failed; no parts. With --strict also if anything is damaged or lost"},
			{3, "the parts are written, but IN is damaged or something could not be converted"},
			{4, "--verify found a difference; no parts"},
			{130, "interrupted; no parts"},
		},
		run: e.split,
	}, {
		name: "recover", call: "recover IN OUT", summary: "write a clean recording from a damaged one",
		about: `Writes all messages that can be read from the damaged recording IN into a clean
recording OUT, and reports what was saved and what is lost, in messages, bytes
and blocks (chunks). IN is not changed. OUT may have any format; if its name
has no ending of a format, it has that of IN. Index, header and counts of OUT
are new, and its messages are in order. Messages that were written to a database but never committed
are recovered, too.`,
		examples: []string{
			"bagconv recover cut{file} whole{file}",
			"bagconv recover drive{other} whole{other} --report what.json",
		},
		exits: []exit{
			{0, "OUT is written; nothing was lost"},
			{1, "nothing could be read; no output"},
			{3, "OUT is written, but something is lost; the report names it"},
			{4, "--verify found a difference; no output"},
			{130, "interrupted; no output"},
		},
		run: func(c *cli.Context) error { return e.convert(c, conversion{salvage: true}) },
	}}
}

// repairs change recordings in place.
func (e *env) repairs() []command {
	return []command{{
		name: "reindex", call: "reindex PATH...", summary: "write a missing index, in place",
		about: `Writes what is missing or wrong of the index of recordings, where they stand, and
nothing else: the end of one that was not closed, counts in a header, a missing
index of times, and the file that describes a folder of several, from these.
Half a record at the end gives way if nothing can be read of it.
Messages are not copied, so that a large recording takes the time of reading the
headers of its records. What is overwritten is kept in a file beside it until it
is done; a run that is killed leaves a recording that reads as before or as
after. A recording whose index does not fit in place, that is damaged otherwise,
or a folder that mixes two recordings is refused and stays as it is: bagconv
recover copies it.`,
		examples: []string{
			"bagconv reindex drive{file}",
			"bagconv reindex --dry-run drives/*{file}",
		},
		exits: []exit{
			{0, "all indexes are right, or were written"},
			{1, "no recording could be changed"},
			{5, "some recordings could not be changed"},
			{130, "interrupted; the recording is as it was"},
		},
		run: e.reindex,
	}}
}

// batches returns the command that runs many conversions.
func (e *env) batches() []command {
	return []command{{
		name: "batch", call: "batch -O OUT/ IN...", summary: "convert all recordings in folders",
		about: `Converts all recordings that it finds, into a tree below OUT that mirrors the tree
of the inputs. IN is a folder (with all folders below it), a recording, a glob
in quotes, or @FILE, a list of those. A recording of several files, or one that
is a folder, is one input. A file that cannot be read does not stop the others.
Names that begin with a dot, and links to folders, are skipped.

The manifest has a line of JSON for each finished input: size, time, output,
counts, losses, error. After an interruption, --resume continues: it skips the
inputs that the manifest lists as done, if input, output and flags are
unchanged, and tries failed inputs again.`,
		examples: []string{
			"bagconv batch -O converted/ drives/",
			"bagconv batch -O converted/ drives/ --resume -j 4 --verify content",
			"bagconv batch -O bags/ --to bag --compression lz4 'drives/*/camera_*'",
			"bagconv batch -O out/ @tonight.txt --dry-run",
			`jq -r 'select(.status == "failed") | .error' converted/manifest.jsonl`,
		},
		exits: []exit{
			{0, "all outputs are written; nothing is lost that their format can store"},
			{1, "the batch could not be run, or found no recording"},
			{3, "all outputs are written, but something is damaged or lost"},
			{5, "some inputs failed; the other outputs are written"},
			{130, "interrupted; finished outputs stay"},
		},
		run: e.batch,
	}}
}

// convertExits is what convert and filter end with.
var convertExits = []exit{
	{0, "OUT is written; nothing is lost that its format can store"},
	{1, "failed; no output. With --strict also if anything is damaged or lost"},
	{3, "OUT is written, but IN is damaged or something could not be converted"},
	{4, "--verify found a difference; no output"},
	{130, "interrupted; no output"},
}
