"""Seeded edits of the fields of recordings: prints one as a line of JSON, reads the name of the recording that bagconv
has made of it, and compares all of its messages with the messages that a plain loop has changed.

    set.py COUNT SEED RECORDING...

It reads by PyPI rosbags and changes values in Python; it shares nothing with bagconv.
"""

import copy
import dataclasses
import json
import math
import random
import re
import sys
from pathlib import Path

import numpy as np
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_typestore

from where import literal, members, plain

most = 400  # messages of a topic
RANGES = {f"{sign}int{bits}": (-(2 ** (bits - 1)) if sign == "" else 0, 2 ** (bits - (sign == "")) - 1)
          for sign in ("", "u") for bits in (8, 16, 32, 64)}
RANGES |= {"byte": (0, 255), "octet": (0, 255), "char": (0, 255), "clock": (0, 2**31 - 1)}


class Refused(Exception):
    """The value does not fit, so that bagconv leaves the message out."""


class Unsure(Exception):
    """The parts of times have other signs in ROS 1, and rosbags does not tell."""


def load(path):
    """Topics of one type: name -> (type, [(time, message)]), and the types."""
    topics = {}
    with AnyReader([Path(path)], default_typestore=get_typestore(Stores.ROS2_HUMBLE)) as reader:
        for name in sorted(reader.topics):
            connections = [c for c in reader.connections if c.topic == name]
            if len({c.msgtype for c in connections}) != 1 or not 0 < sum(c.msgcount for c in connections) <= most:
                continue
            try:
                messages = [(t, reader.deserialize(raw, c.msgtype)) for c, t, raw in reader.messages(connections)]
            except Exception:
                continue
            topics[name] = (connections[0].msgtype, messages)
        return topics, reader.typestore


def equal(a, b):
    if dataclasses.is_dataclass(a):
        return type(a).__name__ == type(b).__name__ and all(equal(getattr(a, n), getattr(b, n)) for n in members(a))
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f")
    if isinstance(a, list):
        return len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, float):
        return a == b and math.copysign(1, a) == math.copysign(1, b) or a != a and b != b
    return a == b


def path_to(rng, store, msgtype):
    """A random value of a type: steps to it, each (name, index or None), and the name of its base type."""
    steps = []
    while True:
        fields = [(n, d) for n, d in store.fielddefs[msgtype][1] if n.islower() and "__" not in n]
        fields = [f for f in fields if f[0] != "structure_needs_at_least_one_member"]
        if not fields:
            return None
        name, (node, what) = rng.choice(fields)
        kind, shape = int(node), None
        if kind >= 3:  # an array or a list
            (node, what), size = what
            shape = size if kind == 3 else 0
        steps.append((name, shape))
        if int(node) == 1:
            return steps, "clock" if msgtype.startswith("builtin_interfaces/") else what[0]
        msgtype = what


def fit(kind, value):
    if kind in RANGES:
        low, high = RANGES[kind]
        if kind == "clock" and not low <= value <= high:
            raise Unsure
        if not low <= value <= high or not -(2**63) <= value < 2**63:
            raise Refused
        return int(value)
    if kind == "float32":
        short = np.float32(value)
        if np.isinf(short) and not math.isinf(value):
            raise Refused
        return float(short)
    return value


def expression(rng, kind, me):
    """An expression over the field itself, and what it makes of the old value."""
    if kind == "bool":
        return rng.choice([(f"!{me}", lambda v: not v), ("true", lambda v: True), (f"{me} && false", lambda v: False)])
    if kind in RANGES:
        low, high = RANGES[kind]
        k = rng.randint(max(low, -(2**62)), min(high, 2**62))
        return rng.choice([(literal(k), lambda v: k), (f"{me} % 7", lambda v: int(math.fmod(v, 7)) if abs(v) < 2**50 else
                            abs(v) % 7 * (1 if v >= 0 else -1)),
                           (f"{me} * 3 - 1", lambda v: v * 3 - 1), (f"abs({me})", lambda v: abs(v)),
                           (f"{me} > 1 ? {k} : {me}", lambda v: k if v > 1 else v)])
    if kind in ("float32", "float64"):
        x = round(rng.uniform(-50, 50), 3)
        return rng.choice([(literal(x), lambda v: x), (f"-{me}", lambda v: -v), (f"abs({me})", lambda v: abs(v)),
                           (f"{me} * 2.5 - 1", lambda v: v * 2.5 - 1), (f"{me} / 3", lambda v: v / 3), ("2", lambda v: 2.0)])
    if kind == "string":
        return rng.choice([('"new"', lambda v: "new"), (f'{me} + "_x"', lambda v: v + "_x"), ('""', lambda v: ""),
                           (f'replace({me}, "a", "bcd")', lambda v: v.replace("a", "bcd")),
                           (f"upper({me})", lambda v: v.upper()), (f'"p/" + lower({me})', lambda v: "p/" + v.lower())])
    return None


