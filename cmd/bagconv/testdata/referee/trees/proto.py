"""proto.py JOBS: reads Cyber records section by section, and decodes every message with Python's protobuf and the
descriptors of its own channel. Compares them with the truth."""
import json, struct, sys

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from truth import Judge, Ns, circular, load, without_maps

TIMES = ('google.protobuf.Timestamp', 'google.protobuf.Duration')


def fields(data):
    """the fields of a serialized message: number, and an int or bytes"""
    at = 0

    def varint():
        nonlocal at
        v = shift = 0
        while True:
            b = data[at]
            at += 1
            v |= (b & 127) << shift
            shift += 7
            if b < 128:
                return v
    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        elif tag & 7 == 2:
            n = varint()
            at += n
            yield tag >> 3, data[at - n:at]
        else:
            raise ValueError('wire type %d in a record' % (tag & 7))


def sections(path):
    """the sections of a record: kind, body"""
    data = open(path, 'rb').read()
    at = 0
    while at < len(data):
        kind, size = struct.unpack_from('<IxxxxQ', data, at)
        yield kind, data[at + 16:at + 16 + size]
        at = 2064 if at == 0 else at + 16 + size


def add(pool, desc, seen):
    """adds a ProtoDesc, dependencies first"""
    parts = list(fields(desc))
    for number, v in parts:
        if number == 2:
            add(pool, v, seen)
    file = descriptor_pb2.FileDescriptorProto.FromString(b''.join(v for number, v in parts if number == 1))
    if file.name not in seen:
        seen.add(file.name)
        pool.Add(without_maps(file))


def plain(m):
    if m.DESCRIPTOR.full_name in TIMES:
        if m.seconds and m.nanos and (m.seconds < 0) != (m.nanos < 0) and m.DESCRIPTOR.full_name == TIMES[1]:
            raise ValueError('a duration of %d s and %d ns: protobuf wants one sign' % (m.seconds, m.nanos))
        if not -10**9 < m.nanos < 10**9 or m.nanos < 0 and m.DESCRIPTOR.full_name == TIMES[0]:
            raise ValueError('%d nanos' % m.nanos)
        return Ns(m.seconds * 10**9 + m.nanos)
    out = {}
    for f in m.DESCRIPTOR.fields:
        v = getattr(m, f.name)
        if f.message_type and circular(f.message_type, m.DESCRIPTOR):
            raw = [list(x.SerializeToString(deterministic=True)) for x in (v if f.label == f.LABEL_REPEATED else [v])]
            out[f.name] = raw if f.label == f.LABEL_REPEATED else raw[0]
        elif f.label == f.LABEL_REPEATED:
            out[f.name] = [plain(x) if f.message_type else x for x in v]
        else:
            out[f.name] = plain(v) if f.message_type else v
    return out


def record(job, topics, messages):
    judge, classes, bodies = Judge(job, 'protobuf', topics, messages), {}, []
    for kind, body in sections(job['Path']):
        if kind == 4:
            c = dict(fields(body))
            topic, name = c[1].decode(), c[2].decode()
            try:
                pool = descriptor_pool.DescriptorPool()
                add(pool, c[3], set())
                classes[topic] = message_factory.GetMessageClass(pool.FindMessageTypeByName(name))
            except Exception as e:
                judge.problem('%s (%s): %s: %s' % (topic, name, type(e).__name__, e))
            want = topics.get(topic, {})
            if name != want.get('Proto', want.get('ROS2', '').replace('/', '.')):
                judge.problem('%s is %s, it should be %s' % (topic, name, want))
        elif kind == 2:
            bodies.append(body)
    for body in bodies:
        for _, single in fields(body):
            m = dict(fields(single))
            topic = m[1].decode()
            judge.message(topic, m[2], lambda: plain(classes[topic].FromString(m.get(3, b''))))
    judge.done()


if __name__ == '__main__':
    for job in json.load(open(sys.argv[1])):
        record(job, *load(job['Truth']))
