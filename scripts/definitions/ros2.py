"""ros2.py ROS1.json OUTDIR: write OUTDIR/data/types.txt and OUTDIR/testdata/{md5,rihs01}.txt.

types.txt holds each distinct definition once: a line "== NAME DISTRO..." and the text. The type hashes are rosbags', with
two numbers put right: the char of .msg is a uint8, and wstring is missing there.
"""
import hashlib
import json
import keyword
import re
import sys

from rosbags.interfaces import Nodetype
from rosbags.typesys import Stores, get_typestore, store as rosbags_store

rosbags_store.TIDMAP.update(char=3, wstring=18)

DISTROS = {'foxy': Stores.ROS2_FOXY, 'galactic': Stores.ROS2_GALACTIC, 'humble': Stores.ROS2_HUMBLE,
           'iron': Stores.ROS2_IRON, 'jazzy': Stores.ROS2_JAZZY, 'kilted': Stores.ROS2_KILTED}
WITH_EVENTS = ('iron', 'jazzy', 'kilted')                           # service introspection came with Iron
WORDS = 'bool byte char float32 float64 int8 uint8 int16 uint16 int32 uint32 int64 uint64 string wstring'.split()
EVENT = 'service_msgs/ServiceEventInfo info\n{0}_Request[<=1] request\n{0}_Response[<=1] response'
UUID, TIME = 'unique_identifier_msgs/UUID', 'builtin_interfaces/Time'


def spell(desc):
    """A field's type in .msg text."""
    kind, arg = desc
    if kind == Nodetype.BASE:
        name, bound = arg
        return {'octet': 'byte'}.get(name, name) + ('<=%d' % bound if bound else '')
    if kind == Nodetype.NAME:
        return arg.replace('/msg/', '/')
    inner, n = arg
    return spell(inner) + ('[%d]' % n if kind == Nodetype.ARRAY else '[<=%d]' % n if n else '[]')


def text(store, name):
    """The .msg text of a type in a store."""
    consts, fields = store.fielddefs[name]
    lines = []
    for cname, ctype, value in consts:
        if isinstance(value, bool):
            value = str(value).lower()
        elif isinstance(value, str):
            value = '"%s"' % value.replace('"', '\\"')
        lines.append('%s %s=%s' % ({'octet': 'byte'}.get(ctype, ctype), cname, value))
    for fname, desc in fields:
        if fname != 'structure_needs_at_least_one_member':
            plain = fname.rstrip('_')                               # rosbags marks Python's keywords so
            lines.append('%s %s' % (spell(desc), plain if plain in keyword.kwlist else fname))
    return '\n'.join(lines)


def describe(word, pkg):
    """The other way of spell."""
    base, bound, array, upto, n = re.fullmatch(r'([\w/]+)(?:<=(\d+))?(\[(<=)?(\d*)\])?', word).groups()
    if base in WORDS:
        desc = (Nodetype.BASE, (base, int(bound or 0)))
    else:
        parts = base.split('/')
        desc = (Nodetype.NAME, base if len(parts) == 3 else '/msg/'.join(parts) if len(parts) == 2 else pkg + '/msg/' + base)
    if array:
        desc = (Nodetype.ARRAY if n and not upto else Nodetype.SEQUENCE, (desc, int(n or 0)))
    return desc


def fielddefs(name, body):
    fields = [line.split() for line in body.splitlines() if '=' not in line.replace('<=', '')]
    pairs = [(f[1], describe(f[0], name.split('/')[0])) for f in fields]
    return [], pairs or [('structure_needs_at_least_one_member', (Nodetype.BASE, ('uint8', 0)))]


def blocks(path):
    for block in open(path).read().split('== ')[1:]:
        head, _, body = block.partition('\n')
        yield head.split()[0], head.split()[1:], body


def expand(name, distros, body):
    """The messages that rosidl makes of a service or an action (rosidl_parser definition.py)."""
    parts = [p.strip('\n') for p in re.split(r'^---$', body, flags=re.M)]

    def service(base, request, response):
        yield base + '_Request', distros, request
        yield base + '_Response', distros, response
        yield base + '_Event', [d for d in distros if d in WITH_EVENTS], EVENT.format(base)
    if len(parts) == 2:
        yield from service(name, *parts)
        return
    for part, words in zip(('Goal', 'Result', 'Feedback'), parts):
        yield '%s_%s' % (name, part), distros, words
    yield from service(name + '_SendGoal', '%s goal_id\n%s_Goal goal' % (UUID, name), 'bool accepted\n%s stamp' % TIME)
    yield from service(name + '_GetResult', '%s goal_id' % UUID, 'int8 status\n%s_Result result' % name)
    yield name + '_FeedbackMessage', distros, '%s goal_id\n%s_Feedback feedback' % (UUID, name)


ros1, out = json.load(open(sys.argv[1])), sys.argv[2]
types = {}                                                          # (name, text) -> distros
md5 = ['%s %s' % (name, md5sum) for name, (_, md5sum) in ros1.items()]
for name, (body, _) in ros1.items():
    types[name, body] = ['noetic']
types['uuid_msgs/UniqueID', 'uint8[16] uuid'] = ['noetic']          # no Debian package has it
md5.append('uuid_msgs/UniqueID ' + hashlib.md5(b'uint8[16] uuid').hexdigest())

stores = {}
for distro, which in DISTROS.items():
    store = stores[distro] = get_typestore(which)
    for name in store.fielddefs:
        types.setdefault((name, text(store, name)), []).append(distro)
more = [(name, distros, body.strip('\n')) for path in ('extra.txt', 'packages.txt')           # no store has these
        for name, distros, body in blocks(path) if distros != ['noetic']]
for name, distros, body in blocks('services.txt'):
    more += expand(name, distros, body)
for name in list(stores['kilted'].fielddefs):                       # example_interfaces has std_msgs' again
    pkg, _, short = name.split('/')
    if pkg == 'std_msgs' and short not in ('Header', 'ColorRGBA'):
        more.append(('example_interfaces/msg/' + short, list(DISTROS), text(stores['kilted'], name).replace('std_msgs/', 'example_interfaces/')))
for name, distros, body in more:
    types.setdefault((name, body), []).extend(distros)
    for distro in distros:
        stores[distro].fielddefs[name] = fielddefs(name, body)

rihs = {}                                                           # (name, hash) -> distros
for distro, store in stores.items():
    for name in store.fielddefs:
        rihs.setdefault((name, store.hash_rihs01(name)), []).append(distro)
with open(out + '/data/types.txt', 'w') as f:
    for (name, body), distros in sorted(types.items()):
        f.write('== %s %s\n' % (name, ' '.join(distros)) + (body + '\n' if body else ''))
open(out + '/testdata/md5.txt', 'w').write('\n'.join(sorted(md5)) + '\n')
open(out + '/testdata/rihs01.txt', 'w').writelines('%s %s %s\n' % (*key, ' '.join(rihs[key])) for key in sorted(rihs))
