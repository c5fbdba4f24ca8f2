package cli

import (
	"context"
	"slices"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/export"
	"github.com/bagconv/bagconv/internal/export/lerobot"
	"github.com/bagconv/bagconv/storage"
)

// withExports returns a registry that also has the formats of exports.
func withExports(r *storage.Registry) *storage.Registry {
	return storage.NewRegistry(slices.Concat(r.Known(), export.Formats(), lerobot.Formats())...)
}

// export runs one export, or a batch of them.
func (e *env) export(ctx context.Context) error {
	if err := e.checkTopicWords(ctx); err != nil {
		return err
	}
	words, out := e.words, e.set.output
	if out == "" && len(words) > 1 {
		out, words = words[len(words)-1], words[:len(words)-1]
	}
	if e.set.export.guess {
		return e.guessMapping(ctx, e.words)
	}
	file, err := e.exportFormat(out)
	if err != nil {
		return err
	}
	if e.set.to == lerobot.Name && out != "" && len(words) > 0 {
		return e.exportDataset(ctx, words, out)
	}
	if e.set.export.add {
		return flags.Usage("omit it, or add --format lerobot", "--append adds to a data set of LeRobot")
	}
	if out == "" || !e.isMany(words) {
		for _, name := range []string{"jobs", "resume"} {
			if out != "" && len(words) > 0 && e.command.IsSet(name) && e.exists(words[0]) {
				return flags.Usage("omit it", "--%s has no effect on a single recording", name)
			}
		}
		return e.convert(ctx, conversion{})
	}
	if file {
		return flags.Usage("name a folder", "%s is the table of one topic of one recording, and these are several recordings",
			phrase.Clean(out))
	}
	e.set.batch.outputDir, e.set.batch.dryRun, e.set.job.DryRun = out, e.set.job.DryRun, false
	return e.runBatch(ctx, words)
}

// exists reports whether something stands at a path.
func (e *env) exists(path string) bool {
	_, err := e.fs.Stat(path)
	return err == nil
}

// exportFormat chooses the format of an output, and reports whether that is a file.
func (e *env) exportFormat(out string) (file bool, err error) {
	f := e.formats.Named(out)
	if out == "" || storage.NamesFolder(out) || f == nil {
		if e.set.to == "" {
			e.set.to = export.Default
		}
		return false, nil
	}
	switch {
	case f.Create != nil && f.Open != nil:
		return false, flags.Usage("bagconv convert writes recordings",
			"%s is the name of a recording (%s), and export writes tables", phrase.Clean(out), f.Name)
	case f.Create == nil:
		return false, flags.Usage("give it the ending of a table: "+phrase.OrList(e.exported()),
			"%s is not the name of a table", phrase.Clean(out))
	case e.set.to != "" && e.formats.Lookup(e.set.to) != f:
		return false, flags.Usage("omit it, or choose another name", "--format %s is not the format of %s", e.set.to,
			phrase.Clean(out))
	}
	return true, nil
}

// exportCommand is the command export.
func (e *env) exportCommand() flags.Command {
	return flags.Command{
		Name: "export", Part: exportPart, Call: "export IN... OUT", Summary: "write tables, pictures, clouds and tracks",
		About: `Writes what is in the messages of a recording, for tools that read no recordings.
Each topic becomes a table, /imu/data for example OUT/imu/data.parquet, with the
columns log_time, publish_time, sequence, and the fields of its messages. Times
are timestamps with nanoseconds, arrays are arrays, and only absent values are
null. OUT/export.json lists the files. If OUT has the ending of a format, such as
imu.parquet, it is the table of the only topic that is selected.

Pictures and point clouds are bytes in their table; --images files and --clouds
pcd write them as files, with their times in a frames.csv.

Of several recordings, or a folder of them, each becomes a folder in OUT, as with
bagconv batch.`,
		Examples: []string{
			"bagconv export drive{file} drive_tables/",
			"bagconv export drive{file} imu.parquet -t /imu/data",
			"bagconv export drive_ros2/ frames/ -t '/camera/*' --images files",
			"bagconv export drive{other} csv/ --format csv --columns header.stamp,position",
			"bagconv export drives/ tables/ -j 4",
		},
		Exits: flags.Exits{
			0:   "OUT is written; nothing is lost",
			1:   "failed; no output. With --strict also if anything is damaged or lost",
			3:   "OUT is written, but IN is damaged, or messages or values of them could not be written",
			5:   "of several recordings some failed; the other outputs are written",
			130: "interrupted; no output",
		},
		Run: e.export,
	}
}
