"""cat.py BAGCONV RECORDING [RECORDING ...]: hold `bagconv cat` against PyPI's rosbags, field by field.

Runs BAGCONV cat RECORDING --bytes --arrays, reads its lines as any program in Python would, decodes the same messages with
rosbags and compares each value. One JSON object per recording: {"recording", "messages", "problem"}. messages is 0 for a
recording that rosbags does not open, or whose types it does not read.
"""
import base64, dataclasses, json, math, subprocess, sys, warnings
from pathlib import Path
import numpy as np
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_typestore

warnings.filterwarnings('ignore')


def same(v, j, path):
    """v is from rosbags, j from JSON"""
    if dataclasses.is_dataclass(v):
        for name in (f.name for f in dataclasses.fields(v)):
            constant = name.upper() == name and name not in j
            if name not in ('__msgtype__', 'structure_needs_at_least_one_member') and not constant:
                same(getattr(v, name), j[name], path + '.' + name)
    elif isinstance(v, np.ndarray) and isinstance(j, str):
        assert v.tobytes() == base64.b64decode(j), path
    elif isinstance(v, (list, np.ndarray)):
        assert len(v) == len(j), path
        for i, x in enumerate(v):
            same(x, j[i], '%s[%d]' % (path, i))
    elif isinstance(v, (bool, np.bool_)):
        assert j is bool(v), (path, v, j)
    elif isinstance(v, np.float32):
        assert np.float32(float(j)).tobytes() == v.tobytes() or math.isnan(v) and math.isnan(float(j)), (path, v, j)
    elif isinstance(v, (float, np.floating)):
        # rosbags gives float32 as a float of Python
        assert float(j) == v or np.float32(float(j)) == np.float32(v) or math.isnan(v) and math.isnan(float(j)), (path, v, j)
    elif isinstance(v, (int, np.integer)):
        assert int(j) == v, (path, v, j)
    else:
        assert v == j, (path, v, j)


def check(exe, path):
    out = dict(recording=path, messages=0, problem='')
    p = subprocess.run([exe, 'cat', path, '--bytes', '--arrays'], capture_output=True)
    lines, last = {}, -1 << 63
    for line in p.stdout.decode().split('\n')[:-1]:
        o = json.loads(line)
        assert last <= int(o['time']), 'out of order'
        last = int(o['time'])
        lines.setdefault((o['topic'], last), []).append(o['fields'])
    try:
        reader = AnyReader([Path(path)], default_typestore=get_typestore(Stores.ROS2_HUMBLE))
        reader.open()
    except Exception:
        return out
    for c, t, raw in reader.messages():
        try:
            m = reader.deserialize(raw, c.msgtype)
        except Exception:
            continue
        found, why = lines.get((c.topic, t), []), 'there is no line for it'
        for i, fields in enumerate(found):
            try:
                same(m, fields, c.topic)
                found.pop(i)
                out['messages'] += 1
                why = ''
                break
            except (AssertionError, KeyError) as e:
                why = repr(e)
        if why and not out['problem']:
            out['problem'] = 'time %d: %s' % (t, why)
    reader.close()
    if p.returncode not in (0, 3):
        out['problem'] = p.stderr.decode()
    return out


for path in sys.argv[2:]:
    print(json.dumps(check(sys.argv[1], path)), flush=True)
