"""Reads messages from standard input and prints them, bytes as lists of numbers:

    bagconv cat IN --raw --framed | python3 example.py
"""
import dataclasses
import json
import struct
import sys

import numpy as np

import messages


def frames(file):
    """Yields encoding, type, topic, time and bytes of each message; docs/codegen.md of bagconv draws a frame."""
    while True:
        head = file.read(20)
        if not head:
            return
        if len(head) < 20:
            raise EOFError("standard input ends within a frame")
        size, time, e, t, p = struct.unpack("<IqHHI", head)
        rest = file.read(size - 16)
        if size < 16 + e + t + p or len(rest) < size - 16:
            raise EOFError("standard input ends within a frame")
        yield rest[:e].decode(), rest[e:e + t].decode(), rest[e + t:e + t + p].decode("utf-8", "surrogateescape"), time, rest[e + t + p:]


def number(v):
    """Returns a number as JSON: integers of 64 bits are strings."""
    v = np.asarray(v)[()]
    if v.dtype.kind == "b":
        return "true" if v else "false"
    if v.dtype.kind in "iu":
        return '"%d"' % v if v.itemsize == 8 else str(int(v))
    if np.isnan(v):
        return '"NaN"'
    if np.isinf(v):
        return '"Infinity"' if v > 0 else '"-Infinity"'
    return str(v)


def text(v):
    """Returns a value as JSON."""
    if isinstance(v, messages.Message):
        pairs = [(v.NAMES.get(f.name, f.name), getattr(v, f.name), v.KINDS.get(f.name)) for f in dataclasses.fields(v)]
        return "{" + ",".join("%s:%s" % (json.dumps(name), text(x) if kind is None else number(np.dtype(kind).type(x))) for name, x, kind in pairs) + "}"
    if isinstance(v, str):
        return json.dumps(v)
    if isinstance(v, np.ndarray) or isinstance(v, list):
        return "[" + ",".join(text(x) for x in v) + "]"
    if isinstance(v, np.void):
        return "{" + ",".join("%s:%s" % (json.dumps(name), text(v[name])) for name in v.dtype.names) + "}"
    return number(v)


def main():
    failed = 0
    for encoding, typ, topic, time, data in frames(sys.stdin.buffer):
        m, error = None, "no such topic was generated"
        for cls in messages.TOPICS.get(topic, []):
            if m is None and cls.TYPE.replace("/msg/", "/") == typ.replace("/msg/", "/"):
                try:
                    m = cls.from_ros1(data) if encoding == "ros1" else cls.from_cdr(data)
                except messages.Malformed as e:
                    error = e
        if m is None:
            print("%s at %d: %s" % (topic, time, error), file=sys.stderr)
            failed = 1
            continue
        print('{"topic":%s,"time":"%d","fields":%s}' % (json.dumps(topic), time, text(m)))
    return failed


if __name__ == "__main__":
    sys.exit(main())
