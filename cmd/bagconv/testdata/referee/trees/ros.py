"""ros.py JOBS: reads bags and rosbag2 folders with PyPI's rosbags as it demands them, and once more with msgdef.py, and
compares every message with the truth. md5sum and type hash of every definition are computed again from its text.
A rosbag2 folder is also written as lines of JSON beside it, for readers that know CDR and not SQLite."""
import base64, functools, json, keyword, sqlite3, sys, warnings
from pathlib import Path

import numpy
warnings.filterwarnings('ignore')
from rosbags.highlevel import AnyReader, anyreader
from rosbags.rosbag1 import Reader as BagReader
from rosbags.rosbag2 import storage_sqlite3
from rosbags.typesys import store as typesys_store

from msgdef import Definition
from truth import Judge, Ns, load

# Two thirds of its time are not needed here: its parser is asked for the same texts in every output of a world, and each
# type gets functions that write and convert as well.
anyreader.get_types_from_msg = storage_sqlite3.get_types_from_msg = functools.cache(anyreader.get_types_from_msg)
for name in 'generate_serialize_cdr', 'generate_serialize_ros1', 'generate_ros1_to_cdr', 'generate_cdr_to_ros1':
    assert hasattr(typesys_store, name)
    setattr(typesys_store, name, lambda *args, **more: None)


def plain(v):
    """a message of rosbags as plain values"""
    if hasattr(v, '__dataclass_fields__'):
        if v.__msgtype__ in ('builtin_interfaces/msg/Time', 'builtin_interfaces/msg/Duration'):
            return Ns(int(v.sec) * 10**9 + int(v.nanosec))
        names = [f for f in v.__dataclass_fields__ if f not in ('__msgtype__', 'structure_needs_at_least_one_member') and not hasattr(type(v), f)]
        return {n[:-1] if n[-1] == '_' and keyword.iskeyword(n[:-1]) else n: plain(getattr(v, n)) for n in names}
    if isinstance(v, (numpy.ndarray, numpy.generic)):
        return plain(v.tolist())
    if isinstance(v, list):
        return [plain(x) for x in v]
    return v


def rosbags(job, topics, messages):
    judge = Judge(job, 'rosbags', topics, messages)
    try:
        with AnyReader([Path(job['Path'])]) as reader:
            for connection, time, raw in reader.messages():
                judge.message(connection.topic, time, lambda: plain(reader.deserialize(raw, connection.msgtype)))
    except Exception as e:
        judge.problem('%s: %s' % (type(e).__name__, e))
    judge.done()


def define(judge, topic, name, text, ros, hashed, made):
    """-> the definition, once for each text"""
    key = name, text
    if key not in made:
        try:
            made[key] = d = Definition(name, text, ros)
            again = d.md5() if ros == 1 else d.rihs01()
            if hashed != again:
                judge.problem('%s (%s): hash %s, from its text %s' % (topic, name, hashed, again))
        except Exception as e:
            made[key] = None
            judge.problem('%s (%s): %s: %s' % (topic, name, type(e).__name__, e))
    return made[key]


def bag(job, topics, messages):
    judge, made = Judge(job, 'msgdef.py', topics, messages), {}
    with BagReader(job['Path']) as reader:
        for c in reader.connections:
            name = c.msgtype.replace('/msg/', '/')
            define(judge, c.topic, name, c.msgdef.data, 1, c.digest, made)
            want = topics.get(c.topic, {})
            if 'Proto' not in want and (want.get('ROS1'), want.get('MD5')) != (name, c.digest):
                judge.problem('%s is %s with md5sum %s, it should be %s with %s' % (c.topic, name, c.digest, want.get('ROS1'), want.get('MD5')))
        for c, time, raw in reader.messages():
            d = made[c.msgtype.replace('/msg/', '/'), c.msgdef.data]
            judge.message(c.topic, time, lambda: d.decode(bytes(raw)))
    judge.done()


def db3(job, topics, messages):
    judge, made = Judge(job, 'msgdef.py', topics, messages), {}
    path, = Path(job['Path']).glob('*.db3')
    with sqlite3.connect('file:%s?mode=ro' % path, uri=True) as con, open(job['Path'] + '.ndjson', 'w') as dump:
        rows = con.execute('select topic_type, encoding, encoded_message_definition, type_description_hash from message_definitions').fetchall()
        texts = {r[0]: r[2] for r in rows}
        if len(texts) != len(rows):
            judge.problem('a type has two definitions')
        for name, _, text, hashed in rows:
            define(judge, '', name, text, 2, hashed, made)
        ids = {}
        for id, topic, name, hashed in con.execute('select id, name, type, type_description_hash from topics'):
            ids[id] = topic, name
            if name not in texts:
                judge.problem('%s (%s): no definition' % (topic, name))
            elif made[name, texts[name]]:
                define(judge, topic, name, texts[name], 2, hashed, {})
            want = topics.get(topic, {})
            if 'Proto' not in want and want.get('ROS2') != name:
                judge.problem('%s is %s, it should be %s' % (topic, name, want))
        for id, time, data in con.execute('select topic_id, timestamp, data from messages order by timestamp'):
            topic, name = ids[id]
            text = texts.get(name, '')
            dump.write(json.dumps([topic, name, text, str(time), base64.b64encode(data).decode()]) + '\n')
            judge.message(topic, time, lambda: made[name, text].decode(data))
    judge.done()


if __name__ == '__main__':
    for job in json.load(open(sys.argv[1])):
        topics, messages = load(job['Truth'])
        if not job['Odd']:
            rosbags(job, topics, messages)
        {'bag': bag, 'db3': db3}[job['Format']](job, topics, messages)
