"""Records: some by PyPI's cyber_record, odd ones by a writer of a few lines. Their messages and
descriptors are those of testdata/demo.record, the first ones of each channel."""
import pathlib
import struct

from cyber_record.cyber.proto import proto_desc_pb2, record_pb2
from cyber_record.record import Record

from common import OUT, payload_hash, save, write

DEMO = pathlib.Path(__file__).parents[2] / 'testdata' / 'demo.record'
HEADER, CHANNEL, CHUNK_HEADER, CHUNK_BODY, INDEX = 0, 4, 1, 2, 3
expected = {}


def demo(each, largest=1500):
    """(time, channel, type, payload) of small messages, and the descriptors by channel."""
    rows, counts, descriptors = [], {}, {}
    with Record(str(DEMO)) as record:
        for topic, raw, time in raw_messages(record):
            if counts.get(topic, 0) < each and len(raw) <= largest:
                counts[topic] = counts.get(topic, 0) + 1
                rows.append((time, topic, raw))
        for topic in counts:
            c = record._reader.channels[topic]
            descriptors[topic] = (c.message_type, c.proto_desc)
    return [(t, topic, descriptors[topic][0], raw) for t, topic, raw in rows], descriptors


def raw_messages(record):
    data = DEMO.read_bytes()
    for kind, body in sections(data):
        if kind == CHUNK_BODY:
            chunk = record_pb2.ChunkBody()
            chunk.ParseFromString(body)
            for m in chunk.messages:
                yield m.channel_name, m.content, m.time
        elif kind == CHANNEL:
            c = record_pb2.Channel()
            c.ParseFromString(body)
            record._reader.channels = {**getattr(record._reader, 'channels', {}), c.name: c}


def sections(data):
    at = 0
    while at + 16 <= len(data):
        kind, size = struct.unpack_from('<IxxxxQ', data, at)
        yield kind, data[at + 16:at + 16 + size]
        at = at + 16 + size if kind != HEADER else 2064


def expect(name, rows, channels, undeclared=(), complete=True):
    counts = {}
    for r in rows:
        counts[r[1]] = counts.get(r[1], 0) + 1
    declared = {c: {'messages': counts.get(c, 0), 'type': t} for c, t in channels.items()}
    times = [r[0] for r in rows] or [0]
    expected[name] = {'begin': min(times), 'end': max(times), 'channels': declared, 'undeclared': {c: counts[c] for c in undeclared},
                      'messages': len(rows), 'messages_sha256_time_order': payload_hash([(r[0], r[1], r[3]) for r in rows]),
                      'notes': [], 'complete': complete}


