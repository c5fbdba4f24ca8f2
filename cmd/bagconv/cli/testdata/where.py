"""Seeded conditions over the messages of recordings, and which messages a plain loop keeps for each: lines of JSON.

    where.py COUNT SEED RECORDING...

It reads by PyPI rosbags and decides in Python; it shares nothing with bagconv.
"""

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

most = 1500  # messages of a topic


def load(path):
    """Topics of one type with their messages: name -> [(time, message)]."""
    topics = {}
    store = get_typestore(Stores.ROS2_HUMBLE)
    with AnyReader([Path(path)], default_typestore=store) as reader:
        for name in sorted(reader.topics):
            connections = [c for c in reader.connections if c.topic == name]
            if len({c.msgtype for c in connections}) != 1 or not sum(c.msgcount for c in connections) <= most:
                continue
            try:
                topics[name] = [(t, reader.deserialize(raw, c.msgtype)) for c, t, raw in reader.messages(connections)]
            except Exception:
                continue
    return {name: messages for name, messages in topics.items() if messages}


def members(value):
    """The fields of a struct: no constants, and none of the names that rosbags adds."""
    if not dataclasses.is_dataclass(value):
        return []
    names = [f.name for f in dataclasses.fields(value)]
    return [n for n in names if n.islower() and n[:2] != "__" and n != "structure_needs_at_least_one_member"]


def walk(rng, value, path, get):
    """A value within a message: its path, a function that finds it in any message, and an example of it."""
    while members(value):
        name = rng.choice(members(value))
        before = get
        get = lambda m, before=before, name=name: getattr(before(m), name)
        path, value = f"{path}.{name}", getattr(value, name)
    return path, get, value


def literal(x):
    if isinstance(x, (bool, np.bool_)):
        return "true" if x else "false"
    if isinstance(x, (int, np.integer)):
        return str(int(x))
    return repr(float(x))


OPERATORS = {
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b, "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
}


def plain(x):
    if isinstance(x, np.generic):
        x = x.item()
    return x


def number(rng, path, get, messages):
    """A condition about one number."""
    values = [plain(get(m)) for _, m in messages]
    if any(isinstance(v, int) and not -2**63 <= v < 2**63 for v in values):
        return None
    limit = rng.choice(values)
    if isinstance(limit, float) and not math.isfinite(limit):
        return f"isNaN({path})", lambda m: math.isnan(plain(get(m)))
    op = rng.choice(list(OPERATORS))
    test = OPERATORS[op]
    form = rng.randrange(6)
    if form == 0:
        return f"abs({path}) {op} {literal(abs(limit))}", lambda m: test(abs(plain(get(m))), abs(limit))
    if form == 1:
        return f"{path} * 2 - 1 {op} {literal(limit)}", lambda m: test(plain(get(m)) * 2 - 1, limit)
    if form == 2 and isinstance(limit, int):
        return f"{path} in {literal(limit)}..{literal(limit + 3)}", lambda m: limit <= plain(get(m)) <= limit + 3
    if form == 3 and all(isinstance(v, int) and v >= 0 for v in values):
        return f"{path} % 3 == 1", lambda m: plain(get(m)) % 3 == 1
    if form == 4:
        return f"!({path} / 3 {op} {literal(limit)})", lambda m: not test(plain(get(m)) / 3, limit)
    return f"{path} {op} {literal(limit)}", lambda m: test(plain(get(m)), limit)


def text(rng, path, get, messages):
    word = get(rng.choice(messages)[1])
    if not re.fullmatch(r"[ -~]*", word) or '"' in word or "\\" in word:
        return f"len({path}) > {len(word) // 2}", lambda m: len(get(m)) > len(word) // 2
    part = word[: rng.randint(0, 4)]
    return rng.choice([
        (f'{path} == "{word}"', lambda m: get(m) == word),
        (f'{path} contains "{part}"', lambda m: part in get(m)),
        (f'upper({path}) startsWith "{part.upper()}"', lambda m: get(m).upper().startswith(part.upper())),
        (f"len({path}) >= {len(word)}", lambda m: len(get(m)) >= len(word)),
    ])


def listed(rng, path, get, messages):
    """A condition about a list."""
    full = [m for _, m in messages if len(get(m)) > 0]
    if not full or max(len(get(m)) for m in full) > 1 << 20 or rng.randrange(4) == 0:
        n = len(get(rng.choice(messages)[1]))
        return f"len({path}) == {n}", lambda m: len(get(m)) == n
    sample = get(rng.choice(full))
    inner, reach, example = walk(rng, sample[rng.randrange(len(sample))], "", lambda e: e)
    values = lambda m: [plain(reach(e)) for e in get(m)]
    example = plain(example)
    if isinstance(example, str):
        if not re.fullmatch(r"[ -~]*", example) or '"' in example or "\\" in example:
            return None
        return f'any({path}[]{inner} == "{example}")', lambda m: example in values(m)
    if isinstance(example, bool) or not isinstance(example, (int, float)):
        return None
    if isinstance(example, float) and not math.isfinite(example) or abs(example) > 2**62:
        return None
    op = rng.choice(list(OPERATORS))
    test = OPERATORS[op]
    limit = literal(example)
    n = rng.randrange(3)
    return rng.choice([
        (f"any({path}[]{inner} {op} {limit})", lambda m: any(test(v, example) for v in values(m))),
        (f"all({path}[]{inner} {op} {limit})", lambda m: all(test(v, example) for v in values(m))),
        (f"none({path}[]{inner} {op} {limit})", lambda m: not any(test(v, example) for v in values(m))),
        (f"count({path}[]{inner} {op} {limit}) > {n}", lambda m: sum(test(v, example) for v in values(m)) > n),
    ])


def condition(rng, topic, messages):
    name = topic if re.fullmatch(r"/[A-Za-z0-9_/]+", topic) else f'topic("{topic}")'
    path, get, value = walk(rng, rng.choice(messages)[1], name, lambda m: m)
    value = plain(value)
    if path == name:
        return None
    if isinstance(value, bool):
        return path, lambda m: bool(get(m))
    if isinstance(value, (int, float)):
        return number(rng, path, get, messages)
    if isinstance(value, str):
        return text(rng, path, get, messages)
    if isinstance(value, (list, np.ndarray)):
        return listed(rng, path, get, messages)
    return None


def main():
    count, rng = int(sys.argv[1]), random.Random(int(sys.argv[2]))
    recordings = {}
    for path in sys.argv[3:]:
        try:
            topics = load(path)
        except Exception:
            continue
        if topics:
            recordings[path] = topics
    made = 0
    while made < count:
        path = rng.choice(sorted(recordings))
        topic = rng.choice(sorted(recordings[path]))
        messages = recordings[path][topic]
        parts = [condition(rng, topic, messages) for _ in range(rng.choice([1, 1, 2]))]
        if None in parts:
            continue
        words, tests = zip(*parts)
        either = len(parts) == 2 and rng.randrange(2) == 0
        with np.errstate(all="ignore"):
            kept = [t for t, m in messages if (any if either else all)(test(m) for test in tests)]
        if len(kept) in (0, len(messages)) and rng.randrange(3) > 0:
            continue  # most conditions shall keep a part
        expr = (" || " if either else " && ").join(words)
        print(json.dumps({"path": path, "topic": topic, "expr": expr, "of": len(messages), "kept": sorted(kept)}))
        made += 1


if __name__ == "__main__":
    main()
