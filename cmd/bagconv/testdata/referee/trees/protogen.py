"""protogen.py SEED TYPES FOLDER: writes p.record, a Cyber record of random proto2 types and messages, made and serialized by
Python's protobuf; truth, what each message is in ROS by the rules of docs/mapping.md; and truth.proto, what it is in
protobuf, with the default of each field that is not set."""
import json, random, re, struct, sys

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from truth import canonical, circular, without_maps

F = descriptor_pb2.FieldDescriptorProto
INTS = {F.TYPE_INT32: 32, F.TYPE_INT64: 64, F.TYPE_UINT32: -32, F.TYPE_UINT64: -64, F.TYPE_SINT32: 32, F.TYPE_SINT64: 64,
        F.TYPE_FIXED32: -32, F.TYPE_FIXED64: -64, F.TYPE_SFIXED32: 32, F.TYPE_SFIXED64: 64}
SCALARS = [*INTS, F.TYPE_DOUBLE, F.TYPE_FLOAT, F.TYPE_BOOL, F.TYPE_STRING, F.TYPE_STRING, F.TYPE_BYTES]
NAMES = ['x', 'y', 'speed', 'header', 'data', 'value', 'Throttle__510', 'L2Pdataflag', 'D', 'position', 'time_stamp', 'frameId', 'status']
TEXTS = ['', 'a', 'base_link', 'Grüße 🤖', 'x' * 130, 'line\nbreak', 'nul\0inside']


