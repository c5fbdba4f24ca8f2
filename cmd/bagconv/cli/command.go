package cli

import (
	"context"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
)

func init() { entries = assemble }

// assemble makes the entries of the commands, in the order of the help. A new command stands in a file of its own, and
// in this list.
func assemble(e *env) []*flags.Command {
	list := []flags.Command{
		e.convertCommand(), e.filterCommand(), e.exportCommand(), e.importCommand(),
		e.mergeCommand(), e.splitCommand(), e.recoverCommand(), e.appendCommand(), e.recordCommand(),
		e.playCommand(), e.reindexCommand(), e.infoCommand(), e.seeCommand(), e.listCommand(),
		e.catCommand(),
		e.defsCommand(), e.genCommand(), e.checkCommand(), e.verifyCommand(), e.batchCommand(),
		e.planCommand(), e.workCommand(), e.collectCommand(), e.indexCommand(), e.serveCommand(), e.formatsCommand(),
		e.completionCommand(), e.versionCommand(), e.manCommand(), e.helpCommand(),
	}
	return flags.Assemble(append(list, e.moreCommands...), e.flagTable())
}

// take takes the command, the flags and the words of a line.
func (e *env) take(l *flags.Line) {
	e.command, e.words = l.Command, l.Words
	for _, s := range l.Settings {
		s.Flag.Add(s.Text)
	}
}

// settle reads the file of --config, then applies all flags.
func (e *env) settle(ctx context.Context) error {
	c := e.command
	if f := c.Flag("config"); f != nil && f.IsSet() {
		if err := applyConfig(c, e.fs, f.String()); err != nil {
			return flags.Usage("see: bagconv help "+c.Name, "--config %s: %v", phrase.Clean(f.String()), err)
		}
	}
	if f := c.Flag("report"); f != nil {
		e.report.path, e.report.json = f.String(), c.Flag("json").String() == "true"
	}
	return e.applyFlags(ctx, e.words)
}
