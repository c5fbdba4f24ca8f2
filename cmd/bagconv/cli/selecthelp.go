package cli

// selectHelp and editHelp explain selectFlags and editFlags. A command that has
// the flags has these in its help text.
const (
	selectHelp = `WHAT TO TAKE (what is left out is no loss; the report names it)
  -t, --topic P         only these topics. P is a name, a glob (* is any run of
                        characters, / included), or re: and a regular
                        expression for the whole name; again for more topics
  -x, --exclude-topic P
                        not these
  --type P              only topics of these types, as sensor_msgs/Image,
  --exclude-type P      sensor_msgs/msg/Image or apollo.drivers.Image
  -S, --start TIME      from TIME on
  -E, --end TIME        up to TIME, without it
  -u, --duration D      that long from --start, or from the start
  --from FORMAT         the format of IN, where its first bytes are damaged
                        and do not tell it: {formats}

TIME is 10, 10.5s, 1m30s or 00:01:30 from the start; -30s or end-30s before the
end; 2024-05-01T12:00:00Z; @1676549454.5 (s since 1970); or ns since 1970.

`
	editHelp = `WHAT TO CHANGE (topics have the names that they have in the input)
  -m, --remap OLD:=NEW  another name; with globs: '/camera/*:=/cam/*'
  --prefix NAME         before all names, as /robot1
  --throttle TOPIC=HZ   at most so many messages per second
  --every TOPIC=N       every N-th message
  --restamp header|log  log times become the stamps of the headers; or headers
                        get the log times
  --offset D            added to all log times, as +0.3s or -1h
  --latch auto|none|P   what latched, transient local and /tf_static topics said
                        before --start is repeated there (auto, default); or
                        nothing; or the last message of topics P

`
)
