package cli

// The commands that only read, and those that describe the program.

// listings show what a recording has, without its messages.
func (e *env) listings() []command {
	return []command{{
		name: "info", call: "info IN...", summary: "what is in a recording: topics, times, damage",
		about: `Shows what is in recordings: times, size, compression, topics with the number
of messages, mean rate and size, attachments and metadata records, and what is
damaged. Nothing is written.`,
		examples: []string{
			"bagconv info drive{file}",
			"bagconv info --json --scan always drive_ros2/ | jq .messages",
			"bagconv info -k duration_ns *{file}",
		},
		exits: []exit{
			{0, "sound"},
			{1, "a recording cannot be read; the others are shown"},
			{3, "a recording is damaged; what can be read is shown"},
			{130, "interrupted"},
		},
		run: e.info,
	}, {
		name: "topics", call: "topics IN", summary: "its topics, one per line",
		about: `Lists the topics of a recording, one per line: name, number of messages by the
index, type, encoding. Publishers of one topic and type are one line.`,
		examples: []string{
			"bagconv topics drive{file}",
			"bagconv topics drive{file} --json | jq -r '.topics[].name'",
		},
		exits: []exit{
			{0, "done"},
			{1, "the recording cannot be read"},
			{3, "the recording is damaged; what can be read is listed"},
			{130, "interrupted"},
		},
		run: e.topics,
	}, {
		name: "list", call: "list attachments IN", summary: "files and tables that it carries",
		about: `Lists what a recording carries besides messages: attachments, which are files
such as a calibration, with size, times and media type, and metadata records,
which are tables of texts. Nothing is written without --extract.`,
		examples: []string{
			"bagconv list attachments drive{attached}",
			"bagconv list attachments drive{attached} --extract files/",
			"bagconv list attachments drive{attached} --json | jq '.metadata_records[].values'",
		},
		exits: []exit{
			{0, "done"},
			{1, "the recording cannot be read, or DIR cannot be written; no file is there"},
			{3, "the recording is damaged; what can be read is listed and extracted"},
			{130, "interrupted"},
		},
		operands: []flag{{kind: oneWord, values: words(listed...)}, {kind: aFile}},
		run:      e.list,
	}}
}

// readings show what a recording has inside.
func (e *env) readings() []command {
	return []command{{
		name: "schema", call: "schema IN [TOPIC]", summary: "message definitions, as text or as a tree",
		about: `Prints the message definition of a topic as the recording has it, or those of
all topics. Where the recording has none, the standard definition is printed,
and standard error says so.`,
		examples: []string{
			"bagconv schema drive{file} /imu",
			"bagconv schema drive_ros2/ /imu --tree",
		},
		exits: []exit{
			{0, "done"},
			{1, "the recording cannot be read, has no such topic, or a definition is missing or cannot be expanded"},
			{130, "interrupted"},
		},
		operands: []flag{{kind: aFile}, {kind: aTopic}, {}},
		run:      e.schema,
	}, {
		name: "cat", call: "cat IN [FIELD]...", summary: "messages as JSON, YAML or CSV",
		about: `Prints messages as text, one JSON object per line, ordered by time:
  {"topic":"/imu","time":"1700000000000000000","fields":{"header":{...},...}}
Times are log times in ns since 1970. Words after IN name topics (or globs) and
single fields: /imu.linear_acceleration.x, /tf.transforms[0].child_frame_id, or
without an index a list of all, /tf.transforms.child_frame_id.`,
		note: `64-bit integers are strings, as are "NaN", "Infinity" and "-Infinity"; floats have a point. docs/cli.md has all rules.`,
		examples: []string{
			"bagconv cat drive{file} /imu --limit 3",
			"bagconv cat drive{file} -t '/camera/*' -S 10 -u 1 | jq -c .fields.header",
			"bagconv cat drive_ros2/ --format csv /imu.angular_velocity.z /odom.pose",
		},
		exits: []exit{
			{0, "all that was asked for is printed"},
			{1, "IN cannot be read, or has no such topic, field or time"},
			{3, "IN is damaged, or something could not be decoded; the report tells what"},
			{130, "interrupted"},
		},
		operands: []flag{{kind: aFile}, {kind: aTopic}},
		run:      e.cat,
	}}
}

