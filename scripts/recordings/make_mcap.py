"""MCAP files: sound ones by PyPI's mcap, odd ones by a writer of a few lines."""
import hashlib
import json
import struct
import zlib

import lz4.frame
import zstandard
from google.protobuf import timestamp_pb2
from google.protobuf.wrappers_pb2 import StringValue
from mcap.writer import CompressionType, IndexType, Writer
from mcap_protobuf.writer import Writer as ProtobufWriter
from mcap_ros2.writer import Writer as ROS2Writer

from common import OUT, START, STEP, save, write

(OUT / 'pypi+mcap').mkdir()
POINT = 'geometry_msgs/Point position\nfloat64[] values\n' + '=' * 80 + '\nMSG: geometry_msgs/Point\nfloat64 x\nfloat64 y\nfloat64 z\n'
SCHEMA = json.dumps({'type': 'object', 'properties': {'text': {'type': 'string'}, 'n': {'type': 'integer'}, 'xs': {'type': 'array', 'items': {'type': 'number'}}}})


def cdr(text):
    data = text.encode() + b'\0'
    return b'\0\1\0\0' + struct.pack('<I', len(data)) + data


def reference(name, **options):
    with open(OUT / 'pypi+mcap' / name, 'wb') as f:
        w = Writer(f, **options)
        w.start('ros2', 'testdata')
        schema = w.register_schema('std_msgs/msg/String', 'ros2msg', b'string data\n')
        json_schema = w.register_schema('Thing', 'jsonschema', SCHEMA.encode())
        chatter = w.register_channel('/chatter', 'cdr', schema)
        thing = w.register_channel('/thing', 'json', json_schema)
        for i in range(30):
            time = START + i * STEP
            if i % 3:
                w.add_message(chatter, time, cdr('message %d' % i), time - 5, i)
            else:
                w.add_message(thing, time, json.dumps({'text': 'message', 'n': i, 'xs': [i, .5]}).encode(), time, i)
        w.add_attachment(START, START, 'notes.txt', 'text/plain', b'some notes')
        w.add_metadata('site', {'place': 'hall 3', 'run': '7'})
        w.finish()


for codec in CompressionType:
    reference('%s.mcap' % codec.name.lower(), compression=codec, chunk_size=400)
reference('unchunked.mcap', use_chunking=False)
reference('no-index.mcap', index_types=IndexType.NONE, chunk_size=400)
reference('crc.mcap', enable_data_crcs=True, repeat_channels=False, repeat_schemas=False, use_statistics=False, use_summary_offsets=False, chunk_size=400)
with open(OUT / 'pypi+mcap' / 'ros2.mcap', 'wb') as f:
    with ROS2Writer(f) as w:
        schema = w.register_msgdef('acme_msgs/msg/Thing', POINT)
        for i in range(10):
            w.write_message('/things', schema, {'position': {'x': float(i), 'y': -1.5, 'z': 0.0}, 'values': [float(k) for k in range(i)]},
                            START + i * STEP, START + i * STEP, i)
with open(OUT / 'pypi+mcap' / 'protobuf.mcap', 'wb') as f:
    with ProtobufWriter(f) as w:
        for i in range(10):
            w.write_message('/stamp', timestamp_pb2.Timestamp(seconds=i, nanos=7), START + i * STEP, START + i * STEP, i)
            w.write_message('/text', StringValue(value='text %d' % i), START + i * STEP + 1, START + i * STEP + 1, i)


# The odd ones.

MAGIC = b'\x89MCAP0\r\n'
HEADER, FOOTER, SCHEMA_, CHANNEL, MESSAGE, CHUNK, MESSAGE_INDEX, CHUNK_INDEX, ATTACHMENT, STATISTICS, METADATA, OFFSET, DATA_END = 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 14, 15
cases = {}


def text(s):
    s = s if isinstance(s, bytes) else s.encode()
    return struct.pack('<I', len(s)) + s


def pairs(values):
    return text(b''.join(text(k) + text(v) for k, v in values.items()))


def record(op, data):
    return struct.pack('<BQ', op, len(data)) + data


def schema(i=1, name='std_msgs/msg/String', kind='ros2msg', data=b'string data\n'):
    return record(SCHEMA_, struct.pack('<H', i) + text(name) + text(kind) + text(data))


def channel(i, topic, schema_id=1, kind='cdr', values=None):
    return record(CHANNEL, struct.pack('<HH', i, schema_id) + text(topic) + text(kind) + pairs(values or {}))


