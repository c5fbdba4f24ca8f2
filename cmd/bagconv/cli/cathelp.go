package cli

const catHelp = `bagconv cat [FLAGS] IN [TOPIC | TOPIC.FIELD]...

Prints messages as text, one JSON object per line, ordered by time:
  {"topic":"/imu","time":"1700000000000000000","fields":{"header":{...},...}}
Times are log times in ns since 1970. Words after IN name topics (or globs) and
single fields: /imu.linear_acceleration.x, /tf.transforms[0].child_frame_id, or
without an index a list of all, /tf.transforms.child_frame_id.

` + selectHelp + `FLAGS
  --format ndjson|yaml|csv
                        lines of JSON (default), YAML documents, or CSV: a
                        column for each field named (of a struct, for each of
                        its fields), or for each field of the topic
  --limit N             the first N messages
  --bytes               uint8[], byte[] and bytes as base64. Without it they are
                        {"$bytes":N}; one that is named is always written
  --arrays              lists of more than 128 elements whole on a terminal,
                        too. There they are {"$length":N}, unless they are
                        named. In a pipe or file they are whole, unless
                        --arrays=false is set
  --raw                 the serialized messages as base64, under "raw"
  --order time|file     by log time (default), or as in IN. Where IN has no
                        index with times, by time reads it twice
  --distro NAME         ROS 2 distribution, such as humble: its definitions
                        where IN has none
  --threads N           workers, 256 at most; 0 (default) is one per core, up
                        to 12

64-bit integers are strings, as are "NaN", "Infinity" and "-Infinity"; floats
have a point. docs/cli.md has all rules.

EXAMPLES
  bagconv cat drive{file} /imu --limit 3
  bagconv cat drive{file} -t '/camera/*' -S 10 -u 1 | jq -c .fields.header
  bagconv cat drive_ros2/ --format csv /imu.angular_velocity.z /odom.pose

EXIT STATUS
  0    all that was asked for is printed
  1    IN cannot be read, or has no such topic, field or time
  2    the command line is wrong
  3    IN is damaged, or something could not be decoded; it is said what
  130  interrupted
`
