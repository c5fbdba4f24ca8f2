"""ros2.py ROS1.json OUTDIR: write OUTDIR/data/types.txt and OUTDIR/testdata/{md5,rihs01}.txt.

types.txt holds each distinct definition once: a line "== NAME DISTRO..." and the text.
"""
import collections, json, sys
from rosbags.interfaces import Nodetype
from rosbags.typesys import Stores, get_typestore

ros1, out = json.load(open(sys.argv[1])), sys.argv[2]
DISTROS = [(Stores.ROS2_FOXY, 'foxy'), (Stores.ROS2_GALACTIC, 'galactic'), (Stores.ROS2_HUMBLE, 'humble'),
           (Stores.ROS2_IRON, 'iron'), (Stores.ROS2_JAZZY, 'jazzy'), (Stores.ROS2_KILTED, 'kilted')]
TIME = {'builtin_interfaces/msg/Time': 'time', 'builtin_interfaces/msg/Duration': 'duration'}


def spell(desc, ros2):
    kind, arg = desc
    if kind == Nodetype.BASE:
        name, bound = arg
        name = {'octet': 'byte'}.get(name, name)
        return name + ('<=%d' % bound if bound else '')
    if kind == Nodetype.NAME:
        if not ros2 and arg in TIME:
            return TIME[arg]
        return arg.replace('/msg/', '/')
    inner, n = arg
    return spell(inner, ros2) + ('[%d]' % n if kind == Nodetype.ARRAY else '[<=%d]' % n if n else '[]')


def text(store, name, ros2):
    consts, fields = store.fielddefs[name]
    lines = []
    for cname, ctype, value in consts:
        if isinstance(value, bool):
            value = str(value).lower() if ros2 else str(value)
        elif isinstance(value, str) and ros2:
            value = '"%s"' % value.replace('\\', '\\\\').replace('"', '\\"')
        lines.append('%s %s=%s' % ({'octet': 'byte'}.get(ctype, ctype), cname, value))
    for fname, desc in fields:
        if fname != 'structure_needs_at_least_one_member':
            lines.append('%s %s' % (spell(desc, ros2), fname.rstrip('_') if fname.rstrip('_') in KEYWORDS else fname))
    return '\n'.join(lines)


import keyword
KEYWORDS = set(keyword.kwlist)

types = collections.OrderedDict()                                   # (name, text) -> distros
md5, rihs = [], []
for name, (body, sum_) in sorted(ros1.items()):
    types[name, body] = ['noetic']
    md5.append('%s %s' % (name, sum_))
types['uuid_msgs/UniqueID', 'uint8[16] uuid'] = ['noetic']
store = get_typestore(Stores.ROS1_NOETIC)
for full in sorted(store.fielddefs):
    name = full.replace('/msg/', '/')
    if name not in ros1 and not name.startswith('builtin_interfaces/'):
        types[name, text(store, full, False)] = ['noetic']
        md5.append('%s %s' % (name, store.generate_msgdef(full, ros_version=1)[1]))


def has_char(store, name):
    """rosbags hashes the char of .msg as that of .idl: its hash of such types is not ours"""
    def walk(desc):
        kind, arg = desc
        return arg[0] == 'char' if kind == Nodetype.BASE else has_char(store, arg) if kind == Nodetype.NAME else walk(arg[0])
    return any(walk(d) for _, d in store.fielddefs[name][1])


for which, distro in DISTROS:
    store = get_typestore(which)
    for name in sorted(store.fielddefs):
        types.setdefault((name, text(store, name, True)), []).append(distro)
        if not has_char(store, name):
            rihs.append('%s %s %s' % (distro, name, store.hash_rihs01(name)))
with open(out + '/data/types.txt', 'w') as f:
    for (name, body), distros in sorted(types.items()):
        f.write('== %s %s\n' % (name, ' '.join(distros)) + (body + '\n' if body else ''))
    f.write(open('extra.txt').read())                               # test_msgs, by hand: no store has them
open(out + '/testdata/md5.txt', 'w').write('\n'.join(sorted(md5)) + '\n')
open(out + '/testdata/rihs01.txt', 'w').write('\n'.join(sorted(rihs)) + '\n')
