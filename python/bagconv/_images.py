"""Pictures as arrays: each with its own encoding, as it is stored, and `rgb()` for those who want colours.

The module imports numpy: `Topic.images` looks whether it is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Callable, Union

import numpy as np

from . import _compressed, _messages, _pixels, _row
from ._errors import BagconvError

Array = np.ndarray[Any, Any]
Buffer = Union[bytes, memoryview]


class Frame(np.ndarray[Any, Any]):
    """A picture: an array of numpy that knows when and how it was taken.

    The array is what is stored, read-only and without a copy: (H, W) or (H, W, C) in the dtype of the encoding, rows
    in their order, padding left out. Planes of YUV are rows below each other, as OpenCV has them: (H * 3/2, W) of nv12,
    nv21, i420 and yv12, (H * 3, W) of nv24 and nv42; pairs such as uyvy are (H, W, 2). JPEG, PNG and depth are decoded.

    Attributes:
        time: log time, ns since 1970.
        stamp: the time of the message itself, ns since 1970; None if it has none.
        frame_id: the coordinate frame.
        encoding: by ROS's names: rgb8, bgr8, mono16, bayer_rggb8, yuv422, 32FC1 ...
        message: the whole message; None of a copy that was pickled.
    """

    time: int
    stamp: int | None
    frame_id: str
    encoding: str
    message: _row.Row | None

    def __array_finalize__(self, other: Any) -> None:
        if other is None or type(other) is np.ndarray:
            return
        for name in _ATTRIBUTES:
            setattr(self, name, getattr(other, name, None))

    def __reduce__(self) -> Any:
        return _frame, (np.array(self), {name: getattr(self, name, None) for name in _ATTRIBUTES if name != "message"})

    def rgb(self) -> Array:
        """Return the colours: (H, W, 3) uint8, red first; the upper 8 of 16 bits.

        YUV is ITU-R BT.601 and a Bayer mosaic is interpolated linearly, bit by bit as OpenCV does. Alpha is dropped,
        gray is three times the same. Depth and other numbers have no colours: a ValueError.
        """
        return _pixels.rgb(np.asarray(self), self.encoding)


_ATTRIBUTES = ("time", "stamp", "frame_id", "encoding", "message")


def _frame(array: Array, attributes: dict[str, Any]) -> Frame:
    frame = array.view(Frame)
    for name in _ATTRIBUTES:
        setattr(frame, name, attributes.get(name))
    return frame


Picture = tuple[np.ndarray[Any, Any], str]  # with its encoding


def reader(name: str, kind: str, fields: tuple[str, ...]) -> Callable[[_row.Row], Picture]:
    """Return what reads the pictures of messages with these fields, of ROS, Foxglove or Apollo."""
    if {"height", "width", "encoding", "step", "data"} <= set(fields):
        return _raw
    if {"format", "data"} <= set(fields):
        return _stored
    raise BagconvError(f"{name} has no pictures: its type is {kind}")


def frames(rows: Iterator[tuple[int, _row.Row]], name: str, read: Callable[[_row.Row], Picture]) -> Iterator[Frame]:
    """Yield the pictures of messages; one that cannot be read is left out, with a warning."""
    with _messages.Skipped(name, "picture") as skipped:
        for t, message in rows:
            try:
                array, encoding = read(message)
            except _messages.Unreadable as e:
                skipped.add(t, e)
                continue
            yield _frame(
                array,
                {
                    "time": t,
                    "stamp": _messages.stamp(message),
                    "frame_id": _messages.frame_id(message),
                    "encoding": encoding,
                    "message": message,
                },
            )


def _stored(message: _row.Row) -> Picture:
    """Decode a compressed picture."""
    return _compressed.decode(message.format, message.data)


def _raw(message: _row.Row) -> Picture:
    """Return the array of a raw picture: a view of its bytes."""
    big = bool(message.is_bigendian) if "is_bigendian" in message else False
    size = message.width, message.height
    return raw(message.data, size, message.encoding, message.step, big), message.encoding


def raw(data: Buffer, size: tuple[int, int], encoding: str, step: int, big: bool) -> Array:
    """Return the array of a picture of width and height, whose rows have step bytes."""
    width, height = size
    layout = _pixels.layout(encoding)
    if layout is None:
        raise _messages.Unreadable(f"the encoding {encoding!r:.60} is not known")
    if not width or not height:
        raise _messages.Unreadable(f"it has {width} x {height} pixels")
    if layout.shares and (width % 2 or (height % 2 and layout.planes)):
        raise _messages.Unreadable(f"it has {width} x {height} pixels of {encoding}, which needs even numbers")
    dtype = layout.dtype.newbyteorder(">" if big else "<")
    tight = width * layout.channels * dtype.itemsize
    rows = layout.rows(height)
    step = step or tight
    if layout.planes and len(data) == rows * tight:
        step = tight  # publishers disagree about the step of planes
    if step < tight:
        raise _messages.Unreadable(f"its rows have {tight} bytes and its step is {step}")
    _, wide, long = layout.parts(width, height, step)[-1]
    needed = step * rows - (long - wide if layout.planes else step - tight)  # the last row may lack its padding
    if len(data) < needed:
        raise _messages.Unreadable(
            f"{height} rows of {step} bytes of {encoding} need {needed} bytes, and it has {len(data)}"
        )
    if layout.planes and step != tight:
        return _unpadded(data, size, layout, step)
    pixel = layout.channels * dtype.itemsize
    shape: tuple[int, ...] = rows, width
    strides: tuple[int, ...] = step, pixel
    if layout.channels > 1:
        shape, strides = (*shape, layout.channels), (*strides, dtype.itemsize)
    array: Array = np.ndarray(shape, dtype, data, 0, strides)
    return array


def _unpadded(data: Buffer, size: tuple[int, int], layout: _pixels.Layout, step: int) -> Array:
    """Return planes whose rows have padding as rows without any: a copy."""
    width, height = size
    flat = np.frombuffer(data, np.uint8)
    flat = np.pad(flat, (0, max(0, step * layout.rows(height) - len(flat))))
    parts, start = [], 0
    for rows, wide, long in layout.parts(width, height, step):
        plane = flat[start : start + rows * long].reshape(rows, long)[:, :wide]
        parts.append(plane.reshape(-1))
        start += rows * long
    return np.concatenate(parts).reshape(layout.rows(height), width)