CHANNELS = {1: '/chatter', 2: '/count'}
DEFINITIONS = schema() + channel(1, '/chatter') + channel(2, '/count')


def row(i, channel_id=None, time=None):
    return channel_id or 1 + i % 2, i, START + i * STEP if time is None else time, cdr('text %d' % i)


def message(r):
    return record(MESSAGE, struct.pack('<HIQQ', r[0], r[1], r[2], max(0, r[2] - 5)) + r[3])


PACK = {'': bytes, 'lz4': lambda b: lz4.frame.compress(b, content_checksum=True), 'zstd': zstandard.ZstdCompressor().compress}


class File:
    """A file, record by record, with the indexes of its chunks."""

    def __init__(self, profile='ros2'):
        self.b = MAGIC + record(HEADER, text(profile) + text('testdata'))
        self.rows, self.indexes, self.counts, self.definitions = [], [], {}, DEFINITIONS

    def add(self, data, rows=()):
        self.b += data
        self.count(rows)
        return self

    def count(self, rows):
        self.rows += rows
        for r in rows:
            self.counts[r[0]] = self.counts.get(r[0], 0) + 1

    def chunk(self, rows, codec='', definitions=DEFINITIONS, called=None, crc=None, size=None, index=True, times=None, message_index=True):
        inner, places = definitions, {}
        for r in rows:
            places.setdefault(r[0], []).append((r[2], len(inner)))
            inner += message(r)
        data = PACK[codec](inner)
        start, end = times or (min((r[2] for r in rows), default=0), max((r[2] for r in rows), default=0))
        called = codec if called is None else called
        size = len(inner) if size is None else size
        at = len(self.b)
        self.b += record(CHUNK, struct.pack('<QQQI', start, end, size, zlib.crc32(inner) if crc is None else crc) + text(called) + struct.pack('<Q', len(data)) + data)
        length, begin, offsets = len(self.b) - at, len(self.b), b''
        if message_index:
            for c, entries in places.items():
                offsets += struct.pack('<HQ', c, len(self.b))
                self.b += record(MESSAGE_INDEX, struct.pack('<H', c) + text(b''.join(struct.pack('<QQ', *e) for e in entries)))
        if index:
            self.indexes.append([start, end, at, length, offsets, len(self.b) - begin, called, len(data), size])
        self.count(rows)
        return self

    def summary(self, statistics=True, total=None, definitions=True, indexes=True, start=None, crc=None, offsets=True):
        self.b += record(DATA_END, struct.pack('<I', 0))
        at, groups = len(self.b), []

        def group(op, data):
            if data:
                groups.append((op, len(self.b), len(data)))
                self.b += data
        if definitions:
            group(SCHEMA_, schema())
            group(CHANNEL, self.definitions[len(schema()):])
        if statistics:
            times = [r[2] for r in self.rows] or [0]
            counts = b''.join(struct.pack('<HQ', c, n) for c, n in sorted(self.counts.items()))
            group(STATISTICS, record(STATISTICS, struct.pack('<QHIIIIQQ', len(self.rows) if total is None else total, 1, 2, 0, 0, len(self.indexes), min(times), max(times)) + text(counts)))
        if indexes:
            group(CHUNK_INDEX, b''.join(record(CHUNK_INDEX, struct.pack('<QQQQ', *x[:4]) + text(x[4]) + struct.pack('<Q', x[5]) + text(x[6]) + struct.pack('<QQ', *x[7:])) for x in self.indexes))
        place = len(self.b) if offsets else 0
        if offsets:
            self.b += b''.join(record(OFFSET, struct.pack('<BQQ', *g)) for g in groups)
        tail = struct.pack('<BQQQ', FOOTER, 20, at if start is None else start, place)
        self.b += tail + struct.pack('<I', zlib.crc32(self.b[at:] + tail) if crc is None else crc) + MAGIC
        return self


def odd(name, about, data, rows, exits, want=None, least=None, topics=CHANNELS, attachments=(), metadata=(), flags=()):
    """rows are those that the data has, want is how many a good reader returns, least how many any must."""
    write('generated/' + name, data)
    want = len(rows) if want is None else want
    truth = [[topics[r[0]], r[2], max(0, r[2] - 5), r[1], hashlib.sha256(r[3]).hexdigest()[:16]] for r in rows]
    cases[name] = {'about': about, 'want': want, 'min': want if least is None else least, 'exit': exits, 'truth': truth,
                   'topics': sorted(set(topics.values())), 'attachments': list(attachments), 'metadata': list(metadata), 'flags': list(flags)}


