package cli

// taskCommands returns the commands that divide conversions among processes.
func (e *env) taskCommands() []command {
	return []command{{
		name: "plan", call: "plan -O OUT/ IN...", summary: "list conversions as tasks for many machines",
		about: `Finds all recordings in IN as bagconv batch does, and writes a task for each: a
line of JSON with the source, the output and the flags. Nothing is converted.
bagconv work does tasks, on any machine that has the same files under the same
names, and bagconv collect reports what became of them. docs/scale.md has
examples for Spark, Ray, Dask, Kubernetes, Argo, AWS Batch and Slurm.`,
		examples: []string{
			"bagconv plan -O out/ drives/ > plan.jsonl",
			"bagconv plan -O out/ drives/ | bagconv work",
			"bagconv plan -O bags/ --to bag --verify content -o plan.jsonl drives/",
		},
		exits: []exit{
			{0, "the plan is written"},
			{1, "failed, or there is no recording"},
		},
		run: e.plan,
	}, {
		name: "work", call: "work", summary: "do tasks of a plan",
		about: `Does the tasks that it reads, and prints a result for each: a line of JSON. A task
that fails is a result, and does not stop the others. A task that is done, with
its output in place, is skipped. So tasks may be repeated, at the same time,
too, and a process may be killed at any moment: do its tasks again. What is
known of outputs is kept in OUT/.bagconv. Memory and time do not depend on
the number of tasks.`,
		examples: []string{
			"bagconv work < plan.jsonl > results.jsonl",
			"bagconv work --task plan.jsonl --shard 3/8",
		},
		exits: []exit{
			{0, "all tasks are done; nothing is lost that the formats can store"},
			{1, "failed before the tasks were read"},
			{3, "all tasks are done, but something is damaged or lost"},
			{5, "some tasks failed, and would fail again"},
			{75, "some tasks failed for a reason that may pass, such as a full disk: try again"},
			{130, "interrupted; the task at hand is not done"},
		},
		operands: []flag{},
		run:      e.work,
	}, {
		name: "collect", call: "collect PLAN [RESULTS...]", summary: "put the results of tasks together",
		about: `Reports which tasks of PLAN are done. It writes OUT/manifest.jsonl, as bagconv
batch does, and OUT/failures.jsonl: the tasks that failed or were not done, with
their errors, which bagconv work can read. RESULTS are files with what work has
printed; a line that is cut off is skipped. For all other tasks, results
are read from OUT/.bagconv.`,
		examples: []string{
			"bagconv collect plan.jsonl",
			"bagconv collect plan.jsonl results-*.jsonl --json",
			"bagconv work < out/failures.jsonl",
		},
		exits: []exit{
			{0, "all tasks are done; nothing is lost that the formats can store"},
			{1, "failed"},
			{3, "all tasks are done, but something is damaged or lost"},
			{5, "some tasks failed, and would fail again"},
			{75, "some tasks are not done, or failed for a reason that may pass"},
		},
		run: e.collectTasks,
	}}
}
