"""Edits of frames and transforms: prints the flags as a line of JSON, reads the name of the bag that bagconv has made,
and compares its frames with the frames that a plain loop has changed, and what tf2 answers about both.

    frames.py BAG...

It reads by Debian's rosbag and asks tf2's BufferCore; it shares nothing with bagconv.
"""

import fnmatch
import json
import os
import random
import sys

import genpy
import rosbag
import tf2_py
from geometry_msgs.msg import TransformStamped
from tf2_msgs.msg import TFMessage

os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # tf2 writes about each transform that it refuses


def messages(path):
    with rosbag.Bag(path) as bag:
        if sum(t.message_count for t in bag.get_type_and_topic_info().topics.values()) > 3000:
            return []
        return [(topic, message) for topic, message, _ in bag.read_messages()]


def began(path):
    with rosbag.Bag(path) as bag:
        return min((t for _, _, t in bag.read_messages(raw=True)), key=lambda t: t.to_nsec())


def walk(message, change):
    """Gives all frames of a message to change, and sets what it returns."""
    if isinstance(message, (list, tuple)):
        for m in message:
            walk(m, change)
    elif isinstance(message, genpy.Message):
        for name in message.__slots__:
            value = getattr(message, name)
            if isinstance(value, str) and name in ("frame_id", "child_frame_id", "parent_frame_id"):
                setattr(message, name, change(value))
            elif isinstance(value, (list, tuple, genpy.Message)):
                walk(value, change)


def transforms(found):
    return [(topic, t) for topic, m in found if topic.lstrip("/") in ("tf", "tf_static") for t in m.transforms]


def answers(found):
    """What tf2 knows: its tree, and the poses between all frames at a few times."""
    core = tf2_py.BufferCore(genpy.Duration(10**6))
    list_ = transforms(found)
    for topic, t in list_:
        try:
            (core.set_transform_static if topic.endswith("static") else core.set_transform)(t, "test")
        except tf2_py.TransformException:
            pass
    names = sorted({n for _, t in list_ for n in (t.header.frame_id, t.child_frame_id)})[:8]
    out = [sorted(core.all_frames_as_string().split("\n"))]
    for time in [genpy.Time(0)] + [t.header.stamp for _, t in list_[:: max(len(list_) // 3, 1)]]:
        for a in names:
            for b in names:
                try:
                    out.append(str(core.lookup_transform_core(a, b, time).transform))
                except tf2_py.TransformException as e:
                    out.append(type(e).__name__)
    return out


def static(rng, found, at):
    """The same for transforms that are added to /tf_static, or gathered there."""
    new = TransformStamped()
    new.header.stamp, new.header.frame_id, new.child_frame_id = at, "some_parent", "new_child"
    names = [t.child_frame_id for topic, t in transforms(found) if topic == "/tf_static"]
    if names and rng.randrange(2) == 0:
        new.child_frame_id = rng.choice(names)
    r = new.transform.rotation
    r.x, r.y, r.z = 0.0, 0.0, 0.0
    new.transform.translation.x, new.transform.translation.z, new.transform.rotation.w = 0.5, -2.0, 1.0
    new.transform.translation.y = 0.0
    flags = ["--static", f"some_parent {new.child_frame_id} 0.5 0 -2 0 0 0 1"]
    if new.child_frame_id.startswith("/") or " " in new.child_frame_id:
        return edit(rng, found)
    if rng.randrange(2) == 0:
        return flags, [("/tf_static", TFMessage([new]))] + found, 0
    last = {}
    for topic, t in transforms(found):
        if topic == "/tf_static":
            last[t.child_frame_id] = t
    last[new.child_frame_id] = new
    rest = [(topic, m) for topic, m in found if topic != "/tf_static"]
    return flags + ["--static-once"], [("/tf_static", TFMessage(list(last.values())))] + rest, 0


def edit(rng, found):
    """Flags, the loop's messages, and how many frames and transforms it has changed."""
    edges = sorted({(t.header.frame_id, t.child_frame_id) for _, t in transforms(found)})
    parent, child = rng.choice(edges)
    old, new = rng.choice([parent, child]), "renamed/frame"
    flags, strip, counts = [], rng.randrange(2) == 0, {"changed": 0}
    drop = rng.choice([None, (parent, child), ("*", child), (parent, "*")])
    if strip:
        flags += ["--strip-frame-slash"]
        old = old.lstrip("/")
    flags += ["--frame", f"{old}:={new}"]
    if drop and not any(" " in w or "[" in w for w in drop):
        flags += ["--drop-tf", " ".join(drop)]
    else:
        drop = None

    def change(name):
        if strip and name.startswith("/"):
            name = name.lstrip("/")
            counts["changed"] += 1
        if name == old:
            counts["changed"] += 1
            return new
        return name

    out = []
    for topic, m in found:
        if drop and topic.lstrip("/") in ("tf", "tf_static"):
            def gone(t):
                return fnmatch.fnmatchcase(t.header.frame_id, drop[0]) and fnmatch.fnmatchcase(t.child_frame_id, drop[1])
            lost, kept = [t for t in m.transforms if gone(t)], [t for t in m.transforms if not gone(t)]
            walk(lost, change)  # bagconv counts what it renames before a transform goes
            counts["changed"] += len(lost)
            m.transforms = kept
            if lost and not m.transforms:
                continue
        walk(m, change)
        out.append((topic, m))
    return flags, out, counts["changed"]


def main():
    rng, done = random.Random(5), 0
    bags = sys.argv[1:]
    for path in bags:
        try:
            found = messages(path)
            if not transforms(found):
                continue
        except Exception:
            continue
        if bags.count(path) % 2 == 0:
            flags, want, changed = static(rng, found, began(path))
        else:
            flags, want, changed = edit(rng, found)
        print(json.dumps({"path": path, "flags": flags, "changed": changed}), flush=True)
        got = messages(sys.stdin.readline().rstrip("\n"))
        wrong = ""
        if [t for t, _ in got] != [t for t, _ in want]:
            wrong = f"{len(got)} messages, and the loop has {len(want)}"
        elif [str(m) for _, m in got] != [str(m) for _, m in want]:
            wrong = next(f"{a}\nwant {b}" for (_, a), (_, b) in zip(got, want) if str(a) != str(b))[:1500]
        elif answers(got) != answers(want):
            wrong = "tf2 has other answers"
        print(json.dumps({"wrong": wrong}), flush=True)
        done += 1
        if bags.count(path) < 4:
            bags.append(path)  # again, with another edit
    print(json.dumps({"done": done}), flush=True)


main()
