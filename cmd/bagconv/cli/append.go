package cli

import (
	"context"
	"path/filepath"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
)

// append adds recordings to an existing one.
func (e *env) append(ctx context.Context) error {
	args := e.words
	if len(args) < 2 {
		return flags.Usage("type: bagconv append TARGET IN...", "append takes a recording to add to, and what to add")
	}
	target, paths := args[0], e.joinParts(args[1:])
	e.report.source, e.report.sink = inShort(paths), target
	sink, err := e.detectOne(target)
	if err != nil {
		return err
	}
	job, err := e.jobFor(sink)
	if err != nil {
		return err
	}
	job.Sink, job.Formats, job.Append = filepath.Clean(target), e.formats, true
	if err := e.takeInputs(job, paths); err != nil {
		return err
	}
	return e.runJob(ctx, job, false)
}

// appendCommand is the command append.
func (e *env) appendCommand() flags.Command {
	return flags.Command{
		Name: "append", Part: convertPart, Call: "append TARGET IN...", Summary: "add recordings to one that exists",
		About: `Adds the messages of recordings to TARGET ({appendable}), in its format. All of
them are added; messages that TARGET has already are counted, and left out with
--dedupe. The bytes of TARGET stay, however large it is; a single MCAP file is
copied first. TARGET must not be damaged, and must not be an input.`,
		Note: `Topics that TARGET has are continued; if one has another type,
definition or QoS there, nothing is written. TARGET can be read at
any time, also after the run was killed: as it was, or with everything that was
added. A run that fails leaves it as it was. docs/formats explains how each
format does that.`,
		Examples: []string{
			"bagconv append drive{file} second_run{file}",
			"bagconv append drive_ros2/ gps{file} camera{other} -t /gps/fix -t '/camera/*'",
		},
		Exits: flags.Exits{
			0:   "all is added; nothing is lost that the format of TARGET can store",
			1:   "failed; TARGET is as it was. With --strict also if anything is damaged or lost",
			3:   "added, but an input is damaged or something could not be converted",
			130: "interrupted; TARGET is as it was",
		},
		Run: e.append,
	}
}
