"""Transforms out of the columns of a recording.

The module imports numpy: `Recording.tf` looks whether it is there.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any

import numpy as np

from . import _columns, _process
from ._errors import BagconvError, Loss
from ._need import need
from ._tf import _TOLERANCE, Transforms, _plain, _Series
from ._topic import Topic

Array = np.ndarray[Any, Any]

_POSITION = ("x", "y", "z")
_QUATERNIONS = (("x", "y", "z", "w"), ("qx", "qy", "qz", "qw"))  # ROS, Foxglove; Apollo


def load(topics: Iterable[Topic]) -> Transforms:
    """Return the transforms of topics; what tf2 refuses is counted, and a `Loss` warning."""
    buffer = Transforms()
    frames: dict[str, int] = {}
    parts = [part for topic in topics for part in _topic(topic, frames)]
    if parts:
        _fill(buffer, list(frames), [np.concatenate(column) for column in zip(*parts)])
    refused = {why: buffer.counts[why] for why in ("not_finite", "not_normalized", "bad_frame") if buffer.counts[why]}
    if refused:
        text = ", ".join(f"{n} {why.replace('_', ' ')}" for why, n in refused.items())
        _process.warn(
            [Loss(f"transforms that tf2 refuses, too: {text}", code="bad-transform", count=sum(refused.values()))]
        )
    return buffer


Part = tuple[Array, Array, Array, Array, Array, Array]  # log times, parents, children, times, values, static


def _topic(topic: Topic, frames: dict[str, int]) -> Iterable[Part]:
    """Yield the transforms of a topic, batch by batch, with frames by their numbers."""
    static = topic.name.endswith("tf_static")
    for batch in topic.batches():
        names = batch.schema.names
        logged = _columns.times(batch)
        if "transforms" in names:
            lists = batch.column(names.index("transforms"))
            rows = lists.flatten()
            logged = np.repeat(logged, np.diff(_columns.offsets(lists)))
        else:
            rows = need("pyarrow", "transforms").StructArray.from_arrays(batch.columns, fields=list(batch.schema))
        parents, children, times, values = _columns_of(topic, rows)
        yield (
            logged,
            _numbers(frames, parents),
            _numbers(frames, children),
            times,
            values,
            np.full(len(times), static),
        )


def _columns_of(topic: Topic, rows: Any) -> tuple[Any, Any, Array, Array]:
    """Return the frames, times (ns) and numbers of transforms."""

    def at(*path: str) -> Any:
        return _columns.at(rows, path, ".".join(path))

    fields = {rows.type.field(i).name for i in range(rows.type.num_fields)}
    if {"parent_frame_id", "child_frame_id", "translation", "rotation"} <= fields:  # Foxglove
        parents, stamps, pose = at("parent_frame_id"), at("timestamp"), rows
    elif {"header", "child_frame_id", "transform"} <= fields:
        header = at("header")
        seconds = "timestamp_sec" in {header.type.field(i).name for i in range(header.type.num_fields)}
        parents, pose = at("header", "frame_id"), at("transform")
        stamps = at("header", "timestamp_sec" if seconds else "stamp")
    else:
        raise BagconvError(f"{topic.name} has no transforms: its type is {topic.type}")
    turned = _columns.at(pose, ("rotation",), "rotation").type
    names = next(q for q in _QUATERNIONS if turned.get_field_index(q[-1]) >= 0)
    values = [_columns.at(pose, ("translation", n), n) for n in _POSITION]
    values += [_columns.at(pose, ("rotation", n), n) for n in names]
    numbers = np.stack([np.ma.filled(_columns.one(v, topic.name), np.nan) for v in values], 1)
    return parents, at("child_frame_id"), _ns(stamps), numbers.astype(np.float64)


def _ns(stamps: Any) -> Array:
    """Return times as ns; Apollo has seconds as floats."""
    column = _columns.one(stamps, "stamp")
    if column.dtype.kind != "f":
        return column.astype("datetime64[ns]").astype(np.int64)  # type: ignore[no-any-return]
    seconds = np.nan_to_num(column)
    whole = np.floor(seconds)
    return whole.astype(np.int64) * 10**9 + np.rint((seconds - whole) * 1e9).astype(np.int64)  # type: ignore[no-any-return]


def _numbers(frames: dict[str, int], names: Any) -> Array:
    """Return the numbers of frames by their names; no name has the number -1."""
    coded = names.dictionary_encode()
    numbers = []
    for name in coded.dictionary.to_pylist():
        plain = _plain(name or "")
        numbers.append(frames.setdefault(plain, len(frames)) if plain else -1)
    table = np.array([*numbers, -1], np.int64)
    index = np.where(_columns.absent(coded.indices), len(numbers), _columns.numbers(coded.indices))
    found: Array = table[index]
    return found


def _fill(buffer: Transforms, frames: list[str], columns: list[Array]) -> None:
    """Put transforms into a buffer in the order of log time, as if each was set."""
    logged = columns[0]
    order = np.argsort(logged, kind="stable")
    parents, children, times, values, static = (column[order] for column in columns[1:])
    finite = ~np.isnan(values).any(1) & ~np.isinf(values[:, 3:]).any(1)
    with np.errstate(invalid="ignore", over="ignore"):
        normal = np.abs((values[:, 3:] ** 2).sum(1) - 1) < _TOLERANCE
    named = (parents >= 0) & (children >= 0) & (parents != children)
    counts = buffer.counts
    counts["bad_frame"] += int((~named).sum())
    counts["not_finite"] += int((named & ~finite).sum())
    counts["not_normalized"] += int((named & finite & ~normal).sum())
    sound = np.flatnonzero(named & finite & normal)
    ids = np.full(len(frames) + 1, -1)
    for frame in np.unique(np.concatenate([parents[sound], children[sound]])).tolist():
        ids[frame] = buffer._id(frames[frame])
    parents, children = ids[parents], ids[children]  # the numbers of refused transforms do not matter
    by_child = sound[np.argsort(children[sound], kind="stable")]
    for mine in np.split(by_child, np.flatnonzero(np.diff(children[by_child])) + 1):
        if len(mine):
            _series(buffer, int(children[mine[0]]), mine, parents, times, values, static)


def _series(
    buffer: Transforms, child: int, mine: Array, parents: Array, times: Array, values: Array, static: Array
) -> None:
    """Make the series of a frame of its transforms, in the order in which they came."""
    series = _Series(bool(static[mine[0]]))
    counts = buffer.counts
    if series.static:
        kept = mine
        last = mine[-1:]
        series.times = array("q", [0])
    else:
        ordered = mine[np.argsort(times[mine], kind="stable")]
        new = np.concatenate(([True], np.diff(times[ordered]) != 0))
        kept = last = ordered[new]
        firsts = kept[np.cumsum(new) - 1]
        same = (parents[ordered] == parents[firsts]) & (values[ordered] == values[firsts]).all(1)
        counts["repeated"] += int((~new & same).sum())
        counts["conflicting"] += int((~new & ~same).sum())
        series.times = array("q", times[last].tobytes())
    series.parents = array("q", parents[last].tobytes())
    series.values = array("d", np.ascontiguousarray(values[last]).tobytes())
    counts["kept"] += len(kept)
    counts["kind_changed"] += int((static[kept] != series.static).sum())
    buffer._series[child] = series
