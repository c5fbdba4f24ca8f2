"""Reads encrypted bags, or writes one: encrypted.py read BAG... | write BAG CODEC USER"""
import json
import sys

import rosbag
import rospy
import std_msgs.msg

if sys.argv[1] == 'write':
    with rosbag.Bag(sys.argv[2], 'w', compression=sys.argv[3], chunk_threshold=2000) as bag:
        bag.set_encryptor('rosbag/AesCbcEncryptor', sys.argv[4])
        for i in range(200):
            bag.write('/chatter', std_msgs.msg.String('hello %d' % i), rospy.Time(1000 + i))
else:
    for path in sys.argv[2:]:
        with rosbag.Bag(path) as bag:
            raw = [(topic, m[1], t.to_nsec()) for topic, m, t in bag.read_messages(raw=True)]
        print(json.dumps({'messages': len(raw), 'bytes': sum(len(m) for _, m, _ in raw),
                          'first': min(t for _, _, t in raw), 'last': max(t for _, _, t in raw),
                          'topics': sorted({topic for topic, _, _ in raw})}))
