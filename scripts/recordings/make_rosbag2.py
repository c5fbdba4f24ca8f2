"""rosbag2 folders: those of this year by PyPI's rosbags, older ones by sqlite3 with the tables of their time."""
import pathlib
import sqlite3

import numpy as np
from rosbags.interfaces import Qos, QosDurability, QosHistory, QosLiveliness, QosReliability, QosTime
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from common import OUT, START, STEP, payload_hash, save

store = get_typestore(Stores.ROS2_HUMBLE)
T = store.types
expected = {}
LATCHED = Qos(QosHistory.KEEP_LAST, 1, QosReliability.RELIABLE, QosDurability.TRANSIENT_LOCAL, QosTime(0, 0), QosTime(0, 0),
              QosLiveliness.AUTOMATIC, QosTime(0, 0), False)

SENSOR = Qos(QosHistory.KEEP_LAST, 5, QosReliability.BEST_EFFORT, QosDurability.VOLATILE, QosTime(0, 0), QosTime(0, 0),
             QosLiveliness.AUTOMATIC, QosTime(0, 0), False)


def header(i):
    sec, nanosec = divmod(START + i * STEP, 1_000_000_000)
    return T['std_msgs/msg/Header'](stamp=T['builtin_interfaces/msg/Time'](sec=sec, nanosec=nanosec), frame_id='map')


def rows(n, first=0):
    """(time, topic, type, CDR)"""
    out = []
    q = T['geometry_msgs/msg/Quaternion'](x=0.0, y=0.0, z=0.0, w=1.0)
    v = T['geometry_msgs/msg/Vector3'](x=1.0, y=-2.0, z=0.5)
    for i in range(first, first + n):
        if i % 3 == 0:
            topic, m = '/chatter', T['std_msgs/msg/String'](data=f'message {i}')
        elif i % 3 == 1:
            topic, m = '/imu', T['sensor_msgs/msg/Imu'](
                header=header(i), orientation=q, orientation_covariance=np.arange(9.0), angular_velocity=v, angular_velocity_covariance=np.zeros(9),
                linear_acceleration=v, linear_acceleration_covariance=np.ones(9))
        else:
            topic, m = '/scan', T['sensor_msgs/msg/LaserScan'](
                header=header(i), angle_min=0.0, angle_max=1.0, angle_increment=0.5, time_increment=0.0, scan_time=0.1, range_min=0.1, range_max=9.0,
                ranges=np.array([1, np.inf, 2.5], dtype=np.float32), intensities=np.array([], dtype=np.float32))
        out.append((START + i * STEP, topic, m.__msgtype__, bytes(store.serialize_cdr(m, m.__msgtype__))))
    return out


def expect(name, messages):
    """What one database has."""
    topics = {}
    for _, topic, kind, _ in messages:
        topics.setdefault(topic, {'count': 0, 'format': 'cdr', 'type': kind})['count'] += 1
    expected[name] = {'messages': len(messages), 'topics': topics, 'start_ns': min(m[0] for m in messages), 'end_ns': max(m[0] for m in messages),
                      'payload_sha256': payload_hash([(m[0], m[1], m[3]) for m in messages])}


def reference(name, messages, version, storage=StoragePlugin.SQLITE3, mode=CompressionMode.NONE):
    writer = Writer(OUT / name, version=version, storage_plugin=storage)
    writer.set_compression(mode, CompressionFormat.ZSTD)
    with writer:
        conns = {}
        for time, topic, kind, data in messages:
            if topic not in conns:
                conns[topic] = writer.add_connection(topic, kind, typestore=store, offered_qos_profiles=[LATCHED if topic == '/chatter' else SENSOR])
            writer.write(conns[topic], time, data)
    end = '.db3.zstd' if mode == CompressionMode.FILE else '.db3'
    if storage == StoragePlugin.SQLITE3:
        for path in (OUT / name).iterdir():
            if path.suffix == '.db3':
                plain_header(path)
        expect(f'{name}/{pathlib.Path(name).name}{end}', messages)


def plain_header(path):
    """Takes the version of SQLite out of a database: bytes 96 to 99 of its header."""
    data = bytearray(path.read_bytes())
    data[96:100] = bytes(4)
    path.write_bytes(data)


QOS = '''- history: 1
  depth: 1
  reliability: 1
  durability: 1
  deadline: {sec: 2147483647, nsec: 4294967295}
  lifespan: {sec: 2147483647, nsec: 4294967295}
  liveliness: 1
  liveliness_lease_duration: {sec: 2147483647, nsec: 4294967295}
  avoid_ros_namespace_conventions: false
'''


def database(name, messages, qos):
    path = OUT / name
    path.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(path)
    db.execute('CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, serialization_format TEXT NOT NULL'
               + (', offered_qos_profiles TEXT NOT NULL)' if qos else ')'))
    db.execute('CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, timestamp INTEGER NOT NULL, data BLOB NOT NULL)')
    db.execute('CREATE INDEX timestamp_idx ON messages (timestamp ASC)')
    ids = {}
    for time, topic, kind, data in messages:
        if topic not in ids:
            ids[topic] = len(ids) + 1
            profiles = (QOS if topic == '/chatter' else '',) if qos else ()
            db.execute('INSERT INTO topics VALUES (' + ','.join('?' * (4 + len(profiles))) + ')', (ids[topic], topic, kind, 'cdr', *profiles))
        db.execute('INSERT INTO messages (topic_id, timestamp, data) VALUES (?, ?, ?)', (ids[topic], time, data))
    db.commit()
    db.close()
    plain_header(path)
    expect(name, messages)


def metadata(folder, version, parts, messages):
    counts = {}
    for m in messages:
        counts[m[1]] = [m[2], counts.get(m[1], ['', 0])[1] + 1]
    text = f'rosbag2_bagfile_information:\n  version: {version}\n  storage_identifier: sqlite3\n  relative_file_paths:\n'
    text += ''.join(f'    - {p}\n' for p in parts)
    text += f'  duration:\n    nanoseconds: {messages[-1][0] - messages[0][0]}\n  starting_time:\n    nanoseconds_since_epoch: {messages[0][0]}\n'
    text += f'  message_count: {len(messages)}\n  topics_with_message_count:\n'
    for topic, (kind, n) in counts.items():
        text += f'    - topic_metadata:\n        name: {topic}\n        type: {kind}\n        serialization_format: cdr\n'
        if version >= 4:
            text += '        offered_qos_profiles: ' + (repr(QOS).replace("'", '"') if topic == '/chatter' else '""') + '\n'
        text += f'      message_count: {n}\n'
    if version >= 3:
        text += '  compression_format: ""\n  compression_mode: ""\n'
    (OUT / folder / 'metadata.yaml').write_text(text)


reference('v8-sqlite', rows(30), 8)
reference('v9-sqlite', rows(30), 9)
reference('v9-zstd-file', rows(30), 9, mode=CompressionMode.FILE)
reference('v9-zstd-message', rows(30), 9, mode=CompressionMode.MESSAGE)
reference('v8-mcap/run', rows(30), 8, StoragePlugin.MCAP)
reference('v9-mcap/run', rows(30), 9, StoragePlugin.MCAP)
database('v1-crystal/old.db3', rows(20), qos=False)
metadata('v1-crystal', 1, ['old.db3'], rows(20))
database('v4-foxy-split/run_0.db3', rows(20), qos=True)
database('v4-foxy-split/run_1.db3', rows(10, 20), qos=True)
metadata('v4-foxy-split', 4, ['run_0.db3', 'run_1.db3'], rows(30))
database('nometa-foxy/run.db3', rows(12), qos=True)
save('expected.json', expected)
