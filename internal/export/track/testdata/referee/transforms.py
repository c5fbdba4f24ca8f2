"""Asks tf2's BufferCore what was asked of track.Buffer, and compares the answers.

stdin has lines of JSON, a world each: {"cache": ns, "set": [[parent, child, time, [7 numbers], static], ...],
"ask": [[target, source, time, answer], ...]}; an answer is a list of a time and 7 numbers, or the kind of an error.
Quaternions are x, y, z, w, and times are ns, small enough for float64: the binding goes through that.
"""
import json
import os
import sys

import rospy
import tf2_py
from geometry_msgs.msg import TransformStamped

os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # tf2 writes about each transform that it refuses
KINDS = [
    (tf2_py.InvalidArgumentException, "name"),
    (tf2_py.LookupException, "lookup"),  # an unknown frame, or a loop
    (tf2_py.ConnectivityException, "connection"),
    (tf2_py.ExtrapolationException, "extrapolation"),
]


def stamp(ns):
    return rospy.Time(ns // 10**9, ns % 10**9)


def transform(parent, child, time, numbers):
    m = TransformStamped()
    m.header.frame_id, m.child_frame_id, m.header.stamp = parent, child, stamp(time)
    t, r = m.transform.translation, m.transform.rotation
    t.x, t.y, t.z, r.x, r.y, r.z, r.w = numbers
    return m


def ask(core, target, source, time):
    try:
        m = core.lookup_transform_core(target, source, stamp(time))
    except tf2_py.TransformException as e:
        return next(kind for type_, kind in KINDS if isinstance(e, type_)), str(e)
    t, r = m.transform.translation, m.transform.rotation
    return [m.header.stamp.to_nsec(), t.x, t.y, t.z, r.x, r.y, r.z, r.w], None


def same(ours, theirs):
    if isinstance(ours, str) or isinstance(theirs, str):
        return ours == theirs
    return ours[0] == theirs[0] and all(abs(a - b) <= 1e-9 * max(1, abs(b)) for a, b in zip(ours[1:], theirs[1:]))


sets = asks = answers = 0
for number, line in enumerate(sys.stdin):
    world = json.loads(line)
    core = tf2_py.BufferCore(rospy.Duration(world["cache"] // 10**9, world["cache"] % 10**9))
    for parent, child, time, numbers, static in world["set"]:
        insert = core.set_transform_static if static else core.set_transform
        insert(transform(parent, child, time, numbers), "test")  # does not tell whether it took it
        sets += 1
    for target, source, time, ours in world["ask"]:
        theirs, text = ask(core, target, source, time)
        if not same(ours, theirs):
            sys.exit(print(f"world {number}: {source} in {target} at {time}: ours {ours}, tf2's {theirs} {text}"))
        asks += 1
        answers += not isinstance(theirs, str)
print("compared", sets, asks, answers)
