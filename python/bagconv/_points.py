"""Point clouds as structured arrays, with the cloud's own fields.

The module imports numpy: `Topic.points` looks whether it is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Callable

import numpy as np

from . import _messages, _row
from ._errors import BagconvError
from ._messages import Unreadable

Array = np.ndarray[Any, Any]

# By the number of a type: of sensor_msgs/PointField, and of foxglove.PackedElementField.
_ROS = ("", "i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8", "i8", "u8")
_FOXGLOVE = ("", "u1", "i1", "u2", "i2", "u4", "i4", "f4", "f8")
_NAMES = {"UINT8": 1, "INT8": 2, "UINT16": 3, "INT16": 4, "UINT32": 5, "INT32": 6, "FLOAT32": 7, "FLOAT64": 8}


class Cloud(np.ndarray[Any, Any]):
    """A point cloud: a structured array of numpy that knows when and how it was taken.

    `cloud["intensity"]` is a field of all points. The array is a view of the message, read-only, with the fields at
    their offsets, in their byte order, with padding: (W,) if the cloud has one row, else (H, W). Fields with a count
    above 1 have that many numbers in each point.

    Attributes:
        time: log time, ns since 1970.
        stamp: the time of the message itself, ns since 1970; None if it has none.
        frame_id: the coordinate frame.
        message: the whole message; None of a copy that was pickled.
    """

    time: int
    stamp: int | None
    frame_id: str
    message: _row.Row | None

    def __array_finalize__(self, other: Any) -> None:
        if other is None or type(other) is np.ndarray:
            return
        for name in _ATTRIBUTES:
            setattr(self, name, getattr(other, name, None))

    def __reduce__(self) -> Any:
        return _cloud, (np.array(self), {name: getattr(self, name, None) for name in _ATTRIBUTES if name != "message"})

    def xyz(self, drop_nan: bool = False) -> Array:
        """Return the positions, a copy: (..., 3) float32, or float64 if the fields are; drop_nan leaves out the points
        that have none, and makes it (N, 3)."""
        names = self.dtype.names or ()
        if not {"x", "y", "z"} <= set(names):
            raise KeyError(f"the points have no x, y and z, but {', '.join(names)}")
        plain = np.asarray(self)
        kind = np.result_type(*(plain.dtype[n] for n in "xyz"), np.float32)
        out = np.empty((*plain.shape, 3), kind)
        for i, name in enumerate("xyz"):
            out[..., i] = plain[name]
        return out[np.isfinite(out).all(-1)] if drop_nan else out


_ATTRIBUTES = ("time", "stamp", "frame_id", "message")


def _cloud(array: Array, attributes: dict[str, Any]) -> Cloud:
    cloud = array.view(Cloud)
    for name in _ATTRIBUTES:
        setattr(cloud, name, attributes.get(name))
    return cloud


def reader(name: str, kind: str, fields: tuple[str, ...]) -> Callable[[_row.Row], Array]:
    """Return what reads the clouds of messages with these fields, of ROS, Foxglove, Apollo or Livox."""
    has = set(fields)
    if {"fields", "point_step", "row_step", "data", "width", "height"} <= has:
        return _ros
    if {"fields", "point_stride", "data"} <= has:
        return _foxglove
    for points in ("points", "point"):
        if points in has:
            return lambda message: _listed(message[points], message)
    raise BagconvError(f"{name} has no point clouds: its type is {kind}")


def clouds(rows: Iterator[tuple[int, _row.Row]], name: str, read: Callable[[_row.Row], Array]) -> Iterator[Cloud]:
    """Yield the clouds of messages; one that cannot be read is left out, with a warning."""
    with _messages.Skipped(name, "cloud") as skipped:
        for t, message in rows:
            try:
                array = read(message)
            except Unreadable as e:
                skipped.add(t, e)
                continue
            about = {"stamp": _messages.stamp(message), "frame_id": _messages.frame_id(message), "message": message}
            yield _cloud(array, {"time": t, **about})


def _ros(message: _row.Row) -> Array:
    """Return the points of a sensor_msgs/PointCloud2."""
    fields = [(f.name, int(f.offset), _code(_ROS, f.datatype, f.name), f.count) for f in message.fields]
    dtype = _dtype(fields, message.point_step, ">" if message.is_bigendian else "<")
    width, height, row = message.width, message.height, message.row_step
    if height == 1 or row == 0:
        row = width * message.point_step  # publishers leave it out
    return _array(message.data, dtype, width, height, row)


def _foxglove(message: _row.Row) -> Array:
    """Return the points of a foxglove.PointCloud."""
    fields = []
    for f in message.fields:
        kind = f["type"]
        fields.append((f.name, int(f.offset), _code(_FOXGLOVE, _NAMES.get(kind, kind), f.name), 1))
    stride = message.point_stride
    dtype = _dtype(fields, stride, "<")
    count = len(message.data) // stride if stride else 0
    return _array(message.data, dtype, count, 1, count * stride)


def _code(codes: tuple[str, ...], number: Any, name: str) -> str:
    if not isinstance(number, int) or not 0 < number < len(codes):
        raise Unreadable(f"the type of its field {name!r:.60} is {number}, which is not known")
    return codes[number]


def _dtype(fields: list[tuple[str, int, str, int]], step: int, order: str) -> np.dtype[Any]:
    """Return the type of a point. A name that comes twice gets a number."""
    if not fields:
        raise Unreadable("it has no fields")
    names: list[str] = []
    formats: list[Any] = []
    for name, offset, code, count in fields:
        number = np.dtype(order + code)
        if offset + number.itemsize * max(count, 1) > step:
            raise Unreadable(f"its field {name!r:.60} ends after the {step} bytes of a point")
        unique, n = name or "field", 1
        while unique in names:
            n += 1
            unique = f"{name or 'field'}_{n}"
        names.append(unique)
        formats.append((number, (count,)) if count > 1 else number)
    offsets = [offset for _, offset, _, _ in fields]
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": step})


def _array(data: memoryview, dtype: np.dtype[Any], width: int, height: int, row: int) -> Array:
    if row < width * dtype.itemsize:
        raise Unreadable(f"its rows of {width} points of {dtype.itemsize} bytes have {row} bytes")
    needed = row * (height - 1) + width * dtype.itemsize if width and height else 0
    if needed > len(data):
        raise Unreadable(
            f"{width} x {height} points of {dtype.itemsize} bytes need {needed} bytes, and it has {len(data)}"
        )
    if height == 1:
        one: Array = np.ndarray((width,), dtype, data)
        return one
    array: Array = np.ndarray((height, width), dtype, data if needed else b"", 0, (row, dtype.itemsize))
    return array


def _listed(points: Any, message: _row.Row) -> Array:
    """Return points that are a list of structs of numbers, of Apollo and Livox; sensor_msgs/PointCloud has channels."""
    if not isinstance(points, _row.RowList):
        raise Unreadable("its points are no list of structs")
    columns = {name: values for name, values in points.columns().items() if values.ndim == 1}
    for channel in _messages.get(message, "channels") or ():
        if len(channel["values"]) == len(points):
            columns.setdefault(channel["name"] or "channel", np.asarray(channel["values"]))
    out = np.zeros(len(points), [(name, values.dtype) for name, values in columns.items()])
    for name, values in columns.items():
        out[name] = values
    return out
