"""ULog files: by a writer of a few lines, and one by PyPI's pyulog."""
import math
import random
import struct

from pyulog import ULog

from common import OUT, save, write

SYNC = bytes([0x2f, 0x73, 0x13, 0x20, 0x25, 0x0c, 0xbb, 0x12])
KINDS = {'int8_t': 'b', 'uint8_t': 'B', 'int16_t': 'h', 'uint16_t': 'H', 'int32_t': 'i', 'uint32_t': 'I', 'int64_t': 'q', 'uint64_t': 'Q',
         'float': 'f', 'double': 'd', 'bool': '?', 'char': 'B'}
expected = {}


class Log:
    def __init__(self, start=1_000_000, version=1):
        self.b = bytearray(b'ULog\x01\x12\x35' + struct.pack('<BQ', version, start))
        self.topics = {}

    def message(self, kind, *parts):
        body = b''.join(p.encode() if isinstance(p, str) else p for p in parts)
        self.b += struct.pack('<H', len(body)) + kind.encode() + body

    def count(self, topic):
        self.topics[topic] = self.topics.get(topic, 0) + 1

    def key(self, kind, key, value, prefix=b''):
        self.message(kind, prefix, bytes([len(key)]), key, value)
        if kind in 'PQ':
            self.count('/px4/parameter_events' if kind == 'P' else '/px4/parameter_defaults')

    def subscribe(self, name, instance, number):
        self.message('A', struct.pack('<BH', instance, number), name)
        self.topics.setdefault('/px4/' + name + ('_%d' % instance if instance else ''), 0)

    def data(self, name, instance, number, data):
        self.message('D', struct.pack('<H', number), data)
        self.count('/px4/' + name + ('_%d' % instance if instance else ''))

    def text(self, level, time, text, tag=None):
        self.message('L' if tag is None else 'C', level, b'' if tag is None else struct.pack('<H', tag), struct.pack('<Q', time), text)
        self.count('/px4/log')

    def save(self, name, codes=()):
        write('generated/' + name, bytes(self.b))
        expected['generated/' + name] = {'topics': self.topics, 'codes': sorted(codes)}


def flags(log, compat=0, incompat=0, offsets=()):
    log.message('B', struct.pack('<8B', compat, *[0] * 7), struct.pack('<8B', incompat, *[0] * 7), struct.pack('<3Q', *(list(offsets) + [0, 0, 0])[:3]))


def simple(log):
    log.message('F', 'vehicle_attitude:uint64_t timestamp;float[4] q;uint8_t n;uint8_t[3] _padding0;')
    log.message('F', 'sensor_gyro:uint64_t timestamp;float x;bool ok;')
    log.key('I', 'char[3] sys_name', 'PX4')
    log.subscribe('vehicle_attitude', 0, 0)
    log.subscribe('sensor_gyro', 0, 1)
    log.subscribe('sensor_gyro', 2, 2)


def rows(log, first, last):
    for i in range(first, last):
        time = 1_000_000 + 4000 * i
        if i % 3 == 0:
            log.data('vehicle_attitude', 0, 0, struct.pack('<Q4fB', time, 1, i, math.nan, -0.5, i))
        else:
            log.data('sensor_gyro', 2 if i % 3 == 2 else 0, i % 3, struct.pack('<Qf?', time, i / 7, i % 2))
        if i % 10 == 0:
            log.message('S', SYNC)


def shapes(rng):
    """Formats with all kinds of fields, nested three deep: the last ones are subscribed."""
    formats = {}
    for depth in range(3):
        for k in range(3):
            name = 'type_%d_%d' % (depth, k)
            fields = [('uint64_t', 1, 'timestamp')] if depth == 2 else []
            for i in range(rng.randint(2, 9)):
                kind = rng.choice(list(KINDS) + [n for n in formats if n.startswith('type_%d' % (depth - 1))] * 2)
                fields.append((kind, rng.choice([1, 1, 1, 2, 5]), 'f%d' % i))
                if rng.random() < .3:
                    fields.append(('uint8_t', rng.randint(2, 6), '_padding%d' % i))
            rng.shuffle(fields)
            formats[name] = fields
    return formats


def padding(formats, name):
    """Bytes of padding at the end, which is not logged."""
    for kind, n, field in reversed(formats[name]):
        if not field.startswith('_padding'):
            return padding(formats, kind) if kind in formats else 0
        return n + padding(formats | {name: formats[name][:-1]}, name)


