"""Encodings of raw pictures, and their colours.

The names are from sensor_msgs/image_encodings.hpp; i420, yv12 and nv42 are not in it, but in use. ROS calls UYVY
yuv422. A bayer_ name lists the first two pixels of the first two rows. 8UC3 and the like do not name their
colours: they are read as if rgb.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]


class Layout(NamedTuple):
    """How the bytes of a picture are arranged."""

    kind: str  # packed, mosaic, pairs, biplanar, triplanar
    dtype: np.dtype[Any]
    channels: int  # of a pixel, of Y alone if there are planes
    swapped: bool = False  # packed: blue first; planes: V before U
    first: int = 0  # pairs: the byte of the first Y; mosaic: x and y of the red pixel, as 2 * y + x
    full: bool = False  # biplanar: U and V for each pixel

    @property
    def planes(self) -> bool:
        return self.kind in ("biplanar", "triplanar")

    @property
    def shares(self) -> bool:
        """Whether pixels share colours, so that their number must be even."""
        return self.kind in ("pairs", "triplanar") or (self.kind == "biplanar" and not self.full)

    def rows(self, height: int) -> int:
        """Return how many rows of one width the array has."""
        if not self.planes:
            return height
        return height * 3 if self.full else height * 3 // 2

    def parts(self, width: int, height: int, step: int) -> list[tuple[int, int, int]]:
        """Return of each plane its rows, their bytes, and those with padding."""
        luma = (height, width, step)
        if self.full:
            return [luma, (height, 2 * width, 2 * step)]
        if self.kind == "biplanar":
            return [luma, (height // 2, width, step)]
        return [luma, (height // 2, width // 2, step // 2), (height // 2, width // 2, step // 2)]


_BYTE, _SHORT = np.dtype(np.uint8), np.dtype(np.uint16)
_LAYOUTS = {
    "mono8": Layout("packed", _BYTE, 1),
    "mono16": Layout("packed", _SHORT, 1),
    "uyvy": Layout("pairs", _BYTE, 2, first=1),
    "yuv422": Layout("pairs", _BYTE, 2, first=1),
    "yuyv": Layout("pairs", _BYTE, 2),
    "yuv422_yuy2": Layout("pairs", _BYTE, 2),
    "nv12": Layout("biplanar", _BYTE, 1),
    "nv21": Layout("biplanar", _BYTE, 1, swapped=True),
    "nv24": Layout("biplanar", _BYTE, 1, full=True),
    "nv42": Layout("biplanar", _BYTE, 1, full=True, swapped=True),
    "i420": Layout("triplanar", _BYTE, 1),
    "yv12": Layout("triplanar", _BYTE, 1, swapped=True),
}
for _name, _channels in (("rgb", 3), ("rgba", 4), ("bgr", 3), ("bgra", 4)):
    for _bits, _dtype in (("8", _BYTE), ("16", _SHORT)):
        _LAYOUTS[_name + _bits] = Layout("packed", _dtype, _channels, swapped=_name[0] == "b")
for _red, _name in enumerate(("rggb", "grbg", "gbrg", "bggr")):
    _LAYOUTS[f"bayer_{_name}8"] = Layout("mosaic", _BYTE, 1, first=_red)
    _LAYOUTS[f"bayer_{_name}16"] = Layout("mosaic", _SHORT, 1, first=_red)


def layout(encoding: str) -> Layout | None:
    """Return the layout of an encoding, None if it is not known."""
    found = _LAYOUTS.get(encoding)
    if found is not None:
        return found
    general = re.fullmatch(r"(8|16|32|64)([USF])C([1-9]\d{0,2})?", encoding)
    if general is None:
        return _LAYOUTS.get(encoding.lower())
    kind = {"U": "u", "S": "i", "F": "f"}[general[2]] + str(int(general[1]) // 8)
    channels = int(general[3] or 1)
    return None if kind == "f1" or channels > 512 else Layout("packed", np.dtype(kind), channels)


def rgb(array: Array, encoding: str) -> Array:
    """Return the colours of a picture, (H, W, 3) uint8."""
    found = layout(encoding)
    if found is None or array.dtype.kind != "u" or found.dtype.itemsize > 2 or encoding.startswith("16UC1"):
        raise ValueError(f"a picture of {encoding} has no colours: its numbers are the array itself")
    if found.kind == "mosaic":
        return _eight(_mosaic(array, found.first))
    if found.kind == "pairs":
        y = array[:, :, found.first]
        color = array[:, :, 1 - found.first]
        return _colors(y, np.repeat(color[:, 0::2], 2, 1), np.repeat(color[:, 1::2], 2, 1))
    if found.planes:
        return _planes(array, found)
    if found.channels in (1, 2):
        if found.channels == 2:
            raise ValueError(f"a picture of {encoding} has no colours: its numbers are the array itself")
        return np.repeat(_eight(array)[:, :, None], 3, 2)
    if found.channels > 4:
        raise ValueError(f"a picture of {encoding} has {found.channels} channels, which are no colours")
    return _eight(array[:, :, 2::-1] if found.swapped else array[:, :, :3])


def _eight(array: Array) -> Array:
    """Return the upper 8 bits."""
    return array if array.dtype.itemsize == 1 else (array >> 8).astype(np.uint8)


def _planes(array: Array, found: Layout) -> Array:
    width, height = array.shape[1], array.shape[0] // 3 if found.full else array.shape[0] * 2 // 3
    flat = np.ascontiguousarray(array).reshape(-1)
    y, rest = flat[: width * height].reshape(height, width), flat[width * height :]
    if found.full:
        pairs = rest.reshape(height, width, 2)
        u, v = pairs[:, :, 0], pairs[:, :, 1]
    elif found.kind == "biplanar":
        pairs = rest.reshape(height // 2, width // 2, 2)
        u, v = (_larger(pairs[:, :, i]) for i in (0, 1))
    else:
        u, v = (_larger(half) for half in rest.reshape(2, height // 2, width // 2))
    return _colors(y, v, u) if found.swapped else _colors(y, u, v)


def _larger(half: Array) -> Array:
    return np.repeat(np.repeat(half, 2, 0), 2, 1)


def _colors(y: Array, u: Array, v: Array) -> Array:
    """Return colours by BT.601 for Y from 16 to 235, in OpenCV's integers of 1 / 2^20."""
    luma = np.maximum(y.astype(np.int32) - 16, 0) * 1220542 + (1 << 19)
    du, dv = u.astype(np.int32) - 128, v.astype(np.int32) - 128
    out = np.empty((*y.shape, 3), np.uint8)
    for i, color in enumerate((luma + 1673527 * dv, luma - 409993 * du - 852492 * dv, luma + 2116026 * du)):
        out[:, :, i] = np.clip(color >> 20, 0, 255)
    return out