// comparisons tell what is right and wrong.
func (e *env) comparisons() []command {
	return []command{{
		name: "check", alias: "doctor", call: "check IN...", summary: "everything wrong or odd in a recording",
		about: `Reads recordings from end to end, decodes all messages, and lists everything
that is wrong or odd, with what to do about it: damage, gaps and jumps in the
times of a topic, repeated messages and stamps, header stamps far from the log
time, definitions that are missing or contradict their hash, messages that do
not fit their definition. Nothing is written. The codes are in docs/check.md.
doctor is another name of this command.`,
		examples: []string{
			"bagconv check drive{file}",
			"bagconv check --fail-on error *{file}",
			"bagconv check good{file} --make-spec > drive.yaml",
			"bagconv check --spec drive.yaml drive_ros2/",
			"bagconv check --json drive_ros2/ | jq -r '.findings[].code'",
		},
		exits: []exit{
			{0, "nothing found that reaches --fail-on"},
			{1, "a recording cannot be read; the others are looked at"},
			{4, "there is a finding that reaches --fail-on"},
			{130, "interrupted"},
		},
		run: e.check,
	}, {
		name: "verify", alias: "diff", call: "verify A B", summary: "whether two recordings hold the same",
		about: `Tells whether two recordings hold the same: the same topics, and on each the
same messages at the same times and in the same order; and the same attachments
and metadata records. They may have different formats: ROS 1 serialization, CDR
and protobuf of the same values are equal, and so are types that convert maps to
each other. For each topic that differs the first difference is shown: number of
the message (from 0), log time, field, and both values. Nothing is written.
Messages are read by other code than convert writes them with.

Not compared, whatever the flags: quality of service, latching, callerid and
the number of publishers, constants and defaults of definitions, metadata, and
the order of messages of different topics. An md5sum or type hash must be that
of its definition. Faults in the rules for Apollo's types, which verify shares
with convert, are not found; docs/content-hash.md lists all blind spots.

With flags that select and change, A is compared as a conversion with the same
flags would write it: they prove that B is this cut of A, or A with other names.
B is compared as a whole. --restamp log changes messages: with --level counts.`,
		note: `docs/content-hash.md says what a content hash is, for others to compute.`,
		examples: []string{
			"bagconv verify drive{file} drive_ros2/",
			"bagconv verify drive{other} drive{file} --exact types,fields",
			"bagconv verify drive{file} cut{other} -S 10 -u 60 -x '/camera/*' --prefix /car",
			"bagconv verify a{file} b{file} -t /imu --both",
			"bagconv verify a{file} b{file} --level bytes --json | jq .topics",
		},
		exits: []exit{
			{0, "equal, but for exceptions by design, which are named"},
			{1, "a recording cannot be read, or has no such topic, type or time"},
			{3, "equal as far as they can be read: one of them is damaged"},
			{4, "different, damaged or not"},
			{130, "interrupted"},
		},
		run: e.verify,
	}}
}

// descriptions are about the program.
func (e *env) descriptions() []command {
	return []command{{
		name: "formats", call: "formats", summary: "which formats are read and written",
		about: `Lists the formats: what is read and written, which name endings choose them,
the message encodings, the codecs of --compression and the profiles that
--distro chooses. The first of a list is the default.`,
		examples: []string{
			"bagconv formats",
			"bagconv formats --json | jq -r '.formats[].name'",
		},
		exits:    []exit{{0, "done"}},
		operands: []flag{{}},
		run:      e.listFormats,
	}, {
		name: "completion", call: "completion SHELL", summary: "what the tab key completes",
		about: `Prints a script that makes the tab key complete commands, flags, their values,
files, and the topics and types of the recording that is named on the line. In a
start-up file of the shell, a line as below works for every session. SHELL is
` + orList(shells) + `.`,
		examples: []string{
			"source <(bagconv completion bash)",
			"source <(bagconv completion zsh)",
			"bagconv completion fish | source",
			"bagconv completion powershell | Out-String | Invoke-Expression",
		},
		exits:    []exit{{0, "done"}},
		operands: []flag{{kind: oneWord, values: words(shells...)}, {}},
		run:      e.completion,
	}, {
		name: "version", call: "version", summary: "which build this is",
		about: `Prints the version of this build, the version of Go that made it, and the
platform.`,
		examples: []string{
			"bagconv version",
			"bagconv --version",
		},
		exits:    []exit{{0, "done"}},
		operands: []flag{{}},
		run:      e.version,
	}, {
		name: "help", call: "help [COMMAND]", summary: "more about a command and its flags",
		about: `Prints the help of a command, or of the program. The same as --help. The word
contracts prints what the file of check --spec may have.`,
		examples: []string{
			"bagconv help convert",
			"bagconv info --help",
			"bagconv help contracts",
		},
		exits: []exit{
			{0, "done"},
			{2, "there is no such command"},
		},
		operands: []flag{{kind: aCommand}, {}},
		run:      e.printHelp,
	}}
}
