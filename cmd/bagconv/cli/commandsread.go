package cli

import "github.com/bagconv/bagconv/gen"

// The commands that only read, and those that describe the program.

// listings show what a recording has, without its messages.
func (e *env) listings() []command {
	return []command{{
		name: "info", call: "info IN...", summary: "show topics, times and damage of recordings",
		about: `Shows what recordings contain: times, size, compression, topics (with number of
messages, mean rate and size), attachments, metadata records, and damage.
Nothing is written.`,
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
		name: "topics", call: "topics IN", summary: "list the topics of a recording",
		about: `Lists the topics of a recording, one per line: name, number of messages (from the
index), type, encoding. All publishers of one topic and type share a line.`,
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
	}}
}

// contents show what the files of a recording are made of.
func (e *env) contents() []command {
	return []command{{
		name: "du", call: "du IN", summary: "list the bytes of each topic, stored and raw",
		about: `Reads a recording and lists how many bytes its topics take, the largest first:
stored, their share of the chunks, pages or sections in the files, and raw,
their messages before compression. Topics share the stored bytes of a chunk in
proportion to their raw bytes in it. The rest of the files consists of
indexes, definitions, other headers, and unused space in pages.`,
		examples: []string{
			"bagconv du drive{file}",
			"bagconv du drive_ros2/ --json | jq -r '.topics[0].name'",
		},
		exits: []exit{
			{0, "done"},
			{1, "the recording cannot be read"},
			{3, "the recording is damaged; what can be read is counted"},
			{130, "interrupted"},
		},
		run: e.du,
	}, {
		name: "list", call: "list WHAT IN", summary: "list attachments, or what the files consist of",
		about: `Lists what a recording carries besides messages, or what its files consist of,
in the terms of its format, one per line. WHAT is
  attachments  files such as a calibration, with size, times and media type, and
               metadata records, which are tables of names and texts
  records      the pieces of the files, in their order: records, sections, pages
  chunks       what is compressed or read as a whole
  connections  connections, channels or topics, as the files define them
  parts        the files that have the messages
Each line has the offset, the size, the length that the header states, the
compression, the number and times of messages if they are known, and all header
fields. Damage is part of the list: what is broken, and where reading goes on.
Records within chunks are not listed. With --json each line is an object.
Nothing is written without --extract.`,
		examples: []string{
			"bagconv list attachments drive{attached} --extract files/",
			"bagconv list records drive{file} | head",
			"bagconv list chunks drive{file} --json | jq -r '[.offset, .messages] | @tsv'",
			"bagconv list parts drive_ros2/",
		},
		exits: []exit{
			{0, "done"},
			{1, "the recording cannot be read or has no such list, or DIR cannot be written; no files are left"},
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
		name: "schema", call: "schema IN [TOPIC]", summary: "print message definitions, as text or as a tree",
		about: `Prints the message definition of a topic as it is in the recording, or those of
all topics. If the recording has none, the standard definition is printed, with
a note on standard error.`,
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
		name: "cat", call: "cat IN [FIELD]...", summary: "print messages as JSON, YAML or CSV",
		about: `Prints messages as text, one JSON object per line, ordered by time:
  {"topic":"/imu","time":"1700000000000000000","fields":{"header":{...},...}}
Times are log times in ns since 1970. Words after IN name topics (or globs) and
single fields: /imu.linear_acceleration.x, /tf.transforms[0].child_frame_id.
Without an index, /tf.transforms.child_frame_id prints a list of all values.`,
		note: `64-bit integers are strings, as are "NaN", "Infinity" and "-Infinity"; floats have a decimal point. docs/cli.md has all rules.`,
		examples: []string{
			"bagconv cat drive{file} /imu --limit 3",
			"bagconv cat drive{file} /imu --nth 1000",
			"bagconv cat drive{file} --tail 5",
			"bagconv cat drive{file} -t '/camera/*' -S 10 -u 1 | jq -c .fields.header",
			"bagconv cat drive_ros2/ --format csv /imu.angular_velocity.z /odom.pose",
		},
		exits: []exit{
			{0, "everything is printed"},
			{1, "IN cannot be read, or has no such topic, field or time"},
			{3, "IN is damaged, or something could not be decoded; standard error names it"},
			{130, "interrupted"},
		},
		operands: []flag{{kind: aFile}, {kind: aTopic}},
		run:      e.cat,
	}}
}

// generators write programs.
func (e *env) generators() []command {
	return []command{{
		name: "gen", call: "gen LANGUAGE [IN]", summary: "write code that reads the messages of a recording",
		about: `Writes source code that reads messages, made from their definitions, into a folder:
a struct for each message type, and what fills it from the bytes of a message, in
ROS 1 serialization or CDR. The code needs no ROS. LANGUAGE is
  cpp     C++11, without dependencies: a shared library and an example
  python  a module that needs numpy: dataclasses, arrays that are views
In Go, package values reads messages into structs without generated code.
Without IN, the types are those of --defs, or the standard ones of --distro. The
same input makes the same code. docs/codegen.md shows how to use it.`,
		examples: []string{
			"bagconv gen cpp drive{file} -o loader/",
			"bagconv gen cpp drive_ros2/ -t /imu -t '/camera/*' -o loader/",
			"bagconv gen cpp --defs src/acme_msgs -o acme/",
			"bagconv gen cpp --distro noetic --type sensor_msgs/Imu -o loader/",
		},
		exits: []exit{
			{0, "the code is written"},
			{1, "IN cannot be read, has no such topic or type, or DIR cannot be written; no files are left"},
			{3, "the code is written, but for some topics or types there is none; standard error names them"},
			{130, "interrupted"},
		},
		operands: []flag{{kind: oneWord, values: words(gen.Languages()...)}, {kind: aFile}, {}},
		run:      e.gen,
	}}
}

// comparisons check recordings, and compare them.
func (e *env) comparisons() []command {
	return []command{{
		name: "check", alias: "doctor", call: "check IN...", summary: "find everything wrong or odd in a recording",
		about: `Reads recordings from end to end, decodes all messages, and lists everything
that is wrong or odd, with what to do about it: damage, gaps and jumps in the
times of a topic, repeated messages and stamps, header stamps far from the log
time, missing definitions, definitions that do not match their hash, messages
that do not match their definition. Nothing is written. docs/check.md explains
the codes of findings. doctor is another name of this command.`,
		examples: []string{
			"bagconv check drive{file}",
			"bagconv check --fail-on error *{file}",
			"bagconv check good{file} --make-spec > drive.yaml",
			"bagconv check --spec drive.yaml drive_ros2/",
			"bagconv check --json drive_ros2/ | jq -r '.findings[].code'",
		},
		exits: []exit{
			{0, "no findings of the severity of --fail-on or above"},
			{1, "a recording cannot be read; the others are checked"},
			{4, "there are findings of the severity of --fail-on or above"},
			{130, "interrupted"},
		},
		run: e.check,
	}, {
		name: "verify", alias: "diff", call: "verify A B", summary: "compare two recordings",
		about: `Compares two recordings. They are equal if they have the same topics, each with the
same messages at the same times in the same order, and the same attachments and
metadata records. They may have different formats: ROS 1 serialization, CDR and
protobuf of the same values are equal, and so are types that convert maps to
each other. For each topic that differs, the first difference is shown: number
of the message (from 0), log time, field, and both values. Nothing is written.
verify does not read messages with the code that convert uses to write them.

Never compared: quality of service, latching, callerid, the number of
publishers, constants and defaults in definitions, metadata, and the order of
messages of different topics. An md5sum or type hash must match its definition.
Errors in the rules for Apollo's types are not found, because verify shares
these rules with convert. docs/content-hash.md lists everything that verify
cannot find.

Flags that select and change apply to A: A is compared as a conversion with the
same flags would write it. So you can check that B is a certain part of A, or A
with other names. All of B is compared. --restamp log changes messages, and needs
--level counts.`,
		note: `docs/content-hash.md defines the content hash, so that others can compute it.`,
		examples: []string{
			"bagconv verify drive{file} drive_ros2/",
			"bagconv verify drive{other} drive{file} --exact types,fields",
			"bagconv verify drive{file} cut{other} -S 10 -u 60 -x '/camera/*' --prefix /car",
			"bagconv verify a{file} b{file} -t /imu --both",
			"bagconv verify a{file} b{file} --level bytes --json | jq .topics",
		},
		exits: []exit{
			{0, "equal, except for differences by design, which are named"},
			{1, "a recording cannot be read, or has no such topic, type or time"},
			{3, "equal as far as both can be read; one of them is damaged"},
			{4, "different, damaged or not"},
			{130, "interrupted"},
		},
		run: e.verify,
	}}
}

// descriptions are about the program.
func (e *env) descriptions() []command {
	return []command{{
		name: "formats", call: "formats", summary: "list the formats that can be read and written",
		about: `Lists the formats: which can be read and written, the endings that choose them,
their message encodings, codecs (--compression) and profiles (--distro). The
first value of a list is the default.`,
		examples: []string{
			"bagconv formats",
			"bagconv formats --json | jq -r '.formats[].name'",
		},
		exits:    []exit{{0, "done"}},
		operands: []flag{{}},
		run:      e.listFormats,
	}, {
		name: "completion", call: "completion SHELL", summary: "print a script for completion with the tab key",
		about: `Prints a script for completion with the tab key: commands, flags and their values,
files, and the topics and types of the recording on the command line. Add one of
the lines below to a start-up file of your shell. SHELL is
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
		name: "version", call: "version", summary: "print version and platform of this build",
		about: `Prints the version of this build, the version of Go that built it, and the
platform.`,
		examples: []string{
			"bagconv version",
			"bagconv --version",
		},
		exits:    []exit{{0, "done"}},
		operands: []flag{{}},
		run:      e.version,
	}, {
		name: "man", call: "man", summary: "print all help as a manual page",
		about: `Prints the help of the program and of all commands as one manual page, in roff.`,
		examples: []string{
			"bagconv man > bagconv.1",
			"man -l bagconv.1",
		},
		exits:    []exit{{0, "done"}},
		operands: []flag{{}},
		run:      e.printMan,
	}, {
		name: "help", call: "help [COMMAND]", summary: "explain a command and its flags",
		about: `Prints the help of a command, or of the program, like --help. help contracts
explains the file of check --spec.`,
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
