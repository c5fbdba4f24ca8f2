"""ROS 1 bags: sound ones by python3-rosbag, odd ones by a writer of a few lines."""
import bz2
import struct

import genpy
import rosbag
import roslz4
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import PoseStamped, TransformStamped, TwistStamped
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Log
from sensor_msgs.msg import Image, Imu, LaserScan, NavSatFix, PointCloud2, PointField
from std_msgs.msg import Bool, ColorRGBA, Duration, Float64MultiArray, Header, Int8, MultiArrayDimension, String, Time, UInt16MultiArray
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker

from common import OUT, START, STEP, save, write

expected, cases = {}, {}


def stamp(i):
    return genpy.Time(0, 0) if i is None else genpy.Time(*divmod(START + i * STEP, 1_000_000_000))


def header(i, frame='map'):
    return Header(i, stamp(i), frame)


def every():
    """One message of many types, with something in each field."""
    t = TransformStamped(header=header(1), child_frame_id='base')
    t.transform.rotation.w = 1
    odometry = Odometry(header=header(2), child_frame_id='base')
    odometry.pose.covariance = [i / 4 for i in range(36)]
    marker = Marker(header=header(3), ns='n', id=7, type=Marker.CUBE, lifetime=genpy.Duration(2, 5), colors=[ColorRGBA(1, .5, 0, 1)], text='\u00e4')
    marker.pose.orientation.w = 1
    return [
        ('/bool', Bool(True)), ('/int8', Int8(-5)), ('/string', String('text')), ('/time', Time(stamp(4))), ('/duration', Duration(genpy.Duration(-2, 7))),
        ('/pose', PoseStamped(header=header(5))), ('/twist', TwistStamped(header=header(6))), ('/odometry', odometry),
        ('/tf', TFMessage([t])), ('/marker', marker), ('/rosout', Log(header(7), Log.WARN, 'node', 'text', 'file', 'f', 12, ['/a', '/b'])),
        ('/diagnostics', DiagnosticArray(header(8), [DiagnosticStatus(DiagnosticStatus.ERROR, 'n', 'm', 'h', [KeyValue('k', 'v')])])),
        ('/imu', Imu(header=header(9))), ('/fix', NavSatFix(header=header(10), latitude=48.1, longitude=11.5, position_covariance=[0] * 9)),
        ('/scan', LaserScan(header=header(11), ranges=[1, float('inf'), float('nan')], intensities=[])),
        ('/image', Image(header(12), 2, 3, 'mono8', 0, 3, bytes(range(6)))),
        ('/points', PointCloud2(header(13), 1, 2, [PointField('x', 0, PointField.FLOAT32, 1)], False, 4, 8, bytes(8), True)),
        ('/array', Float64MultiArray(data=[1.5, -2])), ('/array16', UInt16MultiArray(data=[1, 2, 65535])),
    ]


def dimensions():
    m = Float64MultiArray(data=[1, 2, 3, 4])
    m.layout.dim = [MultiArrayDimension('rows', 2, 4), MultiArrayDimension('columns', 2, 2)]
    return m


def text_of(value):
    return value.decode() if isinstance(value, bytes) else value


def reference(name, rows, compression='none', connections=None, chunk=700):
    """A bag of python3-rosbag, of rows (topic, message, step), and what rosbag reads of it."""
    path = OUT / name
    path.parent.mkdir(exist_ok=True)
    with rosbag.Bag(str(path), 'w', compression=compression, chunk_threshold=chunk) as bag:
        for topic, message, step in rows:
            bag.write(topic, message, stamp(step), connection_header=(connections or {}).get((topic, step)))
    with rosbag.Bag(str(path)) as bag:
        counts, kinds = {}, {}
        for chunk_header in bag._chunk_headers.values():
            kinds[chunk_header.compression] = kinds.get(chunk_header.compression, 0) + 1
        for entries in bag._connection_indexes.items():
            counts[entries[0]] = len(entries[1])
        conns = [{'id': c.id, 'topic': c.topic, 'type': c.datatype, 'md5': c.md5sum, 'callerid': text_of(c.header.get('callerid', '')),
                  'latching': text_of(c.header.get('latching', '')), 'def_len': len(c.msg_def), 'n': counts.get(c.id, 0)} for c in bag._get_connections()]
        times = [t for _, _, t in bag.read_messages(raw=True)]
    expected[name] = {'version': '#ROSBAG V2.0', 'messages': len(times), 'connections': len(conns), 'compression': kinds, 'conns': conns,
                      'start': '%d.%09d' % (times[0].secs, times[0].nsecs) if times else '0', 'end': '%d.%09d' % (times[-1].secs, times[-1].nsecs) if times else '0'}


