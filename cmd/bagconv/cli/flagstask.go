package cli

// taskFlags returns those of plan, work and collect alone.
func (s *settings) taskFlags() []flag {
	quiet := flag{name: "quiet", short: "q", kind: onOff, set: put(&s.quiet)}
	list := allIn(batchGroup, []string{"plan"},
		flag{name: "output", short: "o", arg: "FILE", kind: aFile, set: put(&s.output), help: "write the plan into FILE, which is replaced if it is a plan, instead of to standard output"},
		s.forceFlag("tasks replace existing outputs"),
		flag{name: "range-size", arg: "SIZE", set: put(&s.rangeSize),
			help: "cut recordings that are larger into ranges of time that read about so much, such as 10G, a task each; the parts together are what one conversion writes"},
	)
	list = append(list, allIn(batchGroup, []string{"work"},
		flag{name: "task", arg: "FILE", kind: aFile, several: true, set: put(&s.tasks), help: "read tasks from FILE, a plan or a part of one, instead of from standard input; repeat the flag for more files"},
		flag{name: "shard", arg: "I/N", set: put(&s.shard),
			help: "do share I, counted from 0, of N shares of the tasks, about equal in bytes. With --task the default is the share that Kubernetes, AWS Batch or Slurm has for this process, see docs/scale.md; 0/1 is everything"},
		jobsFlag(s),
		flag{name: "losses-ok", kind: onOff, set: put(&s.lossesOK), help: "end with 0 instead of 3 if all tasks are done, but something is damaged or lost: for engines that know success and failure only"},
	)...)
	list = append(list, allIn(batchGroup, []string{"collect"},
		flag{name: "manifest", arg: "FILE", kind: aFile, set: put(&s.manifest), help: "manifest file, instead of OUT/manifest.jsonl"},
	)...)
	return append(list,
		quiet.in(runGroup, "do not count the tasks on standard error", "plan"),
		quiet.in(runGroup, "print nothing on standard error but failures", "work"),
		quiet.in(runGroup, "print no summary, but report what is missing", "collect"),
		s.jsonFlag().in(runGroup, "print the summary as JSON on standard output", "collect"),
	)
}
