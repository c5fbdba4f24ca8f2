package cli

// outputHelp, extraHelp, strictHelp and runHelp explain outputFlags, extraFlags and
// runFlags.
const (
	outputHelp = `OUTPUT
  --to FORMAT           {formats}; wins over the ending of OUT
  -o, --output OUT      the output, instead of the last argument
  -f, --force           replace OUT when it is a recording
{options}
  --no-sync             do not wait for the disk; a power cut soon after may
                        lose the output

MESSAGES
  --encoding native|keep|ros1|cdr|protobuf
                        of the messages in OUT: that of its format, or as they
                        are between two of one format (default); as they are
                        where the format carries them; or the one named, if it
                        does. bagconv formats lists what each one carries
  --proto-types mapped|generated|raw
                        what protobuf messages become in ROS, and ROS messages
                        in protobuf: Apollo's types and the standard ROS types
                        become each other, and Foxglove's schemas, also those
                        of JSON, standard ROS types (default); all types are
                        taken over field by field; or protobuf bytes stay as
                        they are where OUT can carry them
  --frames apollo|rep103
                        axes of Apollo's poses and IMUs as ROS types: as they
                        are, right/forward/up (default), or turned to ROS's
                        forward/left/up
  --apollo-layout common_msgs|legacy
                        names of the descriptor files of Apollo's types in
                        protobuf: as in Apollo 8 and later (default), or before
  --distro NAME         ROS 2 distribution, such as humble: its definitions
                        where IN has none, and an output made for it
  --order time|file     by log time (default), or as in IN
  --header-seq count|zero
                        what ROS 1 headers get as seq: counted up per topic
                        (default), or 0
  --rosout keep|ros2    rosgraph_msgs/Log keeps all its fields (default), or
                        becomes rcl_interfaces/msg/Log, which has fewer
`
	extraHelp = `EXTRAS
  --attach FILE         add a file as an attachment, with its name, times and
                        the media type of its ending; again for others. An
                        error where OUT has no place for attachments
  --extras DIR          write attachments and metadata records that OUT has no
                        place for into DIR, as bagconv list --extract does, so
                        that they are not lost

`
	strictHelp = `  --strict              fail at the first damage or loss, instead of going on
                        and saying what is missing

`
	runHelp = `RUN
  --threads N           workers, 256 at most; 0 (default) is one per core, up
                        to one for each 20M of --max-memory. The output is the
                        same for any number
  --max-memory SIZE     what buffers may take together, 64M or more (default
                        256M); a message that is larger is converted anyway
  --verify LEVEL        read OUT back before it gets its name, and compare it
                        with what was read of IN: content, counts or bytes; see
                        bagconv help verify. It takes about as long again
  --report FILE         write what became of each topic as JSON
  --json                the same on standard output
  --progress MODE       auto (default), bar, plain, json or none
  -q, --quiet           no progress and no summary; losses are still said
  -v, --verbose         also say what is not carried by design
  --config FILE         flags from a YAML file, by their long names; those on
                        the line win
  --print-config        print the flags in force as such a file, and do nothing
                        else

`
)