def value(rng, formats, kind):
    if kind in formats:
        return b''.join(value(rng, formats, k) for k, n, _ in formats[kind] for _ in range(n))
    if kind in ('float', 'double'):
        return struct.pack('<' + KINDS[kind], rng.choice([math.nan, math.inf, -math.inf, -0.0, rng.uniform(-1e6, 1e6), rng.random()]))
    if kind == 'bool':
        return bytes([rng.randint(0, 1)])
    if kind == 'char':
        return bytes([rng.randint(32, 126)])
    return rng.randbytes(struct.calcsize('<' + KINDS[kind]))


def shaped(seed):
    """A log of random formats."""
    rng = random.Random(seed)
    formats = shapes(rng)
    log = Log()
    flags(log, compat=1)
    for name, fields in rng.sample(sorted(formats.items()), len(formats)):
        log.message('F', name + ':' + ''.join('%s%s %s;' % (kind, '[%d]' % n if n > 1 else '', field) for kind, n, field in fields))
    log.key('I', 'char[3] sys_name', 'PX4')
    log.key('I', 'uint32_t ver_sw_release', struct.pack('<I', 0x010e00ff))
    log.key('M', 'char[5] perf', 'first', b'\0')
    log.key('M', 'char[4] perf', ' row', b'\1')
    for i in range(5):
        log.key('P', 'int32_t INT_%d' % i, struct.pack('<i', rng.randint(-2**31, 2**31 - 1)))
        log.key('P', 'float FLOAT_%d' % i, struct.pack('<f', rng.random()))
    log.key('Q', 'float FLOAT_1', struct.pack('<f', .5), b'\1')
    log.key('Q', 'int32_t INT_1', struct.pack('<i', 7), b'\2')
    topics = [('type_2_%d' % k, instance) for k in range(3) for instance in range(2)]
    for number, (name, instance) in enumerate(topics):
        log.subscribe(name, instance, number)
    for i in range(40):
        number = rng.randrange(len(topics))
        name, instance = topics[number]
        time = 1_000_000 + 1000 * i
        data = b''.join(struct.pack('<Q', time) if field == 'timestamp' else value(rng, formats, kind)
                        for kind, n, field in formats[name] for _ in range(n))
        log.data(name, instance, number, data[:len(data) - padding(formats, name)])
        if i % 9 == 4:
            log.text(str(rng.randint(0, 7)), time, 'text %d' % i)
            log.text('6', time, 'tagged %d' % i, tag=i)
        if i % 11 == 5:
            log.key('P', 'float FLOAT_2', struct.pack('<f', i))
        if i % 13 == 6:
            log.message('O', struct.pack('<H', i))
    log.save('random-%d.ulg' % seed, ['dropout'])


for seed in range(4):
    shaped(seed)

sound = Log(version=0)
simple(sound)
rows(sound, 0, 60)
sound.save('version-0.ulg')

cut = Log()
simple(cut)
rows(cut, 0, 60)
cut.b = cut.b[:-5]
cut.topics['/px4/sensor_gyro_2'] -= 1
cut.save('truncated.ulg', ['truncated'])

zeros = Log()
simple(zeros)
rows(zeros, 0, 60)
zeros.b += bytes(3000)
zeros.save('zero-tail.ulg', ['zero-tail'])

noise = Log()
simple(noise)
rows(noise, 0, 30)
noise.b += random.Random(5).randbytes(700)
rows(noise, 30, 60)
noise.save('noise.ulg', ['gap'])

later = Log(version=2)
simple(later)
rows(later, 0, 30)
later.message('Z', 'of a later version')
rows(later, 30, 60)
later.save('later.ulg', ['unknown', 'version'])

lost = Log()
simple(lost)
rows(lost, 0, 30)
for i in range(9):
    lost.message('D', struct.pack('<HQf?', 77, 1_200_000 + i, 1, True))
lost.save('no-subscription.ulg', ['no-subscription'])

for name, missing in (('appended.ulg', 0), ('appended-cut.ulg', 7)):
    log = Log()
    flags(log, incompat=1)
    simple(log)
    rows(log, 0, 29)
    log.b = log.b[:len(log.b) - missing]
    log.b[16 + 3 + 16:16 + 3 + 24] = struct.pack('<Q', len(log.b))
    if missing:
        log.topics['/px4/sensor_gyro'] -= 1
    log.key('I', 'char[5] hardfault', 'stack')
    rows(log, 29, 60)
    log.save(name, ['truncated'] if missing else [])

refused = Log()
flags(refused, incompat=4)
simple(refused)
refused.save('unknown-flag.ulg', ['refused'])

(OUT / 'pypi').mkdir()
ULog(str(OUT / 'generated' / 'random-0.ulg')).write_ulog(str(OUT / 'pypi' / 'rewritten.ulg'))
topics = dict(expected['generated/random-0.ulg']['topics'])
expected['pypi/rewritten.ulg'] = {'topics': topics, 'codes': ['dropout']}
save('made.json', expected)
