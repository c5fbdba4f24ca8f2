"""Definitions of messages, read, hashed and decoded by a small implementation of its own: after ros/genmsg (msg_loader,
gentools), ros2/rosidl (rosidl_adapter parser.py, rosidl_generator_type_description) and the CDR of OMG DDS-XTypes."""
import hashlib, json, re, struct

from truth import Ns

PRIMITIVES = {'bool': '?', 'int8': 'b', 'uint8': 'B', 'byte': 'B', 'char': 'B', 'int16': 'h', 'uint16': 'H', 'int32': 'i', 'uint32': 'I',
              'int64': 'q', 'uint64': 'Q', 'float32': 'f', 'float64': 'd'}
TYPE_ID = {'int8': 2, 'uint8': 3, 'char': 3, 'int16': 4, 'uint16': 5, 'int32': 6, 'uint32': 7, 'int64': 8, 'uint64': 9, 'float32': 10,
           'float64': 11, 'bool': 15, 'byte': 16, 'string': 17, 'wstring': 18}
TIMES = ('builtin_interfaces/Time', 'builtin_interfaces/Duration')
FIELD = re.compile(r'^([A-Za-z]\w*(?:/\w+)*)(?:<=(\d+))?(\[(<=)?(\d*)\])?$')


class Definition:
    """types by pkg/Name: (constants [(type, name, raw text)], fields [(base, bound, array, length, name)])"""

    def __init__(self, name, text, ros):
        self.root, self.ros, self.types = short(name), ros, {}
        blocks = re.split(r'^={80}\n', text, flags=re.M)
        self.add(self.root, blocks[0])
        for block in blocks[1:]:
            head, _, body = block.partition('\n')
            if not head.startswith('MSG: '):
                raise ValueError('a block begins with %.40r' % head)
            self.add(short(head[5:].strip()), body)
        used = {self.root}
        self.visit(self.root, used)
        if unused := self.types.keys() - used:
            raise ValueError('types that nothing uses: %s' % sorted(unused))

    def add(self, name, text):
        if name in self.types:
            raise ValueError('%s is defined twice' % name)
        constants, fields = [], []
        for line in text.split('\n'):
            clean = line.split('#')[0].strip()
            if not clean:
                continue
            word, rest = clean.split(None, 1)
            m = re.match(r'^(\w+)\s*=', rest)
            if m:
                raw = (line if word in ('string', 'wstring') and self.ros == 1 else clean).split('=', 1)[1].strip()
                constants.append((word, m[1], raw))
                continue
            base, bound, array, upto, length = FIELD.match(word).groups()
            if base not in PRIMITIVES and base not in ('string', 'wstring') and not (self.ros == 1 and base in ('time', 'duration')):
                base = 'std_msgs/Header' if base == 'Header' else short(base) if '/' in base else name.split('/')[0] + '/' + base
            form = 'single' if not array else 'list' if not length else 'bounded' if upto else 'fixed'
            fields.append((base, int(bound or 0), form, int(length or 0), rest.split()[0]))
        self.types[name] = constants, fields

    def visit(self, name, used):
        for base, *_ in self.types[name][1]:
            if '/' in base:
                if base not in self.types:
                    raise ValueError('%s is used and not defined' % base)
                if base not in used:
                    used.add(base)
                    self.visit(base, used)

    def md5(self, name=None):
        constants, fields = self.types[name or self.root]
        lines = ['%s %s=%s' % c for c in constants]
        for base, bound, form, length, field in fields:
            suffix = {'single': '', 'fixed': '[%d]' % length}.get(form, '[]')
            lines.append('%s %s' % (self.md5(base), field) if '/' in base else '%s%s %s' % (base, suffix, field))
        return hashlib.md5('\n'.join(lines).strip().encode()).hexdigest()

    def rihs01(self):
        def describe(name):
            fields = self.types[name][1] or [('uint8', 0, 'single', 0, 'structure_needs_at_least_one_member')]
            return {'type_name': long(name, self.root), 'fields': [{'name': field, 'type': {
                'type_id': (1 if '/' in base else TYPE_ID[base] + (4 if bound else 0)) + {'single': 0, 'fixed': 48, 'bounded': 96, 'list': 144}[form],
                'capacity': length, 'string_capacity': bound, 'nested_type_name': long(base, self.root) if '/' in base else ''}}
                for base, bound, form, length, field in fields]}
        others = sorted(self.types.keys() - {self.root}, key=lambda n: long(n, self.root))
        text = json.dumps({'type_description': describe(self.root), 'referenced_type_descriptions': [describe(n) for n in others]})
        return 'RIHS01_' + hashlib.sha256(text.encode()).hexdigest()

    def decode(self, data):
        c = Cursor(data, self)
        value = c.message(self.root)
        if c.at != len(data):
            raise ValueError('%d of %d bytes were decoded' % (c.at, len(data)))
        return value


