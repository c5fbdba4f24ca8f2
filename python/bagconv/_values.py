"""Values of Python as JSON that ``bagconv import`` reads as a message (docs/import.md).

| Python | JSON |
|---|---|
| dict, dataclass, named tuple, message of rosbags, genpy, rclpy, or of this package | object |
| bool, int, float (NaN, too), str, None | as they are |
| bytes, bytearray, memoryview, array of uint8 | base64 |
| list, tuple, set and the like, array of numpy or of ``array`` | array; one of several axes row by row |
| datetime with a zone, timedelta, numpy.datetime64, timedelta64 | ns, times since 1970 |
| scalars of numpy and pyarrow, members of an Enum | their values |
"""

from __future__ import annotations

import array
import base64
import dataclasses
import datetime
import enum
import json
from typing import Any

from . import _times

_LARGE = 4096  # bytes

_encoder = json.JSONEncoder(check_circular=False, separators=(",", ":"), default=lambda value: plain(value))


def encode(value: Any) -> list[bytes]:
    """Return a message as JSON, in pieces. Raises TypeError for what is no message, or has no place in JSON."""
    fields = value if isinstance(value, dict) else plain(value)
    if not isinstance(fields, dict):
        raise TypeError(f"a message is bytes, or has fields: {_name(value)} has none")
    blobs = {key: blob for key, value in fields.items() if (blob := _large(value)) is not None}
    if not blobs:
        return [_encoder.encode(fields).encode("ascii")]
    parts, before = [], b"{"
    for key, value in fields.items():
        head = before + _encoder.encode(key).encode("ascii") + b":"
        if key in blobs:  # base64 needs no escapes: an encoder that looks for them takes longer than all else
            parts += [head + b'"', base64.b64encode(blobs[key]), b'"']
        else:
            parts.append(head + _encoder.encode(value).encode("ascii"))
        before = b","
    return [*parts, b"}"]


def _large(value: Any) -> Any:
    """Return a large value of bytes as what base64 takes, None if it is none."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return value if len(value) > _LARGE and (not isinstance(value, memoryview) or value.itemsize == 1) else None
    if getattr(value, "size", 0) > _LARGE and getattr(value, "dtype", None) == "uint8":
        return memoryview(value).cast("B") if value.flags.c_contiguous else value.tobytes()
    return None


def is_row(value: Any) -> bool:
    """Tell whether a value is a row of this package, whose names are names of fields."""
    return hasattr(value, "_fields") and isinstance(getattr(value, "_name", None), str)


def type_of(value: Any) -> str:
    """Return the name of the type that a message says to have, "" if it says none."""
    if is_row(value):
        return str(value._name)
    for name in ("__msgtype__", "_type"):  # of rosbags, of genpy
        found = getattr(value, name, None)
        if isinstance(found, str):
            return found
    cls = type(value)
    if hasattr(cls, "get_fields_and_field_types"):  # of rclpy: module sensor_msgs.msg._imu
        return f"{cls.__module__.partition('.')[0]}/msg/{cls.__name__}"
    return ""


def plain(value: Any) -> Any:
    """Return a value as one that JSON has; what is in it may be another one. Raises TypeError if there is none."""
    for known, change in _CHANGES:
        if isinstance(value, known):
            return change(value)
    if hasattr(value, "dtype"):  # of numpy
        return _numpy(value)
    fields = _fields(value)
    if fields is not None:
        return fields
    if hasattr(value, "as_py"):  # a scalar of pyarrow
        return value.as_py()
    if hasattr(value, "__len__") and hasattr(value, "__iter__"):
        return list(value)
    raise TypeError(f"a {_name(value)} is no value of a message")


def _bytes(value: Any) -> str:
    return base64.b64encode(value).decode("ascii")


def _array(value: array.array[Any]) -> Any:
    return _bytes(value) if value.typecode == "B" else value.tolist()


def _time(value: Any) -> int:
    """A date or a duration in ns."""
    return _times.resolve(value, "a time in the message", 0, 0) or 0


_CHANGES: list[tuple[Any, Any]] = [
    ((bytes, bytearray), _bytes),
    (memoryview, lambda value: _bytes(value) if value.itemsize == 1 else value.tolist()),
    (array.array, _array),
    ((datetime.datetime, datetime.timedelta), _time),
    (enum.Enum, lambda value: value.value),
]


def _numpy(value: Any) -> Any:
    """An array or a scalar of numpy."""
    kind = value.dtype.kind
    if kind in "mM":
        value = value.astype(f"{value.dtype.name.partition('[')[0]}[ns]").astype("int64")
    if not getattr(value, "ndim", 0):
        names = value.dtype.names
        return value.item() if names is None else {name: value[name] for name in names}
    if value.dtype == "uint8":
        return _bytes(value.tobytes())
    if value.dtype.names is not None:
        return list(value.ravel())
    return value.ravel().tolist()


def _fields(value: Any) -> dict[str, Any] | None:
    """The fields of a message in whatever form, None if it has none."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if hasattr(value, "get_fields_and_field_types"):
        return {name: getattr(value, name) for name in value.get_fields_and_field_types()}
    names = getattr(value, "_fields", None)
    if isinstance(names, tuple):
        if isinstance(value, tuple):
            return dict(zip(names, value))
        return {name: _member(value[name]) for name in names}
    if hasattr(value, "secs") and hasattr(value, "nsecs"):  # times of genpy
        return {"sec": value.secs, "nanosec": value.nsecs}
    slots = getattr(value, "__slots__", None)
    if isinstance(slots, (list, tuple)) and hasattr(value, "_slot_types"):
        return {name: getattr(value, name) for name in slots}
    return None


def _member(value: Any) -> Any:
    """A field of a row of this package, in which a dict is a map."""
    if isinstance(value, dict):
        return [{"key": key, "value": item} for key, item in value.items()]
    return value


def _name(value: Any) -> str:
    return type(value).__qualname__
