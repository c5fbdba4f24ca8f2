"""cyberdump.py RECORD...: every message as a line of JSON, as PyPI's cyber_record returns it: all fields, with their
defaults where they are not set. Bytes are [length, sha256]; floats that JSON does not have are strings."""
import hashlib, json, math, sys, warnings
warnings.filterwarnings('ignore')
from cyber_record.record import Record


def number(v):
    return v if not isinstance(v, float) or math.isfinite(v) else repr(v)


def value(f, v, path):
    if f.message_type is not None:
        return dump(v, path)
    if isinstance(v, bytes):
        return [len(v), hashlib.sha256(v).hexdigest()]
    return number(v)


def dump(m, path=()):
    if m.DESCRIPTOR.full_name in path:
        return None
    path += (m.DESCRIPTOR.full_name,)
    out = {}
    for f in m.DESCRIPTOR.fields:
        v = getattr(m, f.name)
        if f.label == f.LABEL_REPEATED and f.message_type is not None and f.message_type.GetOptions().map_entry:
            kv = f.message_type.fields_by_name
            out[f.name] = [{'key': value(kv['key'], k, path), 'value': value(kv['value'], v[k], path)} for k in sorted(v)]
        elif f.label == f.LABEL_REPEATED:
            out[f.name] = [value(f, x, path) for x in v]
        else:
            out[f.name] = value(f, v, path)
            if f.message_type is not None or f.has_presence:
                out.setdefault('?', []).append(f.name) if m.HasField(f.name) else None
    for o in m.DESCRIPTOR.oneofs:
        if len(o.fields) > 1 or not o.name.startswith('_'):
            which = m.WhichOneof(o.name)
            out[o.name + '_case'] = m.DESCRIPTOR.fields_by_name[which].number if which else 0
    return out


for path in sys.argv[1:]:
    with Record(path) as r:
        for topic, m, t in r.read_messages():
            print(json.dumps({'topic': topic, 'time': t, 'type': m.DESCRIPTOR.full_name, 'fields': dump(m)}))
