"""Transforms: against tf2's BufferCore, by the referee of the Go package, and out of recordings."""

import json
import math
import os
import pickle
import random
import struct
import subprocess
from fractions import Fraction

import numpy as np
import pytest
from bags import STD_HEADER, bag, text
from conftest import LONG, TOP

import bagconv

SECOND = 10**9
KINDS = {
    bagconv.FrameError: "lookup",
    bagconv.ConnectivityError: "connection",
    bagconv.ExtrapolationError: "extrapolation",
}


def pose(r):
    """A position and a quaternion that is normalised, nearly so, or not."""
    q = [r.gauss(0, 1) for _ in range(4)]
    length = math.sqrt(sum(v * v for v in q))
    kind = r.randrange(20)
    if kind == 0:
        length *= 1.004  # tf2 accepts it, and scales by it
    elif kind == 1:
        length *= 1.1
    elif kind == 2:
        q, length = [0, 0, 0, 1], 1
    elif kind < 5:
        q, length = [q[0] * 1e-9, q[1] * 1e-5, 0, 1], 1  # hardly turned
    return [r.gauss(0, 10), r.gauss(0, 10), r.gauss(0, 1)], [v / length for v in q]


def name(i):
    return "odd näme %s" if i == 1 else f"f{i}"


def world(seed):
    """A few trees, static frames and others, parents that change, late and repeated transforms, a loop now and then."""
    r = random.Random(seed)
    start = 1000 * SECOND + r.randrange(SECOND)
    moment = lambda: start + r.randrange(30) * SECOND + r.randrange(3) * r.randrange(SECOND)  # noqa: E731
    frames, sets = 2 + r.randrange(14), []
    for i in range(1, frames):
        if r.randrange(12) == 0:
            continue  # a root of its own
        parent, static = r.randrange(i), r.randrange(3) == 0
        for _ in range(1 + r.randrange(12)):
            if r.randrange(15) == 0:
                parent = r.randrange(frames)
            slash = "/" * (r.randrange(20) // 19)
            sets.append((slash + name(parent), slash + name(i), moment(), *pose(r), static != (r.randrange(50) == 0)))
    asks = []
    for _ in range(60):
        time = [moment(), 0, sets[r.randrange(len(sets))][2] if sets else 0][
            min(r.randrange(8) // 2, 2) if r.random() < 0.3 else 0
        ]
        source = ["", "/f0"][r.randrange(2)] if r.randrange(80) == 0 else name(r.randrange(frames + 1))
        asks.append((name(r.randrange(frames)), source, time))
    return sets, asks


def answer(tf, target, source, time):
    try:
        found = tf.lookup(target, source, time)
    except bagconv.TransformError as e:
        return "name" if "is not a name" in str(e) else KINDS[type(e)]
    return [found.time, *found.translation.tolist(), *found.rotation.tolist()]


def test_against_tf2():
    python = "/usr/bin/python3"  # Debian's, for which the packages of ROS 1 are
    if subprocess.run(
        [python, "-c", "import tf2_py, rospy, geometry_msgs"], capture_output=True, check=False
    ).returncode:
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing("this machine has no python3-tf2")
    lines, counts = [], {}
    sets_made = asked = answered = 0
    for seed in range(10_000 if LONG else 150):
        tf = bagconv.Transforms()
        sets, asks = world(seed)
        for one in sets:
            tf.set(*one)
        found = [[*ask, answer(tf, *ask)] for ask in asks]
        for *_, a in found:
            kind = a if isinstance(a, str) else "answer"
            counts[kind] = counts.get(kind, 0) + 1
        made = [[parent, child, t, [*position, *q], static] for parent, child, t, position, q, static in sets]
        lines.append(json.dumps({"cache": 1 << 50, "set": made, "ask": found}))
        sets_made, asked = sets_made + len(sets), asked + len(asks)
    answered = counts["answer"]
    assert min(counts[k] for k in ("answer", "name", "lookup", "connection", "extrapolation")) >= 20, counts
    script = TOP / "internal/export/track/testdata/referee/transforms.py"
    done = subprocess.run([python, str(script)], input="\n".join(lines).encode(), capture_output=True, check=False)
    assert done.stdout.decode().split() == ["compared", str(sets_made), str(asked), str(answered)], done.stderr[-500:]


TRANSFORM = (
    "geometry_msgs/TransformStamped[] transforms\n"
    + "=" * 80
    + "\nMSG: geometry_msgs/TransformStamped\nHeader header\n"
    "string child_frame_id\nTransform transform\n" + "=" * 80 + "\nMSG: geometry_msgs/Transform\nVector3 translation\n"
    "Quaternion rotation\n"
    + "=" * 80
    + "\nMSG: geometry_msgs/Vector3\nfloat64 x\nfloat64 y\nfloat64 z\n"
    + "=" * 80
    + "\nMSG: geometry_msgs/Quaternion\nfloat64 x\nfloat64 y\nfloat64 z\nfloat64 w\n"
)


def message(transforms):
    out = struct.pack("<I", len(transforms))
    for parent, child, t, position, q in transforms:
        out += struct.pack("<III", 0, t // SECOND, t % SECOND) + text(parent) + text(child)
        out += struct.pack("<7d", *position, *q)
    return out


@pytest.mark.parametrize("seed", range(5))
def test_out_of_a_recording(tmp_path, seed):
    """What is loaded at once answers as what is set one by one."""
    sets, asks = [], []
    for i in range(20):
        more, questions = world(100 * seed + i)
        sets += [(f"{i}" + p.lstrip("/"), f"{i}" + c.lstrip("/"), *rest) for p, c, *rest in more]
        asks += [(f"{i}" + a, f"{i}" + b, t) for a, b, t in questions]
    sets.append(("", "x", 1, [0, 0, 0], [0, 0, 0, 1], False))
    sets.append(("y", "x", 1, [0, math.nan, 0], [0, 0, 0, 1], False))
    topics = {False: [], True: []}
    expected = bagconv.Transforms()
    for i in range(0, len(sets), 3):
        for static in (False, True):
            some = [s for s in sets[i : i + 3] if s[5] == static]
            for one in some:
                expected.set(*one)
            topics[static].append((SECOND * 2000 + i + static, message([s[:5] for s in some])))
    kind = "tf2_msgs/TFMessage"
    path = bag(
        tmp_path / "tf.bag",
        [
            ("/tf", kind, TRANSFORM + STD_HEADER, topics[False]),
            ("/tf_static", kind, TRANSFORM + STD_HEADER, topics[True]),
        ],
    )
    with pytest.warns(bagconv.Loss, match="tf2 refuses") as caught:
        found = bagconv.open(path).tf()
    assert caught[0].filename == __file__
    assert found.counts == expected.counts
    assert found.counts["not_normalized"] > 0
    assert {k: v for k, v in found.frames.items() if v} == {k: v for k, v in expected.frames.items() if v}
    for ask in asks:
        assert answer(found, *ask) == answer(expected, *ask), ask
    copy = pickle.loads(pickle.dumps(found))
    assert [answer(copy, *ask) for ask in asks[:50]] == [answer(found, *ask) for ask in asks[:50]]


def test_demo(demo):
    rec = bagconv.open(demo)
    tf = rec.tf()
    assert tf.frames["cam_a"] == "base_link"
    assert repr(tf) == "<Transforms of 8 frames, 304 transforms>"
    moving = next(f for f, parent in tf.frames.items() if parent and len(tf.times(f)))
    parent = tf.frames[moving]
    times = tf.times(moving)
    a, b = tf.lookup(parent, moving, int(times[0])), tf.lookup(parent, moving, int(times[1]))
    half = tf.lookup(parent, moving, int(times[0] + times[1]) // 2)
    assert np.allclose(half.translation, (a.translation + b.translation) / 2)
    assert not tf.can_transform(parent, moving, int(times[0]) - 1)
    with pytest.raises(bagconv.ExtrapolationError, match=moving):
        tf.lookup(parent, moving, int(times[0]) - 1)
    with pytest.raises(bagconv.FrameError, match="there is no frame 'nope'"):
        tf.lookup(parent, "nope")
    with pytest.raises(TypeError, match="time is a float"):
        tf.lookup(parent, moving, 1.5)
    assert tf.lookup(parent, moving, np.datetime64(int(times[1]), "ns")).time == times[1]
    assert list(rec.tf("/tf_static").frames) != list(tf.frames)
    with pytest.raises(bagconv.BagconvError, match="has no transforms"):
        rec.tf("/imu/data")


def test_apollo():
    rec = bagconv.open(TOP / "testdata" / "demo.record")
    tf = rec.tf()
    assert tf.frames["novatel"] == "localization"
    _, message = next(iter(rec["/tf"]))
    seconds = Fraction(message.transforms[0].header.timestamp_sec)  # exactly the float
    assert tf.times("novatel")[0] == round(seconds * SECOND)


def test_algebra():
    tf = bagconv.Transforms()
    s = math.sqrt(0.5)
    assert tf.set("map", "odom", 1, (1, 2, 3), (0, 0, s, s))
    assert tf.set("odom", "base", 1, (1, 0, 0), (s, 0, 0, s))
    whole, upper, lower = tf.lookup("map", "base"), tf.lookup("map", "odom"), tf.lookup("odom", "base")
    assert np.allclose((upper @ lower).matrix(), whole.matrix())
    assert np.allclose(upper.matrix() @ lower.matrix(), whole.matrix())
    assert np.allclose(whole.inverse().matrix() @ whole.matrix(), np.eye(4))
    points = np.arange(12.0).reshape(2, 2, 3)
    assert np.allclose(whole.inverse().apply(whole.apply(points)), points)
    assert np.allclose(upper.apply([1, 0, 0]), [1, 3, 3])
    assert repr(upper).startswith("<Transform odom in map: x=1 y=2 z=3 q=(0, 0, 0.707107, 0.707107)")
