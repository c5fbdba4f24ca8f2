"""Migrates messages by rosbags, and compares them with ours by value.

Standard input has a JSON object per line: name, src and dst (definitions), message and ours (hex of
CDR). Standard output gets a line for each that differs.
"""

import json
import sys

import numpy as np
from rosbags.convert.converter import migrate_message
from rosbags.typesys import Stores, get_types_from_msg, get_typestore


def store(text, name):
    out = get_typestore(Stores.EMPTY)
    out.register(get_types_from_msg(text, name))
    return out


def plain(value):
    """Returns a value as lists, numbers and strings."""
    if isinstance(value, np.ndarray):
        return [plain(v) for v in value.tolist()]
    if isinstance(value, list):
        return [plain(v) for v in value]
    if hasattr(value, '__dataclass_fields__'):
        return {k: plain(getattr(value, k)) for k in value.__dataclass_fields__ if k != '__msgtype__'}
    if isinstance(value, (bool, int)):
        return int(value)
    return value


seen = 0
for line in sys.stdin:
    case = json.loads(line)
    name = case['name']
    src, dst = store(case['src'], name), store(case['dst'], name)
    message = src.deserialize_cdr(bytes.fromhex(case['message']), name)
    theirs = plain(migrate_message(src, dst, name, name, {}, message))
    ours = plain(dst.deserialize_cdr(bytes.fromhex(case['ours']), name))
    if theirs != ours:
        print(f'{case["src"]}\n->\n{case["dst"]}\nrosbags {theirs}\nours    {ours}')
    seen += 1
print(f'compared {seen}')