class Generator:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.files = []                                # FileDescriptorProto, dependencies first
        self.messages = []                             # full name, index of its file; those that others may use
        self.nodes = []                                # of the tree of files that a channel of each file has

    def file(self, n):
        f = descriptor_pb2.FileDescriptorProto(name='modules/p%d/f%d.proto' % (n % 3, n), package='rand.p%d' % (n % 3), syntax='proto2')
        m = f.message_type.add(name=self.r.choice(['State', 'Object', 'Brake_rpt_%d', 'Msg%d']).replace('%d', str(n)))
        m.name += '' if str(n) in m.name else str(n)
        full = f.package + '.' + m.name
        e = m.enum_type.add(name='Kind')
        for i, number in enumerate([0, 1, -5, 2**31 - 1][:self.r.randint(1, 4)]):
            e.value.add(name='KIND_%d_%d' % (n, i), number=number)
        inner = m.nested_type.add(name='Inner')
        self.fields(f, inner, full + '.Inner', n, [], self.r.randint(0, 3))
        self.fields(f, m, full, n, [full + '.Inner', full + '.Inner', full], self.r.randint(1, 8))
        self.nodes.append(1 + sum(self.nodes[i] for i, d in enumerate(self.files) if d.name in f.dependency))
        self.files.append(f)
        if self.nodes[n] < 10:
            self.messages.append((full, n))
        return full

    def fields(self, f, m, full, n, own, count):
        number = 0
        one = m.oneof_decl.add(name='choice') if own and self.r.random() < 0.3 else None
        for i in range(count + 2 * bool(one)):
            number += self.r.choice([1, 1, 1, 20, 3000])
            name = '%s_%d' % (self.r.choice(NAMES), i)
            p = m.field.add(name=name, number=number, label=self.r.choice([F.LABEL_OPTIONAL] * 4 + [F.LABEL_REPEATED] * 2))
            kind, member = self.r.random(), one and i >= count
            if member:
                p.label, p.oneof_index = F.LABEL_OPTIONAL, 0
            if kind < 0.25 and (own or self.messages):
                p.type = F.TYPE_MESSAGE
                of, at = self.r.choice([(o, n) for o in own] + self.messages[-12:])
                p.type_name = '.' + of
                if at != n and self.files[at].name not in f.dependency:
                    f.dependency.append(self.files[at].name)
            elif kind < 0.33 and own:
                p.type, p.type_name = F.TYPE_ENUM, '.' + full + '.Kind'
            elif kind < 0.4 and own and not member:
                entry = m.nested_type.add(name=''.join(w[:1].upper() + w[1:] for w in name.split('_')) + 'Entry')
                entry.options.map_entry = True
                entry.field.add(name='key', number=1, label=1, type=self.r.choice([F.TYPE_INT32, F.TYPE_STRING, F.TYPE_UINT64]))
                entry.field.add(name='value', number=2, label=1, type=self.r.choice(SCALARS))
                p.label, p.type, p.type_name = F.LABEL_REPEATED, F.TYPE_MESSAGE, '.' + full + '.' + entry.name
            else:
                p.type = self.r.choice([t for t in SCALARS if t != F.TYPE_BYTES or p.label != F.LABEL_REPEATED])
                if p.label == F.LABEL_REPEATED:
                    if p.type not in (F.TYPE_STRING, F.TYPE_BYTES) and self.r.random() < 0.5:
                        p.options.packed = True
                elif self.r.random() < 0.3:
                    self.default(p)

    def default(self, p):
        if p.type in (F.TYPE_DOUBLE, F.TYPE_FLOAT):
            p.default_value = self.r.choice(['nan', '-inf', '1.5', '-0.25'])
        elif p.type == F.TYPE_BOOL:
            p.default_value = 'true'
        elif p.type == F.TYPE_STRING:
            p.default_value = 'a default'
        elif p.type in INTS:
            p.default_value = self.r.choice(['7', '100000'])

    def fill(self, m, depth=0):
        for f in m.DESCRIPTOR.fields:
            if self.r.random() < 0.3 or depth > 4 and f.message_type:
                continue
            if f.message_type and f.message_type.GetOptions().map_entry:
                key, value = f.message_type.fields
                for _ in range(self.r.randint(0, 3)):
                    getattr(m, f.name)[self.scalar(key)] = self.scalar(value)
            elif f.message_type:
                one = f.label == f.LABEL_REPEATED
                for _ in range(self.r.randint(0, 2) if one else 1):
                    sub = getattr(m, f.name).add() if one else getattr(m, f.name)
                    sub.SetInParent()
                    self.fill(sub, depth + 1)
            elif f.label == f.LABEL_REPEATED:
                getattr(m, f.name).extend(self.scalar(f) for _ in range(self.r.choice([0, 1, 2, 3, 40])))
            else:
                setattr(m, f.name, self.scalar(f))

    def scalar(self, f):
        if bits := INTS.get(f.type):
            low, high = (0, 2**-bits - 1) if bits < 0 else (-2**(bits - 1), 2**(bits - 1) - 1)
            return self.r.choice([0, 1, low, high, self.r.randint(low, high)])
        if f.type == f.TYPE_ENUM:
            return self.r.choice(f.enum_type.values).number
        if f.type == f.TYPE_BOOL:
            return self.r.random() < 0.5
        if f.type == f.TYPE_STRING:
            return self.r.choice(TEXTS)
        if f.type == f.TYPE_BYTES:
            return self.r.randbytes(self.r.choice([0, 1, 200]))
        v = self.r.choice([0.0, -0.0, float('nan'), float('inf'), self.r.uniform(-1e9, 1e9)])
        return struct.unpack('<f', struct.pack('<f', v))[0] if f.type == f.TYPE_FLOAT else v


def leaf(f, v):
    """a single value, not a message, as the truth has it"""
    return ['i%d' % b for b in v] if isinstance(v, bytes) else canonical(v)


def truth(m, ros):
    """a message in the terms of ROS or of protobuf: see docs/mapping.md"""
    out, cased = {}, set()
    for f in sorted(m.DESCRIPTOR.fields, key=lambda f: f.number):
        name = re.sub('[^a-z0-9]+', '_', f.name.lower()) if ros else f.name
        o = f.containing_oneof
        if ros and o and o.name not in cased:
            cased.add(o.name)
            which = m.WhichOneof(o.name)
            out[o.name + '_case'] = 'i%d' % (m.DESCRIPTOR.fields_by_name[which].number if which else 0)
        v = getattr(m, f.name)
        many = f.label == f.LABEL_REPEATED
        if not f.message_type:
            out[name] = [leaf(f, x) for x in v] if many else leaf(f, v)
        elif circular(f.message_type, m.DESCRIPTOR):
            raw = [['i%d' % b for b in x.SerializeToString(deterministic=True)] for x in (v if many else [v])]
            out[name] = [{'data': x} if ros else x for x in raw] if many else raw[0]
        else:
            out[name] = [truth(x, ros) for x in v] if many else truth(v, ros)
    return out


