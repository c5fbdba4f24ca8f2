"""The flags of each command as keywords, for type checkers and editors. Not imported when a program runs.

Made from the table of flags: go test ./cmd/bagconv/cli -run FlagDocs -update
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypedDict, Union

if TYPE_CHECKING:
    import numpy as np

    from ._times import Time as Time

    Value = Union[str, int, float, "os.PathLike[str]", datetime, timedelta, np.datetime64, np.timedelta64, None]
    Values = Union[Value, Sequence[Value], Mapping[Any, Any]]
else:
    Time = Value = Values = Any


class ConvertFlags(TypedDict, total=False):
    topic: Values  # only these topics
    topics: Values  # only these topics
    exclude_topic: Values  # leave out these topics
    exclude_topics: Values  # leave out these topics
    type: Values  # only topics of these types, such as sensor_msgs/Image
    types: Values  # only topics of these types, such as sensor_msgs/Image
    exclude_type: Values  # leave out topics of these types
    exclude_types: Values  # leave out topics of these types
    start: Time  # begin at this time
    end: Time  # end before this time
    duration: Value  # length, from --start or from the start of the recording
    where: Values  # only messages for which EXPR holds
    within: Value  # with --where
    while_: bool | None  # with --where
    from_: str | None  # format of IN, if its first bytes are damaged
    remap: Values  # rename a topic
    prefix: Value  # put NAME before all topic names, such as /robot1
    throttle: Values  # keep at most HZ messages per second
    every: Values  # keep every N-th message
    restamp: str | None  # header
    offset: Value  # add a duration to all log times, such as +0.3s or -1h
    latch: Values  # messages from before --start that are repeated there
    through: Value  # send messages of the topics of -t and --type through a program
    processes: int | None  # run N programs of --through side by side
    through_timeout: Value  # how long a program of --through may neither read nor write
    set: Values  # give a field another value
    drop_field: Values  # empty a field that is large or private
    frame: Values  # rename a frame in all headers and transforms
    strip_frame_slash: bool | None  # remove leading slashes of frames, before --frame
    drop_tf: Values  # remove transforms to the frame CHILD
    static: Values  # add a transform to /tf_static, at the start, latched
    static_once: bool | None  # put all transforms of /tf_static into one latched message at the start
    to: str | None  # format of the output
    force: bool | None  # replace OUT if it is a recording
    dry_run: bool | None  # convert a part of IN in memory
    compression: str | None  # codec of the chunks
    level: int | None  # compression level
    chunk_size: Value  # message data per chunk
    encrypt: Value  # encrypt as rosbag does
    segment_size: Value  # begin a new file before one has more message data
    segment_duration: Value  # begin a new file before one lasts longer, such as 60s
    segment_names: str | None  # OUT.00000.20261121093000, as in Apollo 9 and later
    compression_mode: str | None  # what is compressed
    storage: str | None  # storage of the messages in a folder
    preset: str | None  # a preset of rosbag2 for codec, level and chunks
    no_sync: bool | None  # do not wait until OUT is on the disk
    qos: Values  # change QoS of topics of IN
    custom_data: Values  # add a value to the metadata of OUT
    encoding: str | None  # message encoding of OUT
    proto_types: str | None  # how types are converted between protobuf and ROS
    frames: str | None  # axes of Apollo's poses and IMUs in ROS types
    apollo_layout: str | None  # file names in the descriptors of Apollo's types
    distro: str | None  # distribution whose definitions to use, such as humble
    defs: Values  # where to find definitions that IN lacks
    order: str | None  # order of messages
    header_seq: str | None  # Header.seq of ROS 1 messages
    rosout: str | None  # keep
    strict: bool | None  # fail at the first damage or loss
    attach: Values  # add FILE as an attachment, if the format of OUT has them
    extras: Value  # write attachments and metadata records that OUT cannot store into DIR
    threads: int | None  # number of workers, 256 at most
    max_memory: Value  # memory for all buffers together, 64M or more
    verify: str | None  # read OUT back before it is named, and compare it with IN
    connections: int | None  # requests at a time of what is read and written by URL
    bandwidth: Value  # bytes per second of all that is read and written by URL
    timeout: Value  # how long a request to a URL may wait for its next 16 KiB
    retries: int | None  # how often to repeat a request to a URL that gets nowhere
    bag_key: Value  # key of encrypted bags
    config: Value  # read flags from a YAML file, by their long names
    types_to: Value  # re-encode messages of ROS types into the definitions of DEFS
    rules: Value  # rules for --types-to


class CutFlags(TypedDict, total=False):
    topic: Values  # only these topics
    topics: Values  # only these topics
    exclude_topic: Values  # leave out these topics
    exclude_topics: Values  # leave out these topics
    type: Values  # only topics of these types, such as sensor_msgs/Image
    types: Values  # only topics of these types, such as sensor_msgs/Image
    exclude_type: Values  # leave out topics of these types
    exclude_types: Values  # leave out topics of these types
    duration: Value  # length, from --start or from the start of the recording
    where: Values  # only messages for which EXPR holds
    within: Value  # with --where
    while_: bool | None  # with --where
    from_: str | None  # format of IN, if its first bytes are damaged
    remap: Values  # rename a topic
    prefix: Value  # put NAME before all topic names, such as /robot1
    throttle: Values  # keep at most HZ messages per second
    every: Values  # keep every N-th message
    restamp: str | None  # header
    offset: Value  # add a duration to all log times, such as +0.3s or -1h
    latch: Values  # messages from before --start that are repeated there
    through: Value  # send messages of the topics of -t and --type through a program
    processes: int | None  # run N programs of --through side by side
    through_timeout: Value  # how long a program of --through may neither read nor write
    set: Values  # give a field another value
    drop_field: Values  # empty a field that is large or private
    frame: Values  # rename a frame in all headers and transforms
    strip_frame_slash: bool | None  # remove leading slashes of frames, before --frame
    drop_tf: Values  # remove transforms to the frame CHILD
    static: Values  # add a transform to /tf_static, at the start, latched
    static_once: bool | None  # put all transforms of /tf_static into one latched message at the start
    to: str | None  # format of the output
    force: bool | None  # replace OUT if it is a recording
    dry_run: bool | None  # convert a part of IN in memory
    compression: str | None  # codec of the chunks
    level: int | None  # compression level
    chunk_size: Value  # message data per chunk
    encrypt: Value  # encrypt as rosbag does
    segment_size: Value  # begin a new file before one has more message data
    segment_duration: Value  # begin a new file before one lasts longer, such as 60s
    segment_names: str | None  # OUT.00000.20261121093000, as in Apollo 9 and later
    compression_mode: str | None  # what is compressed
    storage: str | None  # storage of the messages in a folder
    preset: str | None  # a preset of rosbag2 for codec, level and chunks
    no_sync: bool | None  # do not wait until OUT is on the disk
    qos: Values  # change QoS of topics of IN
    custom_data: Values  # add a value to the metadata of OUT
    encoding: str | None  # message encoding of OUT
    proto_types: str | None  # how types are converted between protobuf and ROS
    frames: str | None  # axes of Apollo's poses and IMUs in ROS types
    apollo_layout: str | None  # file names in the descriptors of Apollo's types
    distro: str | None  # distribution whose definitions to use, such as humble
    defs: Values  # where to find definitions that IN lacks
    order: str | None  # order of messages
    header_seq: str | None  # Header.seq of ROS 1 messages
    rosout: str | None  # keep
    strict: bool | None  # fail at the first damage or loss
    attach: Values  # add FILE as an attachment, if the format of OUT has them
    extras: Value  # write attachments and metadata records that OUT cannot store into DIR
    threads: int | None  # number of workers, 256 at most
    max_memory: Value  # memory for all buffers together, 64M or more
    verify: str | None  # read OUT back before it is named, and compare it with IN
    connections: int | None  # requests at a time of what is read and written by URL
    bandwidth: Value  # bytes per second of all that is read and written by URL
    timeout: Value  # how long a request to a URL may wait for its next 16 KiB
    retries: int | None  # how often to repeat a request to a URL that gets nowhere
    bag_key: Value  # key of encrypted bags
    config: Value  # read flags from a YAML file, by their long names
    types_to: Value  # re-encode messages of ROS types into the definitions of DEFS
    rules: Value  # rules for --types-to


class ExportFlags(TypedDict, total=False):
    jobs: int | None  # number of conversions at a time
    resume: bool | None  # skip inputs that the manifest lists as done
    topic: Values  # only these topics
    topics: Values  # only these topics
    exclude_topic: Values  # leave out these topics
    exclude_topics: Values  # leave out these topics
    type: Values  # only topics of these types, such as sensor_msgs/Image
    types: Values  # only topics of these types, such as sensor_msgs/Image
    exclude_type: Values  # leave out topics of these types
    exclude_types: Values  # leave out topics of these types
    start: Time  # begin at this time
    end: Time  # end before this time
    duration: Value  # length, from --start or from the start of the recording
    missing_topics: str | None  # ok
    where: Values  # only messages for which EXPR holds
    within: Value  # with --where
    while_: bool | None  # with --where
    from_: str | None  # format of IN, if its first bytes are damaged
    remap: Values  # rename a topic
    prefix: Value  # put NAME before all topic names, such as /robot1
    throttle: Values  # keep at most HZ messages per second
    every: Values  # keep every N-th message
    restamp: str | None  # header
    offset: Value  # add a duration to all log times, such as +0.3s or -1h
    latch: Values  # messages from before --start that are repeated there
    set: Values  # give a field another value
    drop_field: Values  # empty a field that is large or private
    frame: Values  # rename a frame in all headers and transforms
    strip_frame_slash: bool | None  # remove leading slashes of frames, before --frame
    drop_tf: Values  # remove transforms to the frame CHILD
    static: Values  # add a transform to /tf_static, at the start, latched
    static_once: bool | None  # put all transforms of /tf_static into one latched message at the start
    force: bool | None  # replace OUT if it is an export
    format: str | None  # format of the tables; parquet without an ending of OUT
    dry_run: bool | None  # convert a part of IN in memory
    compression: str | None  # codec of the pages: zstd or none
    columns: Value  # fields that become columns, with commas between
    flat: bool | None  # a column for each number of a struct
    explode: Value  # list of structs that gets a row for each element
    times: str | None  # what times in messages become: timestamp or struct
    text: str | None  # what text becomes: utf8 or binary
    blobs: str | None  # what bytes of messages become: inline or placed
    images: str | None  # what becomes of pictures: inline, files or none
    debayer: bool | None  # colours for pictures of a Bayer sensor
    video: bool | None  # pictures as an MP4 file
    clouds: str | None  # what becomes of point clouds: inline, pcd, pcd-compressed, ply or none
    drop_nan: bool | None  # leave points without a position out of PCD and PLY files
    tracks: str | None  # tracks of topics, too: none, tum, kitti, geojson or gpx
    chain: Value  # also write the track of one frame in another out of /tf
    resample: Value  # one table of all topics with a row at each tick
    join: Value  # one table of all topics with a row per message of this one
    method: str | None  # what a row has of a topic: last, nearest or linear
    max_gap: Value  # how far from its row a message may be
    layout: str | None  # where tables stand: tree or hive
    map: Value  # what becomes what in a LeRobot data set
    append: bool | None  # add the episodes of IN to the LeRobot data set OUT
    no_sync: bool | None  # do not wait until OUT is on the disk
    qos: Values  # change QoS of topics of IN
    custom_data: Values  # add a value to the metadata of OUT
    defs: Values  # where to find definitions that IN lacks
    order: str | None  # order of messages
    strict: bool | None  # fail at the first damage or loss
    attach: Values  # add FILE as an attachment, if the format of OUT has them
    extras: Value  # write attachments and metadata records that OUT cannot store into DIR
    threads: int | None  # number of workers, 256 at most
    max_memory: Value  # memory for all buffers together, 64M or more
    connections: int | None  # requests at a time of what is read and written by URL
    bandwidth: Value  # bytes per second of all that is read and written by URL
    timeout: Value  # how long a request to a URL may wait for its next 16 KiB
    retries: int | None  # how often to repeat a request to a URL that gets nowhere
    bag_key: Value  # key of encrypted bags
    config: Value  # read flags from a YAML file, by their long names
    distro: str | None  # distribution whose definitions to use, such as humble


class MergeFlags(TypedDict, total=False):
    shift: Values  # add a duration to all times of one input
    dedupe: bool | None  # write equal messages once
    topic: Values  # only these topics
    topics: Values  # only these topics
    exclude_topic: Values  # leave out these topics
    exclude_topics: Values  # leave out these topics
    type: Values  # only topics of these types, such as sensor_msgs/Image
    types: Values  # only topics of these types, such as sensor_msgs/Image
    exclude_type: Values  # leave out topics of these types
    exclude_types: Values  # leave out topics of these types
    start: Time  # begin at this time
    end: Time  # end before this time
    duration: Value  # length, from --start or from the start of the recording
    where: Values  # only messages for which EXPR holds
    within: Value  # with --where
    while_: bool | None  # with --where
    from_: str | None  # format of IN, if its first bytes are damaged
    remap: Values  # rename a topic
    prefix: Value  # put NAME before all topic names, such as /robot1
    throttle: Values  # keep at most HZ messages per second
    every: Values  # keep every N-th message
    restamp: str | None  # header
    offset: Value  # add a duration to all log times, such as +0.3s or -1h
    latch: Values  # messages from before --start that are repeated there
    set: Values  # give a field another value
    drop_field: Values  # empty a field that is large or private
    frame: Values  # rename a frame in all headers and transforms
    strip_frame_slash: bool | None  # remove leading slashes of frames, before --frame
    drop_tf: Values  # remove transforms to the frame CHILD
    static: Values  # add a transform to /tf_static, at the start, latched
    static_once: bool | None  # put all transforms of /tf_static into one latched message at the start
    to: str | None  # format of the output
    force: bool | None  # replace OUT if it is a recording
    dry_run: bool | None  # convert a part of IN in memory
    compression: str | None  # codec of the chunks
    level: int | None  # compression level
    chunk_size: Value  # message data per chunk
    encrypt: Value  # encrypt as rosbag does
    segment_size: Value  # begin a new file before one has more message data
    segment_duration: Value  # begin a new file before one lasts longer, such as 60s
    segment_names: str | None  # OUT.00000.20261121093000, as in Apollo 9 and later
    compression_mode: str | None  # what is compressed
    storage: str | None  # storage of the messages in a folder
    preset: str | None  # a preset of rosbag2 for codec, level and chunks
    no_sync: bool | None  # do not wait until OUT is on the disk
    qos: Values  # change QoS of topics of IN
    custom_data: Values  # add a value to the metadata of OUT
    encoding: str | None  # message encoding of OUT
    proto_types: str | None  # how types are converted between protobuf and ROS
    frames: str | None  # axes of Apollo's poses and IMUs in ROS types
    apollo_layout: str | None  # file names in the descriptors of Apollo's types
    distro: str | None  # distribution whose definitions to use, such as humble
    defs: Values  # where to find definitions that IN lacks
    order: str | None  # order of messages
    header_seq: str | None  # Header.seq of ROS 1 messages
    rosout: str | None  # keep
    strict: bool | None  # fail at the first damage or loss
    attach: Values  # add FILE as an attachment, if the format of OUT has them
    extras: Value  # write attachments and metadata records that OUT cannot store into DIR
    threads: int | None  # number of workers, 256 at most
    max_memory: Value  # memory for all buffers together, 64M or more
    verify: str | None  # read OUT back before it is named, and compare it with IN
    connections: int | None  # requests at a time of what is read and written by URL
    bandwidth: Value  # bytes per second of all that is read and written by URL
    timeout: Value  # how long a request to a URL may wait for its next 16 KiB
    retries: int | None  # how often to repeat a request to a URL that gets nowhere
    bag_key: Value  # key of encrypted bags
    config: Value  # read flags from a YAML file, by their long names
    types_to: Value  # re-encode messages of ROS types into the definitions of DEFS
    rules: Value  # rules for --types-to


class SplitFlags(TypedDict, total=False):
    max_size: Value  # begin a new part before one has more message data
    max_duration: Value  # begin a new part after this time
    at: Values  # begin new parts at these times
    by: Values  # topic, or value and an expression
    on: Value  # begin a new part where a condition begins to hold
    between: Values  # two conditions, of the first and the last message of parts
    rest: bool | None  # with --between: also parts of what is outside
    topic: Values  # only these topics
    topics: Values  # only these topics
    exclude_topic: Values  # leave out these topics
    exclude_topics: Values  # leave out these topics
    type: Values  # only topics of these types, such as sensor_msgs/Image
    types: Values  # only topics of these types, such as sensor_msgs/Image
    exclude_type: Values  # leave out topics of these types
    exclude_types: Values  # leave out topics of these types
    start: Time  # begin at this time
    end: Time  # end before this time
    duration: Value  # length, from --start or from the start of the recording
    where: Values  # only messages for which EXPR holds
    within: Value  # with --where
    while_: bool | None  # with --where
    from_: str | None  # format of IN, if its first bytes are damaged
    remap: Values  # rename a topic
    prefix: Value  # put NAME before all topic names, such as /robot1
    throttle: Values  # keep at most HZ messages per second
    every: Values  # keep every N-th message
    restamp: str | None  # header
    offset: Value  # add a duration to all log times, such as +0.3s or -1h
    latch: Values  # messages from before --start that are repeated there
    set: Values  # give a field another value
    drop_field: Values  # empty a field that is large or private
    frame: Values  # rename a frame in all headers and transforms
    strip_frame_slash: bool | None  # remove leading slashes of frames, before --frame
    drop_tf: Values  # remove transforms to the frame CHILD
    static: Values  # add a transform to /tf_static, at the start, latched
    static_once: bool | None  # put all transforms of /tf_static into one latched message at the start
    to: str | None  # format of the output
    force: bool | None  # replace OUT if it is a recording
    dry_run: bool | None  # convert a part of IN in memory
    compression: str | None  # codec of the chunks
    level: int | None  # compression level
    chunk_size: Value  # message data per chunk
    encrypt: Value  # encrypt as rosbag does
    segment_size: Value  # begin a new file before one has more message data
    segment_duration: Value  # begin a new file before one lasts longer, such as 60s
    segment_names: str | None  # OUT.00000.20261121093000, as in Apollo 9 and later
    compression_mode: str | None  # what is compressed
    storage: str | None  # storage of the messages in a folder
    preset: str | None  # a preset of rosbag2 for codec, level and chunks
    no_sync: bool | None  # do not wait until OUT is on the disk
    qos: Values  # change QoS of topics of IN
    custom_data: Values  # add a value to the metadata of OUT
    encoding: str | None  # message encoding of OUT
    proto_types: str | None  # how types are converted between protobuf and ROS
    frames: str | None  # axes of Apollo's poses and IMUs in ROS types
    apollo_layout: str | None  # file names in the descriptors of Apollo's types
    distro: str | None  # distribution whose definitions to use, such as humble
    defs: Values  # where to find definitions that IN lacks
    order: str | None  # order of messages
    header_seq: str | None  # Header.seq of ROS 1 messages
    rosout: str | None  # keep
    strict: bool | None  # fail at the first damage or loss
    attach: Values  # add FILE as an attachment, if the format of OUT has them
    extras: Value  # write attachments and metadata records that OUT cannot store into DIR
    threads: int | None  # number of workers, 256 at most
    max_memory: Value  # memory for all buffers together, 64M or more
    verify: str | None  # read OUT back before it is named, and compare it with IN
    connections: int | None  # requests at a time of what is read and written by URL
    bandwidth: Value  # bytes per second of all that is read and written by URL
    timeout: Value  # how long a request to a URL may wait for its next 16 KiB
    retries: int | None  # how often to repeat a request to a URL that gets nowhere
    bag_key: Value  # key of encrypted bags
    config: Value  # read flags from a YAML file, by their long names
    types_to: Value  # re-encode messages of ROS types into the definitions of DEFS
    rules: Value  # rules for --types-to


class VerifyFlags(TypedDict, total=False):
    topic: Values  # only these topics
    topics: Values  # only these topics
    exclude_topic: Values  # leave out these topics
    exclude_topics: Values  # leave out these topics
    type: Values  # only topics of these types, such as sensor_msgs/Image
    types: Values  # only topics of these types, such as sensor_msgs/Image
    exclude_type: Values  # leave out topics of these types
    exclude_types: Values  # leave out topics of these types
    start: Time  # begin at this time
    end: Time  # end before this time
    duration: Value  # length, from --start or from the start of the recording
    where: Values  # only messages for which EXPR holds
    within: Value  # with --where
    while_: bool | None  # with --where
    from_: str | None  # format of IN, if its first bytes are damaged
    remap: Values  # rename a topic
    prefix: Value  # put NAME before all topic names, such as /robot1
    throttle: Values  # keep at most HZ messages per second
    every: Values  # keep every N-th message
    restamp: str | None  # header
    offset: Value  # add a duration to all log times, such as +0.3s or -1h
    latch: Values  # messages from before --start that are repeated there
    frames: str | None  # the --frames of a conversion from or to Apollo
    connections: int | None  # requests at a time of what is read and written by URL
    bandwidth: Value  # bytes per second of all that is read and written by URL
    timeout: Value  # how long a request to a URL may wait for its next 16 KiB
    retries: int | None  # how often to repeat a request to a URL that gets nowhere
    bag_key: Value  # key of encrypted bags
    both: bool | None  # apply the selection to B, too
    compare: str | None  # what to compare
    level: str | None  # what to compare
    ignore: Values  # differences that do not count, separated by commas
    exact: Values  # differences by design that count as differences, or all
    defs: Values  # where to find definitions that a recording lacks
    distro: str | None  # distribution whose definitions to use, such as humble
    threads: int | None  # number of workers, 256 at most
    rules: Value  # rules for --types-to
    types_to: Value  # compare A as if it had been converted with this flag


class CheckFlags(TypedDict, total=False):
    from_: str | None  # format of IN, if its first bytes are damaged
    connections: int | None  # requests at a time of what is read and written by URL
    bandwidth: Value  # bytes per second of all that is read and written by URL
    timeout: Value  # how long a request to a URL may wait for its next 16 KiB
    retries: int | None  # how often to repeat a request to a URL that gets nowhere
    bag_key: Value  # key of encrypted bags
    fail_on: str | None  # lowest severity that makes the exit status 4
    exit_zero: bool | None  # exit with status 0 even if there are findings
    spec: Value  # check against a contract
    gap: Value  # report gaps longer than N times the period of a topic
    stamp_offset: Value  # largest distance of header stamps from the log time
    defs: Values  # where to find definitions that a recording lacks
    distro: str | None  # distribution whose definitions to use, such as humble
    threads: int | None  # number of workers, 256 at most
    types_to: Value  # report topics whose types have other definitions in DEFS
    rules: Value  # rules for --types-to


class ImportFlags(TypedDict, total=False):
    compression: str | None  # codec of the chunks
    level: int | None  # compression level
    chunk_size: Value  # message data per chunk
    segment_size: Value  # begin a new file before one has more message data
    segment_duration: Value  # begin a new file before one lasts longer, such as 60s
    segment_names: str | None  # OUT.00000.20261121093000, as in Apollo 9 and later
    compression_mode: str | None  # what is compressed
    storage: str | None  # storage of the messages in a folder
    preset: str | None  # a preset of rosbag2 for codec, level and chunks
    no_sync: bool | None  # do not wait until OUT is on the disk
    qos: Values  # change QoS of topics of IN
    custom_data: Values  # add a value to the metadata of OUT
    encoding: str | None  # message encoding of OUT
    proto_types: str | None  # how types are converted between protobuf and ROS
    frames: str | None  # axes of Apollo's poses and IMUs in ROS types
    apollo_layout: str | None  # file names in the descriptors of Apollo's types
    order: str | None  # order of messages
    header_seq: str | None  # Header.seq of ROS 1 messages
    rosout: str | None  # keep
    strict: bool | None  # fail at the first damage or loss
    attach: Values  # add FILE as an attachment, if the format of OUT has them
    threads: int | None  # number of workers, 256 at most
    max_memory: Value  # memory for all buffers together, 64M or more
    connections: int | None  # requests at a time of what is read and written by URL
    bandwidth: Value  # bytes per second of all that is read and written by URL
    timeout: Value  # how long a request to a URL may wait for its next 16 KiB
    retries: int | None  # how often to repeat a request to a URL that gets nowhere
    config: Value  # read flags from a YAML file, by their long names
    types_to: Value  # re-encode messages of ROS types into the definitions of DEFS
    rules: Value  # rules for --types-to