class Cursor:
    def __init__(self, data, definition):
        self.data, self.d, self.cdr = data, definition, definition.ros == 2
        self.at = self.base = 0
        if self.cdr:
            if data[:2] != b'\0\1':
                raise ValueError('CDR representation %s' % data[:4].hex())
            self.at = self.base = 4

    def number(self, code, size):
        if self.cdr:
            pad = -(self.at - self.base) % size
            if any(self.data[self.at:self.at + pad]):
                raise ValueError('padding that is not zero')
            self.at += pad
        v, = struct.unpack_from('<' + code, self.data, self.at)
        if code == '?' and self.cdr and self.data[self.at] > 1:
            raise ValueError('a bool of %d' % self.data[self.at])
        self.at += size
        return v

    def take(self, n):
        if n > len(self.data) - self.at:
            raise ValueError('the message is too short')
        self.at += n
        return self.data[self.at - n:self.at]

    def message(self, name):
        fields = self.d.types[name][1]
        if not fields and self.cdr:
            self.number('B', 1)
        if name in TIMES:
            return Ns(self.number('i', 4) * 10**9 + self.number('I', 4))
        out = {}
        for base, bound, form, length, field in fields:
            if form == 'single':
                out[field] = self.value(base, bound)
                continue
            n = length if form == 'fixed' else self.number('I', 4)
            if form == 'bounded' and n > length:
                raise ValueError('%d values in %s, which is bounded' % (n, field))
            out[field] = [self.value(base, bound) for _ in range(n)]
        return out

    def value(self, base, bound):
        if code := PRIMITIVES.get(base):
            return self.number(code, struct.calcsize('<' + code))
        if base in ('time', 'duration'):
            word = 'I' if base == 'time' else 'i'
            return Ns(self.number(word, 4) * 10**9 + self.number(word, 4))
        if '/' in base:
            return self.message(base)
        n = self.number('I', 4)
        if base == 'wstring':                                      # UTF-16 in units of four bytes, as the ROS 2 stacks write it
            units = [self.number('I', 4) for _ in range(n)]
            text, size = struct.pack('<%dH' % n, *units).decode('utf-16-le'), n
        else:
            raw = self.take(n)
            if self.cdr:
                if raw[-1:] != b'\0':
                    raise ValueError('a string without its NUL')
                raw = raw[:-1]
            text, size = raw.decode(), len(raw)
        if self.cdr and bound and size > bound:
            raise ValueError('a string of %d in a bound of %d' % (size, bound))
        return text


def short(name):
    return name.replace('/msg/', '/')


def full(name):
    return name if name.count('/') == 2 else name.replace('/', '/msg/')


def long(name, root):
    """the full name of a type that the definition of root has, where parts of a service have two words"""
    pkg, folder, service = full(root).split('/')
    service = re.sub(r'(_SendGoal_Event|_GetResult_Event|_Event|_FeedbackMessage)$', '', service)
    return '%s/%s/%s' % (pkg, folder, name.split('/')[1]) if folder != 'msg' and name.startswith('%s/%s_' % (pkg, service)) else full(name)