def varint(v):
    out = b''
    while v > 127:
        out += bytes([v & 127 | 128])
        v >>= 7
    return out + bytes([v])


def serialized(**fields):
    """a message of numbered fields f1=..., which are ints, bytes, or lists of bytes"""
    out = b''
    for name, v in fields.items():
        number = int(name[1:])
        for x in v if isinstance(v, list) else [v]:
            out += varint(number << 3 | 2) + varint(len(x)) + x if isinstance(x, bytes) else varint(number << 3) + varint(x)
    return out


def section(kind, body):
    return struct.pack('<IxxxxQ', kind, len(body)) + body


def main(seed, count, folder):
    g = Generator(seed)
    roots = [g.file(n) for n in range(count)]
    pool, in_order = descriptor_pool.DescriptorPool(), descriptor_pool.DescriptorPool()
    for f in g.files:
        pool.Add(f)
        in_order.Add(without_maps(f))
    by_name = {f.name: f for f in g.files}

    def proto_desc(f):
        return serialized(f1=f.SerializeToString(), f2=[proto_desc(by_name[d]) for d in f.dependency])

    channels, messages, topics = [], [], {}
    with open(folder + '/truth', 'w') as ros, open(folder + '/truth.proto', 'w') as proto:
        for i, full in enumerate(roots):
            topics['/p/t%d' % i] = {'Proto': full}
            channels.append((b'/p/t%d' % i, full.encode(), proto_desc(g.files[i])))
        for out in ros, proto:
            out.write(json.dumps(topics) + '\n')
        for k in range(2):
            for i, full in enumerate(roots):
                m = message_factory.GetMessageClass(pool.FindMessageTypeByName(full))()
                g.fill(m)
                time = 1_700_000_000_000_000_000 + len(messages) * 1_000_001
                messages.append((channels[i][0], time, m.SerializeToString()))
                m = message_factory.GetMessageClass(in_order.FindMessageTypeByName(full)).FromString(messages[-1][2])
                for out, is_ros in (ros, True), (proto, False):
                    out.write(json.dumps({'topic': '/p/t%d' % i, 'time': str(time), 'value': truth(m, is_ros)}) + '\n')

    body, index = b'', []
    def put(kind, data, **cache):
        nonlocal body
        index.append(serialized(f1=kind, f2=2064 + len(body), **cache))
        body += section(kind, data)
    for name, typ, desc in channels:
        put(4, serialized(f1=name, f2=typ, f3=desc), f101=serialized(f1=2, f2=name, f3=typ, f4=desc))
    first, last, size = messages[0][1], messages[-1][1], sum(len(m[2]) for m in messages)
    put(1, serialized(f1=first, f2=last, f3=len(messages), f4=size), f102=serialized(f1=len(messages), f2=first, f3=last, f4=size))
    put(2, serialized(f1=[serialized(f1=t, f2=time, f3=data) for t, time, data in messages]), f103=serialized(f1=len(messages)))
    at = 2064 + len(body)
    body += section(3, serialized(f1=index))
    head = section(0, serialized(f1=1, f2=0, f3=0, f4=0, f5=0, f6=at, f7=1, f8=len(channels), f9=first, f10=last, f11=len(messages),
                                 f12=2064 + len(body), f13=1, f14=0, f15=0))
    with open(folder + '/p.record', 'wb') as out:
        out.write(head.ljust(2064, b'\0') + body)


if __name__ == '__main__':
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
