"""decode.py BAG [BAG ...]: read bags with Debian's python3-rosbag and decode every message whose type is installed.

One JSON object per bag: {"bag", "messages", "decoded", "types", "problem"}. A message of an installed type must have the
md5sum of the installed class, or the problem says so.
"""
import json, sys
import rosbag, roslib.message

for path in sys.argv[1:]:
    out = dict(bag=path, messages=0, decoded=0, types=0, problem='')
    seen = {}
    try:
        with rosbag.Bag(path) as bag:
            for topic, raw, t in bag.read_messages(raw=True):
                typ, data, md5 = raw[0], raw[1], raw[2]
                out['messages'] += 1
                if typ not in seen:
                    seen[typ] = roslib.message.get_message_class(typ)
                cls = seen[typ]
                if cls is None:
                    continue
                if cls._md5sum != md5:
                    raise ValueError('%s has md5sum %s, installed is %s' % (typ, md5, cls._md5sum))
                cls().deserialize(data)
                out['decoded'] += 1
        out['types'] = sum(c is not None for c in seen.values())
    except Exception as e:
        out['problem'] = '%s: %s' % (type(e).__name__, e)
    print(json.dumps(out), flush=True)