def small(n):
    return [(('/chatter', String('message %d' % i), i) if i % 2 == 0 else ('/pose', PoseStamped(header=header(i)), i)) for i in range(n)]


def connection(message, callerid, latching):
    return {'topic': '/chatter', 'type': message._type, 'md5sum': message._md5sum, 'message_definition': message._full_text,
            'callerid': callerid, 'latching': latching}


for codec in ['none', 'bz2', 'lz4']:
    reference('rosbag/%s.bag' % codec, small(40), codec)
    reference('rosbag/types-%s.bag' % codec, [(t, m, i) for i, (t, m) in enumerate(every() + [('/dimensions', dimensions())])], codec, chunk=4000)
reference('rosbag/one-chunk.bag', small(12), chunk=768 * 1024)
reference('rosbag/chunk-each.bag', small(6), chunk=1)
reference('rosbag/equal-times.bag', [('/chatter', String(str(i)), i // 5) for i in range(20)])
reference('rosbag/latched.bag', [('/tf_static', TFMessage([TransformStamped(header=header(0), child_frame_id='base')]), 0)] + small(5),
          connections={('/tf_static', 0): {**connection(TFMessage, '/static', '1'), 'topic': '/tf_static'}})
reference('rosbag/publishers.bag', [('/chatter', String('of %d' % (i % 3)), i) for i in range(9)],
          connections={('/chatter', i): connection(String, '/node%d' % (i % 3), str(i % 2)) for i in range(9)})


# The odd ones.

def fields(**values):
    out = b''
    for name, value in values.items():
        part = name.encode() + b'=' + value
        out += struct.pack('<I', len(part)) + part
    return out


def record(op, data, **values):
    head = fields(op=bytes([op]), **values)
    return struct.pack('<I', len(head)) + head + struct.pack('<I', len(data)) + data


u32, u64 = lambda n: struct.pack('<I', n), lambda n: struct.pack('<Q', n)
PACK = {'none': bytes, 'bz2': bz2.compress, 'lz4': roslz4.compress}


def conn(i, message, topic, **more):
    more = {'topic': topic.encode(), 'type': message._type.encode(), 'md5sum': message._md5sum.encode(),
            'message_definition': message._full_text.encode(), **more}
    return record(7, fields(**more), conn=u32(i), topic=topic.encode())


STRING = conn(0, String, '/chatter')


class Bag:
    """A bag, chunk by chunk, of times (s, ns), connections and texts of std_msgs/String or bytes."""

    def __init__(self, connections=(STRING,), version=b'2.0'):
        self.start = b'#ROSBAG V%s\n' % version
        self.connections, self.body, self.infos, self.chunks = connections, b'', b'', []

    def chunk(self, rows, codec='none', extra=b'', inside=True):
        inner, index, counts = extra + (b''.join(self.connections) if inside else b''), {}, {}
        for time, conn_id, text in rows:
            index.setdefault(conn_id, []).append(struct.pack('<III', *time, len(inner)))
            data = text if isinstance(text, bytes) else u32(len(text)) + text.encode()
            inner += record(2, data, conn=u32(conn_id), time=struct.pack('<II', *time))
        at = len(self.start) + 4096 + len(self.body)
        self.inner = inner
        self.chunks.append(at)
        self.body += record(5, PACK[codec](inner), compression=codec.encode(), size=u32(len(inner)))
        for k, entries in index.items():
            self.body += record(4, b''.join(entries), ver=u32(1), conn=u32(k), count=u32(len(entries)))
            counts[k] = len(entries)
        times = sorted(r[0] for r in rows)
        self.infos += record(6, b''.join(struct.pack('<II', k, n) for k, n in counts.items()), ver=u32(1), chunk_pos=u64(at),
                             start_time=struct.pack('<II', *times[0]), end_time=struct.pack('<II', *times[-1]), count=u32(len(counts)))
        return self

    def file(self, index=True, gap=b''):
        pos = len(self.start) + 4096 + len(self.body) + len(gap)
        head = fields(op=b'\3', index_pos=u64(pos if index else 0), conn_count=u32(len(self.connections)), chunk_count=u32(len(self.chunks)))
        first = struct.pack('<I', len(head)) + head
        first += u32(4096 - len(first) - 4) + b' ' * (4096 - len(first) - 4)
        return self.start + first + self.body + gap + b''.join(self.connections) + self.infos


def odd(name, about, messages, data, **more):
    write('generated/' + name, data)
    cases[name] = {'about': about, 'messages': messages, **more}


def rows(first, n, conn_id=0):
    return [((1_700_000_000 + i // 10, i % 10 * 100_000_000), conn_id, 'text %d' % i) for i in range(first, first + n)]


def plain(codecs=('none',) * 4, **options):
    bag = Bag(**options)
    for i, codec in enumerate(codecs):
        bag.chunk(rows(5 * i, 5), codec)
    return bag


whole = plain().file()
odd('plain.bag', 'ordinary, 4 chunks', 20, whole)
odd('mixed-compression.bag', 'chunks of each compression', 20, plain(['none', 'bz2', 'lz4', 'none']).file())
odd('zeros-before-trailer.bag', 'zeros between the chunks and the index', 20, plain().file(gap=bytes(49)))
odd('index-pos-zero.bag', 'whole, but the file header was never written again', 20, plain().file(index=False))
odd('reverse-order.bag', 'times fall', 10, Bag().chunk(rows(0, 10)[:4:-1]).chunk(rows(0, 5)[::-1]).file())
odd('overlapping-chunks.bag', 'times of chunks overlap, some twice', 12, Bag().chunk(rows(0, 6)).chunk(rows(3, 6)).file())
odd('extreme-times.bag', 'time 0, and the last second of 32 bits', 4,
    Bag().chunk([((0, 0), 0, 'a'), ((0, 1), 0, 'b'), ((2 ** 32 - 1, 0), 0, 'c'), ((1, 0), 0, 'd')]).file())
odd('two-types-one-topic.bag', 'a topic with two types', 2,
    Bag((STRING, conn(1, Time, '/chatter'))).chunk([((1_700_000_000, 0), 0, 'a'), ((1_700_000_001, 0), 1, bytes(8))]).file(), connections=2)
odd('orphan-connection.bag', 'a connection without messages', 4, Bag((STRING, conn(1, Time, '/never'))).chunk(rows(0, 4)).file(), connections=2)
odd('conn-only-in-trailer.bag', 'connections only in the index', 4, Bag().chunk(rows(0, 4), inside=False).file())
odd('empty-latching.bag', 'latching without a value', 4, Bag((conn(0, String, '/chatter', latching=b''),)).chunk(rows(0, 4)).file())
odd('three-latched-publishers.bag', 'three latching publishers of a topic', 3,
    Bag(tuple(conn(i, String, '/chatter', latching=b'1', callerid=b'/n%d' % i) for i in range(3)))
    .chunk([((1_700_000_000 + i, 0), i, 'x') for i in range(3)]).file(), connections=3)
odd('unknown-op.bag', 'a record of an unknown kind in a chunk', 4, Bag().chunk(rows(0, 4), extra=record(99, b'data')).file())
odd('future-2.1.bag', 'a minor version of the future', 4, Bag(version=b'2.1').chunk(rows(0, 4)).file())
odd('no-messages.bag', 'neither chunk nor connection', 0, Bag(()).file())
odd('empty-file.bag', 'no byte', 0, b'', error=True)
odd('version-line-only.bag', 'cut behind the version', 0, whole[:13], error=True)
last = whole.index(b'text 18')
odd('truncated-in-chunk.bag', 'cut inside the last chunk', 18, whole[:last])
odd('truncated-in-trailer.bag', 'cut inside the index', 20, whole[:-60])
last = whole.index(b'text 19') - 8
odd('bit-flip-in-chunk.bag', 'the length of the last message is wrong', 20, whole[:last] + b'\xff' + whole[last + 1:], damaged=True)
killed = plain()
odd('crash-none.bag.active', 'the recorder was killed: the last chunk says that it is empty', 20,
    killed.file(index=False)[:killed.chunks[3]] + record(5, b'', compression=b'none', size=u32(0)) + killed.inner)
save('expected.json', expected)
save('generated/cases.json', cases)