class Writer:
    """Writes a record section by section."""

    def __init__(self, channels, minor=0):
        self.header = record_pb2.Header(major_version=1, minor_version=minor, compress=record_pb2.COMPRESS_NONE, chunk_interval=20_000_000_000,
                                        segment_interval=60_000_000_000, chunk_raw_size=200 << 20, segment_raw_size=2 << 30)
        self.index, self.body, self.channels = record_pb2.Index(), b'', {}
        for name, (kind, descriptor) in channels.items():
            self.channel(name, kind, descriptor)

    def place(self):
        return 2064 + len(self.body)

    def section(self, kind, data):
        self.body += struct.pack('<IxxxxQ', kind, len(data)) + data

    def entry(self, kind, at, **cache):
        self.index.indexes.add(type=kind, position=at, **cache)

    def channel(self, name, kind, descriptor):
        self.channels[name] = kind
        self.header.channel_number += 1
        self.entry(record_pb2.SECTION_CHANNEL, self.place(), channel_cache=record_pb2.ChannelCache(name=name, message_type=kind, proto_desc=descriptor))
        self.section(CHANNEL, record_pb2.Channel(name=name, message_type=kind, proto_desc=descriptor).SerializeToString())

    def chunk(self, rows):
        times = [r[0] for r in rows]
        numbers = dict(message_number=len(rows), begin_time=min(times, default=0), end_time=max(times, default=0))
        body = record_pb2.ChunkBody(messages=[record_pb2.SingleMessage(channel_name=r[1], time=r[0], content=r[3]) for r in rows])
        self.entry(record_pb2.SECTION_CHUNK_HEADER, self.place(), chunk_header_cache=record_pb2.ChunkHeaderCache(**numbers))
        self.section(CHUNK_HEADER, record_pb2.ChunkHeader(raw_size=body.ByteSize(), **numbers).SerializeToString())
        self.entry(record_pb2.SECTION_CHUNK_BODY, self.place(), chunk_body_cache=record_pb2.ChunkBodyCache(message_number=len(rows)))
        self.section(CHUNK_BODY, body.SerializeToString())
        for row in rows:
            for x in self.index.indexes:
                if x.type == record_pb2.SECTION_CHANNEL and x.channel_cache.name == row[1]:
                    x.channel_cache.message_number += 1
        h = self.header
        h.begin_time = min(h.begin_time or 1 << 62, numbers['begin_time']) if rows else h.begin_time
        h.end_time = max(h.end_time, numbers['end_time'])
        h.message_number += len(rows)
        h.chunk_number += 1
        return self

    def file(self, closed=True, shift=0, tail=b''):
        head, index = record_pb2.Header(), b''
        head.CopyFrom(self.header)
        if closed:
            head.is_complete, head.size, head.index_position = True, 0, self.place()
            data = self.index.SerializeToString()
            index = struct.pack('<IxxxxQ', INDEX, len(data)) + data
            head.size = 2064 + len(self.body) + len(index)
        else:
            for f in ('message_number', 'chunk_number', 'begin_time', 'end_time', 'channel_number'):
                setattr(head, f, 0)
        text = head.SerializeToString()
        return struct.pack('<IxxxxQ', HEADER, len(text)) + text.ljust(2048, b'0') + self.body + index + tail


def odd(name, data, rows, channels, **more):
    write('generated/' + name, data)
    expect('generated/' + name, rows, {c: t[0] if isinstance(t, tuple) else t for c, t in channels.items()}, **more)


rows, channels = demo(8)
few, few_channels = demo(2)
del few_channels['/apollo/canbus/chassis']
few = [r for r in few if r[1] in few_channels][:10]
few_channels = {c: d for c, d in few_channels.items() if any(r[1] == c for r in few)}

path = OUT / 'pypi.record'
with Record(str(path), 'w') as record:
    for time, topic, kind, raw in rows:
        record.write_raw(topic, raw, kind, channels[topic][1], time)
expect('pypi.record', rows, {c: t[0] for c, t in channels.items()})

every, every_channels = demo(1, 1 << 30)
large = Writer(every_channels).chunk(every)
odd('sensor-every.record', large.file(), every, every_channels)

w = Writer(few_channels)
for i in range(0, len(few), 3):
    w.chunk(few[i:i + 3])
whole = w.file()
odd('multichunk.record', whole, few, few_channels)
odd('crash-no-index.record', w.file(closed=False), few, few_channels, complete=False)
odd('stale-tail.record', w.file(tail=b'\1' * 77), few, few_channels)
odd('zero-tail.record', w.file(closed=False, tail=bytes(5000)), few, few_channels, complete=False)
odd('empty.record', Writer({}).file(), [], {})
w = Writer(few_channels).chunk(few[5:]).chunk(few[:5])
odd('overlap.record', w.file(), few, few_channels)
w = Writer(few_channels).chunk(few[:5]).chunk([]).chunk(few[5:])
odd('empty-chunk.record', w.file(), few, few_channels)
w = Writer(few_channels).chunk(few[:5]).chunk(few[5:])
last = w.file().rindex(few[-1][3])
odd('truncated-in-chunk.record', w.file()[:last + 3], few[:-1], few_channels)
bare = {**few_channels, '/bare': ('acme.Thing', b'')}
others = [(t + 1, '/bare', 'acme.Thing', raw) for t, _, _, raw in few[:2]] + [(t + 2, '/undeclared', '', raw) for t, _, _, raw in few[:2]]
odd('no-desc-and-undeclared.record', Writer(bare).chunk(few + others).file(), few + others, bare, undeclared=['/undeclared'])
for i in range(3):
    part = few[4 * i:4 * i + 4]
    odd(f'seg.record.0000{i}', Writer(few_channels).chunk(part).file(), part, few_channels)
save('expected.json', expected)