def put(holder, name, value):
    object.__setattr__(holder, name, value)


def change(message, steps, index, kind, what):
    """Changes the message; index is of the list among the steps, None for all elements."""
    name, shape = steps[0]
    value = getattr(message, name)
    if shape is None:
        if len(steps) > 1:
            change(value, steps[1:], index, kind, what)
        else:
            put(message, name, fit(kind, what(plain(value))))
        return
    if index is not None and index >= len(value):
        raise Refused
    where = range(len(value)) if index is None else [index]
    if len(steps) > 1:
        for i in where:
            change(value[i], steps[1:], index, kind, what)
        return
    value = value.copy()
    numbers = value.view(np.uint8) if kind in ("byte", "octet", "char") and hasattr(value, "view") else value
    for i in where:  # rosbags has arrays of some of these with a sign
        numbers[i] = fit(kind, what(plain(numbers[i])))
    put(message, name, value)


def case(rng, path, topics, store):
    topic = rng.choice(sorted(topics))
    msgtype, messages = topics[topic]
    found = path_to(rng, store, msgtype)
    if not found:
        return None
    steps, kind = found
    lists = [s for s in steps if s[1] is not None]
    if len(lists) > 1:
        return None
    index = None
    if lists and rng.randrange(3) == 0:
        index = rng.randrange(lists[0][1] or 3)
    name = topic if re.fullmatch(r"/[A-Za-z0-9_/]+", topic) else f'topic("{topic}")'
    me = ".".join([name] + [n + ("" if s is None else "[]" if index is None else f"[{index}]") for n, s in steps])
    made = expression(rng, kind, me)
    if not made:
        return None
    expr, tell = made

    def what(old):
        if me in expr and kind in RANGES and not -(2**63) <= old < 2**63:
            raise Refused
        return tell(old)

    want = []
    for t, m in messages:
        m = copy.deepcopy(m)
        try:
            change(m, steps, index, kind, what)
        except Refused:
            continue
        except Unsure:
            return None
        want.append((t, m))
    return topic, f"{me} = {expr}", want, len(messages)


def main():
    count, rng = int(sys.argv[1]), random.Random(int(sys.argv[2]))
    recordings = {}
    for path in rng.sample(sys.argv[3:], min(len(sys.argv) - 3, 5 + count // 5)):
        try:
            topics, store = load(path)
        except Exception:
            continue
        if topics:
            recordings[path] = topics, store
    made, refused, changed = 0, 0, 0
    while made < count:
        path = rng.choice(sorted(recordings))
        topics, store = recordings[path]
        with np.errstate(all="ignore"):
            found = case(rng, path, topics, store)
        if not found:
            continue
        topic, text, want, total = found
        print(json.dumps({"path": path, "topic": topic, "set": text, "kept": len(want)}), flush=True)
        out = sys.stdin.readline().rstrip("\n")
        made += 1
        refused += total > len(want)
        got = load(out)[0].get(topic, (None, []))[1] if out else []
        want, got = (sorted(messages, key=lambda m: m[0]) for messages in (want, got))
        if len(got) != len(want):
            print(json.dumps({"wrong": f"{len(got)} messages, and the loop has {len(want)} of {total}"}), flush=True)
            continue
        wrong = [i for i, (a, b) in enumerate(zip(want, got)) if a[0] != b[0] or not equal(a[1], b[1])]
        changed += any(not equal(a, b) for (_, a), (_, b) in zip(topics[topic][1], got))
        print(json.dumps({"wrong": f"message {wrong[0]}: {got[wrong[0]][1]}\nwant {want[wrong[0]][1]}"[:1500] if wrong
                          else ""}), flush=True)
    print(json.dumps({"done": made, "refused": refused, "changes": changed}), flush=True)


main()
