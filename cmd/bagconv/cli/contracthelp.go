package cli

// contractHelp is the grammar of contracts, for those who have the program alone.
const contractHelp = `CONTRACTS of bagconv check --spec FILE

A contract is a YAML file with what each recording must have. --make-spec prints
one that fits a recording, to begin with.

  contract: 1                      # the version of this language
  duration: {min: 30s, max: 10m}   # of the recording
  size: {max: 2GB}                 # on disk
  messages: {min: 1000}            # in all topics
  other_topics: false              # no topics but those below
  topics:
    /imu: {type: sensor_msgs/Imu, rate: {min: 95, max: 105}, max_gap: 50ms}
    /chatter:                      # must exist; nothing else is required
    /camera/*: {count: {min: 1}, max_edge: 2s}
    /gps: {optional: true, type: [sensor_msgs/NavSatFix, gps_common/GPSFix]}
    /debug/*: {absent: true}

KEYS
  duration, size, messages
                   a range: min, max or both, both inclusive
  other_topics     false: topics that no rule names are errors
  topics           rules by topic: a name, a glob, or re: and a regular
                   expression. At least one topic must match
  absent           there must be no such topic; it allows no other key
  optional         the rule counts only if the topic has messages
  type             a name, a pattern, or a list of them
  rate             range of the mean rate in Hz
  max_gap          longest time between two messages
  max_edge         longest time from the start of the recording to the first
                   message, and from the last message to its end
  count            range of the number of messages

Sizes are 768K, 2G (times 1024) or 2GB (times 1000); durations 50ms, 2s or 10m.
Unknown keys are errors. Messages of a topic come from all its publishers.
`