def _mosaic(array: Array, red: int) -> Array:
    """Return the colours of a Bayer mosaic: the two that a pixel lacks are means of the nearest pixels that have them.

    Pixels of the edges are those next to them inside, as OpenCV has them, too.
    """
    height, width = array.shape
    if width < 3 or height < 3:
        raise ValueError(f"a mosaic of {width} x {height} pixels has no colours: they need 3 x 3")
    a = array.astype(np.uint32)
    here, side = a[1:-1, 1:-1], a[1:-1, :-2] + a[1:-1, 2:]
    updown = a[:-2, 1:-1] + a[2:, 1:-1]
    corners = a[:-2, :-2] + a[:-2, 2:] + a[2:, :-2] + a[2:, 2:]
    rows, columns = np.arange(1, height - 1)[:, None] & 1, np.arange(1, width - 1)[None, :] & 1
    on_red = rows == red >> 1  # a row of red and green
    own = (columns == (red & 1)) == on_red  # a red or blue pixel
    one = np.where(own, here, (side + 1) >> 1)
    green = np.where(own, (side + updown + 2) >> 2, here)
    other = np.where(own, (corners + 2) >> 2, (updown + 1) >> 1)
    inner = np.stack([np.where(on_red, one, other), green, np.where(on_red, other, one)], 2)
    return np.pad(inner.astype(array.dtype.newbyteorder("=")), ((1, 1), (1, 1), (0, 0)), mode="edge")
