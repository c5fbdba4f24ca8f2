package cli

import "github.com/urfave/cli/v2"

// The commands that write recordings.

// conversions are those from one recording to one.
func (e *env) conversions() []command {
	return []command{{
		name: "convert", call: "[convert] IN OUT", summary: "convert a recording",
		about: `Converts one recording. The format of IN is found by its content. The format of
OUT is that of --to, else that of its ending:
{endings}
A folder (/ at the end) and a name without an ending make a folder ({folder}).
OUT appears when it is whole; a run that fails leaves nothing. Files that are
parts of one recording are read as one by their common name or that of their
folder, or when all are named; a single one is read alone.`,
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
		name: "filter", call: "filter IN OUT", summary: "a part of it, in the same format",
		about: `Takes a part of a recording and writes it in the format of IN, whatever the name
of OUT. In all else it is bagconv convert.`,
		examples: []string{
			"bagconv filter drive{file} imu{file} -t /imu",
			"bagconv filter drive_ros2/ ten_seconds/ -S 1m30s -u 10",
		},
		exits: convertExits,
		run:   func(c *cli.Context) error { return e.convert(c, conversion{sameFormat: true}) },
	}}
}

// rearrangements are those with several recordings, or a damaged one.
func (e *env) rearrangements() []command {
	return []command{{
		name: "merge", call: "merge IN IN... OUT", summary: "several recordings as one",
		about: `Writes several recordings into one, ordered by time. They may have any formats.
Topics of one name and type become one; where two recordings mean different
things by a name, its definition or type, both stay, apart: as two
of one name where the format of OUT can tell them apart, else the second under a
name with _2 behind it. Memory does not grow with the inputs.`,
		examples: []string{
			"bagconv merge front{file} rear{file} both_ros2/",
			"bagconv merge drive_0/ drive_1/ drive{other} all{other}",
			"bagconv merge a{file} b{file} -o ab{file} --shift b{file}=-1.25s",
		},
		exits: []exit{
			{0, "OUT is written, nothing is lost but what the format has no place for"},
			{1, "failed; there is no output. With --strict also: damage or loss"},
			{3, "OUT is written, but an input is damaged or something could not be converted"},
			{4, "--verify has found a difference; there is no output"},
			{130, "interrupted; there is no output"},
		},
		run: e.merge,
	}, {
		name: "split", call: "split IN OUT", summary: "one recording as several",
		about: `Writes a recording as several. Each part is whole by itself: it begins with what
latched topics and /tf_static had said before (see --latch). The parts of
out{file} are out_000{file}, out_001{file}, ...; with --by topic they are called as
their topic. When OUT is a folder (/ at the end), they lie in it, called as IN,
and have the format of IN. A part without a message is left out; the numbers of
the others stay. There are 10,000 at most. A run that fails leaves none of them.
IN is read once for 64 parts, and with --max-size once more, to find the times.
--json and --report have an array, an object for each part.`,
		examples: []string{
			"bagconv split drive{file} parts/ --max-duration 1m",
			"bagconv split drive{file} part{other} --max-size 2G",
			"bagconv split drive_ros2/ cut{file} --at 10s,1m30s",
		},
		exits: []exit{
			{0, "all parts are written, nothing is lost but what the format has no place for"},
			{1, "failed; there is no part. With --strict also: damage or loss"},
			{3, "the parts are written, but IN is damaged or something could not be converted"},
			{4, "--verify has found a difference; there is no part"},
			{130, "interrupted; there is no part"},
		},
		run: e.split,
	}, {
		name: "recover", call: "recover IN OUT", summary: "a clean recording from a damaged one",
		about: `Writes a clean recording OUT of all that can be read of the damaged recording
IN, and says what was saved and what is lost, in messages, bytes and blocks
(chunks). IN is not changed. It is a conversion: OUT may have any format; where
its name does not tell one, it has that of IN. Index, header, counts and order
of OUT are new and right. Of a database that was being written, messages that
were never committed are taken too.`,
		examples: []string{
			"bagconv recover cut{file} whole{file}",
			"bagconv recover drive{other} whole{other} --report what.json",
		},
		exits: []exit{
			{0, "OUT is written, nothing was missing"},
			{1, "nothing could be read; there is no output"},
			{3, "OUT is written, and it is said what is lost"},
			{4, "--verify has found a difference; there is no output"},
			{130, "interrupted; there is no output"},
		},
		run: func(c *cli.Context) error { return e.convert(c, conversion{salvage: true}) },
	}}
}

// batches is the one that does many conversions.
func (e *env) batches() []command {
	return []command{{
		name: "batch", call: "batch -O OUT/ IN...", summary: "every recording of folders, with -j and --resume",
		about: `Converts every recording that it finds into a tree below OUT that mirrors where
the inputs lie. IN is a folder (with all folders below it), a recording, a glob
in quotes, or @FILE, a list of those. What belongs together is one input:
several files of one recording, or a folder that is one. A file that cannot be
read does not stop the others. Names that begin with a dot, and links to
folders, are passed over.

The manifest has a line of JSON for each finished input: size, time, output,
counts, what is lost, error. After an end before time, --resume goes on: what
the manifest says is done is skipped, if input, output and flags are as they
were. What failed is tried again.`,
		examples: []string{
			"bagconv batch -O converted/ drives/",
			"bagconv batch -O converted/ drives/ --resume -j 4 --verify content",
			"bagconv batch -O bags/ --to bag --compression lz4 'drives/*/camera_*'",
			"bagconv batch -O out/ @tonight.txt --dry-run",
			`jq -r 'select(.status == "failed") | .error' converted/manifest.jsonl`,
		},
		exits: []exit{
			{0, "all are written, nothing is lost but what the format has no place for"},
			{1, "the batch could not be run, or found no recording"},
			{3, "all are written, but something is damaged or lost"},
			{5, "some failed; the others are written"},
			{130, "interrupted; what is finished stays"},
		},
		run: e.batch,
	}}
}

// convertExits is what convert and filter end with.
var convertExits = []exit{
	{0, "OUT is written, nothing is lost but what the format has no place for"},
	{1, "failed; there is no output. With --strict also: damage or loss"},
	{3, "OUT is written, but IN is damaged or something could not be converted"},
	{4, "--verify has found a difference; there is no output"},
	{130, "interrupted; there is no output"},
}
