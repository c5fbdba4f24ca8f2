"""What the readers of this folder share: the truth of a world of types (internal/testing/typetree AppendTruth), and how a
decoded message is compared with it. A decoded message is plain: dicts, lists, bool, int, float, str, and Ns."""
import json, math, struct


class Ns(int):
    """a time or a duration: nanoseconds, with a sign"""


def load(path):
    """-> topics {name: {...}}, messages {(topic, time): value}"""
    with open(path, encoding='utf-8') as f:
        topics = json.loads(f.readline())
        lines = [json.loads(line) for line in f]
    return topics, {(m['topic'], int(m['time'])): m['value'] for m in lines}


def differ(want, got, path=''):
    """-> None, or how a decoded value differs from the truth"""
    if isinstance(want, dict):
        if not isinstance(got, dict):
            return '%s: %.60r is no message' % (path, got)
        if 'seq' in want and list(want)[1:] == ['stamp', 'frame_id'] and want['seq'] == '*':
            want = {k: want[k] for k in ('stamp', 'frame_id')}     # ROS 2 has no Header.seq
            got = {k: got[k] for k in got if k != 'seq'}
        if want.keys() != got.keys():
            return '%s: fields %s, they should be %s' % (path, sorted(got), sorted(want))
        return next((d for k in want if (d := differ(want[k], got[k], path + '.' + k))), None)
    if isinstance(want, list):
        if isinstance(got, (bytes, bytearray)):                    # protobuf: a list of bytes, of either sign
            got, want = list(got), ['i%d' % (int(x[1:]) % 256) for x in want]
        if not isinstance(got, list) or len(got) != len(want):
            return '%s: %.60r, there should be %d values' % (path, got, len(want))
        return next((d for i, x in enumerate(want) if (d := differ(x, got[i], '%s[%d]' % (path, i)))), None)
    return None if leaf(want) == canonical(got) else '%s: %s, it should be %s' % (path, canonical(got), want)


def leaf(want):
    return want if isinstance(want, str) else bool(want)


def canonical(v):
    """a single value, written as the truth writes it"""
    if isinstance(v, bool):
        return v
    if isinstance(v, Ns):
        return 't%d' % v
    if isinstance(v, int):
        return 'i%d' % v
    if isinstance(v, float):
        return 'fnan' if math.isnan(v) else 'f' + struct.pack('>d', v).hex()
    if isinstance(v, str):
        return 's' + v
    return '? %.60r' % (v,)


class Judge:
    """compares the messages of one output, and counts them"""

    def __init__(self, job, reader, topics, messages):
        self.path, self.reader, self.problems, self.messages = job['Path'], reader, [], 0
        without = set(job['Without'] or [])
        self.topics = {k: t for k, t in topics.items() if k not in without}
        self.left = {k: v for k, v in messages.items() if k[0] not in without}
        if not job['Seq']:
            self.left = {k: without_seq(v) for k, v in self.left.items()}

    def problem(self, text):
        self.problems.append(text)

    def message(self, topic, time, decode):
        """decode returns the plain message"""
        want = self.left.pop((topic, time), None)
        if want is None:
            return self.problem('%s at %d: no such message was written' % (topic, time))
        try:
            got = decode()
        except Exception as e:
            return self.problem('%s at %d: %s: %s' % (topic, time, type(e).__name__, e))
        self.messages += 1
        if d := differ(want, got):
            self.problem('%s (%s) at %d%s' % (topic, self.topics[topic].get('ROS1'), time, d))

    def done(self):
        if self.left:
            self.problem('%d messages are missing, the first: %s at %d' % (len(self.left), *min(self.left)))
        print(json.dumps({'Path': self.path, 'Reader': self.reader, 'Messages': self.messages, 'Problems': self.problems}), flush=True)


def without_seq(v):
    """the truth where any Header.seq will do"""
    if isinstance(v, list):
        return [without_seq(x) for x in v]
    if not isinstance(v, dict):
        return v
    v = {k: without_seq(x) for k, x in v.items()}
    if list(v) == ['seq', 'stamp', 'frame_id']:
        v['seq'] = '*'
    return v


def circular(md, of, seen=None):
    """whether a protobuf message has one of type of below it, or is one: in ROS it is its serialized bytes"""
    seen = set() if seen is None else seen
    if md.full_name in seen:
        return False
    seen.add(md.full_name)
    return md.full_name == of.full_name or any(f.message_type and circular(f.message_type, of, seen) for f in md.fields)


def without_maps(file):
    """a FileDescriptorProto whose maps are lists of their entries, so that their order is seen"""
    file = type(file).FromString(file.SerializeToString())

    def change(messages):
        for m in messages:
            m.options.ClearField('map_entry')
            change(m.nested_type)
    change(file.message_type)
    return file
