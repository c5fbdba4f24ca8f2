"""values.py FILE.mcap VALUES.jsonl ...: compares what PyPI's mcap and its support packages decode of a
file, its checksums compared, with the lines of `bagconv cat --bytes` of the recording that it was
made from: {"topic", "time", "fields"}. Prints
{"messages": N, "problems": [...]} for each pair."""
import base64, json, math, struct, sys

from mcap.reader import make_reader
from mcap_protobuf.decoder import DecoderFactory as Protobuf
from mcap_ros1.decoder import DecoderFactory as ROS1
from mcap_ros2._vendor.rosidl_adapter import parser as rosidl
from mcap_ros2.decoder import DecoderFactory as ROS2

rosidl.is_valid_message_name = lambda name: True  # it refuses the names of events, X_Event, which ROS 2 has

TIMES = {'sec': ('sec', 'secs', 'seconds'), 'nanosec': ('nanosec', 'nsecs', 'nanos')}


def field(got, name):
    """-> the field of a decoded message, and whether it has one of that name"""
    for n in TIMES.get(name, (name,)):
        if hasattr(got, n):
            return getattr(got, n), True
    return None, False


def member(got, name, value):
    """the value of a field, with the name of an enumeration's number"""
    d = getattr(got, 'DESCRIPTOR', None)
    kind = d and d.fields_by_name[name].enum_type
    return kind.values_by_number[value].name if kind and not hasattr(value, '__len__') else value


def same(want, got, path):
    """-> the first path whose values differ, None for none"""
    if isinstance(want, dict):
        for k, w in want.items():
            g, there = field(got, k)
            if not there and k != 'seq':
                return path + '.' + k + ' is missing'
            if there and w is None:  # a message that is not set
                if got.HasField(k):
                    return path + '.' + k + ' is set'
            elif there and (diff := same(w, member(got, k, g), path + '.' + k)):
                return diff
        return None
    if isinstance(want, list):
        if len(want) != len(got):
            return '%s has %d elements, want %d' % (path, len(got), len(want))
        return next((d for i, (w, g) in enumerate(zip(want, got)) if (d := same(w, g, '%s[%d]' % (path, i)))), None)
    if isinstance(want, str) and not isinstance(got, (str, int, float)):
        want, got = base64.b64decode(want), bytes(v & 255 for v in got)  # char is signed in some
    elif isinstance(want, str) and isinstance(got, int):  # of 64 bits
        want = int(want)
    elif isinstance(got, float):  # "NaN", "Infinity"
        want = float(want)
        if want == got or math.isnan(want) and math.isnan(got) or struct.pack('<f', want) == struct.pack('<f', got):
            return None
    return None if want == got else '%s is %.80r, want %.80r' % (path, got, want)


for path, values in zip(sys.argv[1::2], sys.argv[2::2]):
    want = {}
    for line in open(values):
        m = json.loads(line)
        want.setdefault(m['topic'], []).append((int(m['time']), m['fields']))
    problems, n = [], 0
    with open(path, 'rb') as f:
        for s, c, m, decoded in make_reader(f, validate_crcs=True, decoder_factories=[ROS1(), ROS2(), Protobuf()]).iter_decoded_messages():
            time, fields = want[c.topic].pop(0)
            n += 1
            diff = 'at %d, want %d' % (m.log_time, time) if m.log_time != time else same(fields, decoded, '')
            if diff:
                problems.append('%s, message at %d: %s' % (c.topic, time, diff))
    problems += ['%s: %d messages are missing' % (t, len(rest)) for t, rest in want.items() if rest]
    print(json.dumps({'messages': n, 'problems': problems[:20]}))
