package cli

const verifyHelp = `bagconv verify [FLAGS] A B

Tells whether two recordings hold the same: the same topics, and on each the
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
B is compared as a whole. --restamp log changes messages: with --level counts.

` + selectHelp + editHelp + `FLAGS
  --both                take the same of B, whose topics and times are its own:
                        /imu of both, the first minute of both
  --level content|counts|bytes
                        compare all fields of all messages (default); or only
                        the numbers of messages and their first and last time;
                        or messages byte by byte, within one encoding
  --ignore WORDS        what does not count, with commas between the words:
                        header-seq, extras (all attachments and metadata
                        records), or unconvertible (topics, messages and unknown
                        fields that a conversion leaves out and reports)
  --exact WORDS         what counts though it may differ by design, or all:
      header-seq        Header.seq, where one side has none
      types             types that a conversion maps to each other
      fields            fields that the other type has no place for
      presence          which protobuf fields are set, when to their default
      publish-time      the time of sending
      encoding          bytes that mean nothing, such as padding
      renamed           a second topic of one name under another name
      empty-topics      topics without messages
      definitions       messages without a definition on one side
      extras            attachments and metadata records for which the other
                        format has no place
      flaws             what other readers refuse in A; in B it always counts
  --frames apollo|rep103
                        axes that a conversion from or to Apollo has used
  --distro NAME         ROS 2 distribution, such as humble: its definitions
                        where a recording has none
  --json                JSON, with the content hash of each topic
  --threads N           workers, 256 at most; 0 (default) is one per core, up
                        to 12
  --progress MODE       auto (default), bar, plain, json or none
  -q, --quiet           print nothing when they are equal

docs/content-hash.md says what a content hash is, for others to compute.

EXAMPLES
  bagconv verify drive{file} drive_ros2/
  bagconv verify drive{other} drive{file} --exact types,fields
  bagconv verify drive{file} cut{other} -S 10 -u 60 -x '/camera/*' --prefix /car
  bagconv verify a{file} b{file} -t /imu --both
  bagconv verify a{file} b{file} --level bytes --json | jq .topics

EXIT STATUS
  0    equal, but for exceptions by design, which are named
  1    a recording cannot be read, or has no such topic, type or time
  2    the command line is wrong
  3    equal as far as they can be read: one of them is damaged
  4    different, damaged or not
  130  interrupted
`
