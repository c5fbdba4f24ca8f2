package cli

import (
	"strconv"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/convert"
)

// flagTable returns the table of flags, in the order of the help. A new flag is one entry in one
// of its parts. A flag whose help differs between commands has an entry for each help.
func (e *env) flagTable() (table []*flags.Flag) {
	s := &e.set
	for _, part := range [][]flags.Flag{
		globalFlags(), e.batchFlags(), s.taskFlags(), s.mergeFlags(), s.splitFlags(), s.importFlags(), e.recordFlags(),
		e.playFlags(), e.selectFlags(), s.editFlags(), s.fieldFlags(),
		e.outputFlags(), e.optionFlags(), s.aboutFlags(),
		e.messageFlags(), s.extraFlags(), s.runFlags(), s.remoteFlags(), e.keyFlags(),
		fileFlags(runGroup, writes+" import record play"), s.listFlags(), s.defsFlags(), s.infoFlags(), s.seeFlags(),
		s.checkFlags(), s.verifyFlags(), s.catFlags(), s.readFlags(), s.genFlags(), s.reindexFlags(), s.indexFlags(),
		s.migrateFlags(), s.serveFlags(), fileFlags(readGroup, "list"), e.moreFlags,
	} {
		for i := range part {
			table = append(table, &part[i])
		}
	}
	return table
}

// globalFlags are taken by all commands.
func globalFlags() []flags.Flag {
	return []flags.Flag{
		{Name: "color", Values: flags.Words("auto", "always", "never"), Kind: flags.OneWord, Default: "auto", LineOnly: true,
			Help: "colour errors and damage on standard error; auto (default): on a terminal, unless NO_COLOR is set"},
		{Name: "help", Short: "h", Kind: flags.OnOff, LineOnly: true, Help: "explain the command"},
		{Name: "version", Short: "V", Kind: flags.OnOff, LineOnly: true, Help: "print the version of this build"},
	}
}

// fileFlags name a file of flags.
func fileFlags(g *flags.Group, on string) []flags.Flag {
	return flags.AllIn(g, on,
		flags.Flag{Name: "config", Arg: "FILE", Kind: flags.File, LineOnly: true,
			Help: "read flags from a YAML file, by their long names; flags on the command line override them"},
	)
}

// readFlags are flags that commands which only read have in common.
func (s *settings) readFlags() []flags.Flag {
	quiet := flags.Flag{Name: "quiet", Short: "q", Kind: flags.OnOff, Set: flags.Put(&s.quiet)}
	distro := s.distroFlag()
	return []flags.Flag{
		s.defsFlag().In(readGroup, "where to find definitions that a recording lacks, as convert --defs",
			"cat check report verify defs"),
		distro.In(readGroup, "ROS 2 distribution, such as humble, whose definitions to use if a recording has none",
			"cat check report verify"),
		distro.In(messageGroup, "ROS 2 distribution, such as humble, whose definitions to use if a recording has none",
			"export play"),
		distro.In(readGroup,
			"ROS 2 distribution, such as humble, whose standard definitions to use; ROS 1 types come from noetic", "defs"),
		s.threadsFlag().In(readGroup, "number of workers, "+strconv.Itoa(convert.MaxThreads)+
			" at most; 0 (default) is one per core, up to 12", "cat info check report verify index"),
		s.progressFlag().In(readGroup, "", "info check report verify index"),
		quiet.In(readGroup, "print nothing if they are equal", "verify"),
	}
}

// The flags that several groups have.
