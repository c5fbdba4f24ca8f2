"""compare.py A B [A B ...]: decode two recordings of the same drive with PyPI's rosbags and compare them field by field.

One JSON object per pair: {"a", "b", "messages", "equal", "skipped", "problem"}. `skipped` says why rosbags cannot read one
side at all (damaged files, types without definition); `problem` is the first difference. NaN equals NaN. Left aside, as
docs/mapping.md says: Header.seq, the case of field names, fields that only one side has when the type differs by
design, and topics that are only in A and whose type rosbags does not know.
"""
import json, math, sys, warnings
from pathlib import Path
import numpy as np
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_typestore
warnings.filterwarnings('ignore')

# types that get or lose fields between ROS 1 and ROS 2
LEVELS = {10: 1, 20: 2, 30: 4, 40: 8, 50: 16}                     # rcl_interfaces/Log -> rosgraph_msgs/Log
BY_DESIGN = ('Marker', 'MarkerArray', 'Range', 'SolidPrimitive', 'Log')


def fields(m):
    names = (f for f in m.__dataclass_fields__ if not hasattr(type(m), f))          # constants stand in the class
    return {f.lower(): getattr(m, f) for f in names if f not in ('__msgtype__', 'seq', 'structure_needs_at_least_one_member')}


def diff(a, b, path, loose):
    """-> None, or where and how a and b differ"""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        a, b = np.asarray(a), np.asarray(b)
        if len(a) == len(b) and (a.dtype.kind == 'O' or b.dtype.kind == 'O'):
            return next((d for i, (x, y) in enumerate(zip(a, b)) if (d := diff(x, y, f'{path}[{i}]', loose))), None)
        same = a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind == 'f' and b.dtype.kind == 'f')
        return None if same else f'{path}: arrays differ'
    if hasattr(a, '__dataclass_fields__') and hasattr(b, '__dataclass_fields__'):
        fa, fb = fields(a), fields(b)
        if len(fa) == 1 and len(fb) == 2 and 'data' in fa:          # std_msgs/Time, Duration
            fa = fields(fa['data'])
        if len(fb) == 1 and len(fa) == 2 and 'data' in fb:
            fb = fields(fb['data'])
        if fa.keys() != fb.keys() and not loose:
            return f'{path}: fields {sorted(fa)} and {sorted(fb)}'
        if loose and fb.get('level') == LEVELS.get(fa.get('level')) and 'line' in fa:
            fa['level'] = fb['level']
        return next((d for k in fa if k in fb and (d := diff(fa[k], fb[k], f'{path}.{k}', loose))), None)
    if isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            return f'{path}: {len(a)} and {len(b)} values'
        return next((d for i, (x, y) in enumerate(zip(a, b)) if (d := diff(x, y, f'{path}[{i}]', loose))), None)
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b):
        return None
    return None if a == b else f'{path}: {a!r} and {b!r}'


def read(path):
    store = Stores.ROS1_NOETIC if path.suffix in ('.bag', '.active', '.off') else Stores.ROS2_HUMBLE
    with AnyReader([path], default_typestore=get_typestore(store)) as r:
        return [(t, c.topic.strip('/'), c.msgtype, r.deserialize(d, c.msgtype)) for c, t, d in r.messages()]


for pa, pb in zip(sys.argv[1::2], sys.argv[2::2]):
    out = dict(a=pa, b=pb, messages=0, equal=False, skipped='', problem='')
    try:
        A = read(Path(pa))
    except Exception as e:
        out['skipped'] = f'{type(e).__name__}: {e}'[:200]
    else:
        try:
            B = read(Path(pb))
            A.sort(key=lambda x: x[:2])
            B.sort(key=lambda x: x[:2])
            out['messages'] = len(A)
            if len(A) != len(B):
                out['problem'] = f'{len(A)} and {len(B)} messages'
            for x, y in zip(A, B):
                if out['problem']:
                    break
                loose = any(x[2].endswith('/' + n) for n in BY_DESIGN)
                if x[:2] != y[:2]:
                    out['problem'] = f'{x[:3]} and {y[:3]}'
                elif d := diff(x[3], y[3], x[1], loose):
                    out['problem'] = d
            out['equal'] = not out['problem']
        except Exception as e:
            out['problem'] = f'{type(e).__name__}: {e}'[:200]
    print(json.dumps(out), flush=True)