R = [row(i) for i in range(20)]
SHUFFLED = sorted(R, key=lambda r: hashlib.sha256(r[3]).digest())


def plain(codecs=('',) * 4, rows=R, options=None, profile='ros2'):
    f = File(profile)
    for i, codec in enumerate(codecs):
        f.chunk(rows[5 * i:5 * i + 5], codec, **(options[i] if options else {}))
    return f


def second(**options):
    return [{}, options, {}, {}]


for codec in ['', 'lz4', 'zstd']:
    odd(f'plain-{codec or "none"}.mcap', 'four chunks', plain([codec] * 4).summary().b, R, [0])
odd('mixed-compression.mcap', 'chunks of each compression', plain(['', 'lz4', 'zstd', '']).summary().b, R, [0])
odd('crc-zero.mcap', 'no checksum at all', plain(options=[{'crc': 0}] * 4).summary(crc=0).b, R, [0])
odd('unchunked.mcap', 'messages outside chunks', File().add(DEFINITIONS + b''.join(map(message, R)), R).summary().b, R, [0])
odd('no-summary.mcap', 'a footer without a summary', plain().summary(False, None, False, False, 0, 0, False).b, R, [0])
odd('no-summary-offsets.mcap', 'a summary without offsets', plain().summary(offsets=False).b, R, [0])
odd('no-statistics.mcap', 'a summary without statistics', plain().summary(statistics=False).b, R, [0])
odd('no-message-index.mcap', 'chunk indexes without message indexes', plain(options=[{'message_index': False}] * 4).summary().b, R, [0])
odd('no-chunk-index.mcap', 'a summary without chunk indexes', plain().summary(indexes=False).b, R, [0])
odd('no-repeated-channels.mcap', 'a summary without definitions', plain().summary(definitions=False).b, R, [0, 3])
odd('unknown-opcodes.mcap', 'records of unknown kinds', plain().add(record(0x77, b'future') + record(0x90, b'private')).summary().b, R, [0])
odd('disordered.mcap', 'times in no order', plain(rows=SHUFFLED).summary().b, R, [0])
odd('reverse.mcap', 'times fall', plain(rows=R[::-1]).summary().b, R, [0])
same = [row(i, time=START) for i in range(20)]
odd('equal-times.mcap', 'one time for all', plain(rows=same).summary().b, same, [0])
odd('overlapping-chunks.mcap', 'each chunk reaches into the next', plain(rows=[R[i] for i in [0, 1, 2, 3, 6, 4, 5, 7, 8, 11, 9, 10, 12, 13, 16, 14, 15, 17, 18, 19]]).summary().b, R, [0])
odd('empty-chunk.mcap', 'a chunk without records', File().chunk(R[:5]).chunk([], definitions=b'').chunk(R[5:]).summary().b, R, [0])
extreme = [row(0, time=0), row(1, time=1), row(2, time=2 ** 63 - 1), row(3, time=2 ** 63), row(4, time=2 ** 64 - 1)]
odd('extreme-times.mcap', 'the first and the last times', File().chunk(extreme[:3]).chunk(extreme[3:]).summary().b, extreme, [0, 3], 5, 3)
odd('statistics-wrong.mcap', 'statistics count 7', plain().summary(total=7).b, R, [0, 3])
f = plain(options=second(index=False))
odd('chunk-index-misses-one.mcap', 'the second chunk has no index', f.summary().b, R, [0, 3])
f = plain()
f.indexes.insert(1, f.indexes[1])
odd('chunk-index-twice.mcap', 'the second chunk has two indexes', f.summary().b, R, [0, 3])
f = plain()
f.indexes[1][2] += 5
odd('chunk-index-offset-wrong.mcap', 'an index points behind the start of its chunk', f.summary().b, R, [0, 3])
f = plain()
f.indexes[1][0:2] = [START + 3600 * 10 ** 9] * 2
odd('chunk-index-times-wrong.mcap', 'an index has the times of another hour', f.summary().b, R, [0, 3])
odd('chunk-times-wrong.mcap', 'a chunk has times of 1970', plain(options=second(times=(1, 2))).summary().b, R, [0, 3])
loose = [row(20), row(21)]
odd('loose-messages.mcap', 'two messages outside the chunks', plain().add(b''.join(map(message, loose)), loose).summary().b, R + loose, [0, 3])
odd('summary-start-wrong.mcap', 'the summary is said to begin in the data', plain().summary(start=100).b, R, [0, 3])
odd('summary-start-beyond.mcap', 'the summary is said to begin behind the end', plain().summary(start=1 << 40).b, R, [0, 3])
odd('summary-crc-wrong.mcap', 'the checksum of the summary is wrong', plain().summary(crc=1).b, R, [0, 3])
odd('chunk-crc-wrong.mcap', 'the checksum of a chunk is wrong', plain(options=second(crc=1)).summary().b, R, [3])
odd('uncompressed-size-huge.mcap', 'a chunk is said to have 2^60 bytes', plain(['zstd'] * 4, options=second(size=1 << 60)).summary().b, R, [0, 3], 20, 15)
odd('compression-unknown.mcap', 'a chunk has an unknown compression', plain(['', 'zstd', '', ''], options=second(called='snappy')).summary().b, R, [0, 3], 20, 15)
odd('compression-upper-case.mcap', 'ZSTD for zstd', plain(['zstd'] * 4, options=[{'called': 'ZSTD'}] * 4).summary().b, R, [0, 3], 20, 0)
stray = row(20, channel_id=3)
odd('undeclared-channel.mcap', 'a message of a channel without a definition', plain().add(message(stray)).summary().b, R, [3])
odd('bytes-behind-end.mcap', 'zeros behind the end', plain().summary().b + bytes(512), R, [0, 3])
odd('unknown-profile.mcap', 'a profile of its own', plain(profile='my-robot').summary().b, R, [0])
whole, body = plain().summary().b, plain().b
four = plain().indexes
odd('truncated-in-chunk.mcap', 'cut in the last chunk', whole[:whole.index(b'text 18')], R[:18], [3], 18, 15)
odd('truncated-in-index.mcap', 'cut in the last message index', body[:-8], R, [0, 3])
odd('truncated-before-dataend.mcap', 'the recorder was killed', body, R, [0, 3])
odd('truncated-in-summary.mcap', 'cut in the summary', whole[:-150], R, [0, 3])
odd('truncated-in-footer.mcap', 'cut in the footer', whole[:-15], R, [0, 3])
odd('truncated-record-header.mcap', 'cut in the header of a chunk', body[:four[2][2] + 4], R[:10], [3])
odd('truncated-in-zstd.mcap', 'cut in the last chunk, which is compressed', plain(['zstd'] * 4).b[:plain(['zstd'] * 4).indexes[3][2] + 80], R, [3], 15, 15)
at = whole.index(b'text 7')
odd('bit-flip-in-plain-chunk.mcap', 'a length in a payload of the second chunk is wrong', whole[:at - 1] + b'\1' + whole[at:], R, [3], 20, 15, flags=['any-content'])
at = four[1][2]
odd('zeros-over-chunk.mcap', 'zeros over the start of the second chunk', whole[:at] + bytes(60) + whole[at + 60:], R, [3], 15)
odd('huge-record-length.mcap', 'the second chunk is said to have 2^62 bytes', whole[:at + 1] + struct.pack('<Q', 1 << 62) + whole[at + 9:], R, [0, 3], 20, 15)
at = four[2][2]
odd('noise-between-chunks.mcap', '200 bytes between two chunks', whole[:at] + b'\xa5' * 200 + body[at:], R, [3], 20, 20)
odd('zero-tail.mcap', 'a file of reserved size after a power cut', body + bytes(4096), R, [0, 3])
odd('header-only.mcap', 'the recorder was killed at once', File().b, [], [0, 3])
odd('magic-only.mcap', 'nothing but the magic', MAGIC, [], [0, 1, 3])
odd('no-data.mcap', 'a whole file without data', File().summary(definitions=False).b, [], [0], topics={})
odd('empty-file.mcap', 'no byte', b'', [], [1])
note = struct.pack('<QQ', 2, 1) + text('notes.txt') + text('text/plain') + struct.pack('<Q', 5) + b'notes'
f = plain().add(record(ATTACHMENT, note + struct.pack('<I', zlib.crc32(note))) + record(METADATA, text('site') + pairs({'place': 'hall 3'})))
odd('attachments-metadata.mcap', 'an attachment and a metadata record without indexes', f.summary(statistics=False).b, R, [0],
    attachments=[['notes.txt', 'text/plain', 5, hashlib.sha256(b'notes').hexdigest()[:16]]], metadata=[['site', {'place': 'hall 3'}]])
save('generated/expected.json', cases)
