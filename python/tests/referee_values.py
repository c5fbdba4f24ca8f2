"""Prints what another reader has of recordings: python referee_values.py rosbags|mcap|cyber MOST < PATHS.

For each path a pickle: a list of topic, log time and value, or None if the reader fails. Values are plain: dicts,
lists, bytes, numbers, texts; times are ns. It runs in the environment of the reader, which has nothing of ours.
"""

import pickle
import sys

sys.setrecursionlimit(10_000)


def rosbags(path):
    from pathlib import Path

    from rosbags.highlevel import AnyReader
    from rosbags.typesys import Stores, get_typestore

    with AnyReader([Path(path)], default_typestore=get_typestore(Stores.LATEST)) as reader:
        for connection, t, raw in reader.messages():
            yield connection.topic, t, lambda c=connection, r=raw: plain(reader.deserialize(r, c.msgtype))


def mcap(path):
    from mcap.reader import make_reader
    from mcap_ros1.decoder import DecoderFactory as Ros1
    from mcap_ros2.decoder import DecoderFactory as Ros2

    with open(path, "rb") as f:
        for _, channel, message, value in make_reader(f, decoder_factories=[Ros1(), Ros2()]).iter_decoded_messages():
            yield channel.topic, message.log_time, lambda v=value: plain(v)


def cyber(path):
    from cyber_record.record import Record

    for topic, message, t in Record(path).read_messages():
        yield topic, t, lambda m=message: proto(m)


def plain(value):
    """Return a message of rosbags or mcap-support as a dict."""
    for sec, nanosec in (("sec", "nanosec"), ("secs", "nsecs")):
        if hasattr(value, sec) and hasattr(value, nanosec):
            return int(getattr(value, sec)) * 10**9 + int(getattr(value, nanosec))
    if hasattr(value, "dtype"):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    names = (
        getattr(value, "__dataclass_fields__", None)
        or getattr(value, "__slots__", None)
        or getattr(value, "__dict__", None)
    )
    if names is None or isinstance(value, (str, bytes, bool, int, float)):
        return value
    return {name.rstrip("_"): plain(getattr(value, name)) for name in names if not name.startswith("_")}


def proto(message):
    """Return a message of protobuf as a dict."""
    return {field.name: proto_field(message, field) for field in message.DESCRIPTOR.fields}


def proto_field(message, field):
    got = getattr(message, field.name)
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        inner = field.message_type.fields_by_name["value"]
        return {k: proto_value(v, inner) for k, v in got.items()}
    if field.label == field.LABEL_REPEATED:
        return [proto_value(v, field) for v in got]
    absent = field.message_type is not None or field.containing_oneof is not None
    return None if absent and not message.HasField(field.name) else proto_value(got, field)


def proto_value(value, field):
    if field.message_type is not None:
        return proto(value)
    if field.enum_type is not None:
        named = field.enum_type.values_by_number.get(value)
        return named.name if named else str(value)
    return value


def values(read, path, most):
    counts, out = {}, []
    for topic, t, value in read(path):
        counts[topic] = counts.get(topic, 0) + 1
        if counts[topic] <= most and t < 1 << 63:
            out.append((topic, t, value()))
    return out


read = {"rosbags": rosbags, "mcap": mcap, "cyber": cyber}[sys.argv[1]]
for line in sys.stdin:
    try:
        found = values(read, line.rstrip("\n"), int(sys.argv[2]))
    except Exception as e:  # what it does not read cannot be compared
        if isinstance(e, ImportError):
            raise
        found = None
    sys.stdout.buffer.write(pickle.dumps(found, 4))
