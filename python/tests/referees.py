"""How values of other readers are compared with ours."""

import math

import numpy as np

import bagconv

EMPTY = ({}, {"structure_needs_at_least_one_member": 0})  # a struct without fields; our column is a bool, true


def difference(ours, theirs, path=""):
    """Return where two values differ, "" if nowhere; theirs are plain, as referee_values.py has them."""
    if isinstance(ours, bagconv.Row):
        for name in ours._fields:
            at = difference(ours[name], theirs[name.rstrip("_")], f"{path}.{name}")
            if at:
                return at
        return ""
    if isinstance(ours, (list, bagconv._row.RowList)):
        if len(ours) != len(theirs):
            return f"{path}: {len(ours)} and {len(theirs)} elements"
        return next(filter(None, (difference(a, b, f"{path}[{i}]") for i, (a, b) in enumerate(zip(ours, theirs)))), "")
    if isinstance(ours, memoryview):
        if not isinstance(theirs, bytes):
            theirs = np.array(theirs, np.int64).astype(np.uint8).tobytes()
        return "" if bytes(ours) == theirs else f"{path}: bytes"
    if isinstance(ours, np.ndarray):
        if ours.dtype == bool and any(v in EMPTY for v in theirs):
            return "" if len(ours) == len(theirs) else path
        other = np.array(theirs, ours.dtype if isinstance(theirs, list) else None)
        same = ours.size == 0 == other.size or np.array_equal(ours, other, equal_nan=ours.dtype.kind == "f")
        return "" if same else f"{path}: {ours} and {other}"
    if isinstance(ours, float) and math.isnan(ours) and math.isnan(theirs):
        return ""
    empty = isinstance(ours, bool) and theirs in EMPTY
    return "" if empty or ours == theirs else f"{path}: {ours!r} and {theirs!r}"
