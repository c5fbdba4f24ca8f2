"""Pictures that are stored compressed: JPEG, PNG and all else that Pillow reads, and depth by compressed_depth."""

from __future__ import annotations

import io
import struct
from typing import Any, Union

import numpy as np

from ._errors import BagconvError
from ._messages import Unreadable
from ._need import need

Array = np.ndarray[Any, Any]
Buffer = Union[bytes, memoryview]

_VIDEOS = ("h264", "h.264", "h265", "h.265", "hevc", "avc1", "vp8", "vp9", "av1")
_HEADER = struct.Struct("<iff")  # of compressed_depth: kind, a, b
_EMPTY_RVL, _PER_BYTE_RVL = 4 << 20, 64  # pixels that RVL may have, or for each byte

# Pillow's modes, and what they are here.
_MODES = {"L": "mono8", "RGB": "rgb8", "RGBA": "rgba8", "I;16": "mono16", "I;16B": "mono16"}


def decode(format: str, data: Buffer) -> tuple[Array, str]:
    """Return a picture as an array, and its encoding."""
    if not data:
        raise Unreadable(f"it has no data; its format is {format!r:.60}")
    if "compresseddepth" in format.lower():
        return _depth(format, data)
    if bytes(data[:3]) == b"\0\0\1" or bytes(data[:4]) == b"\0\0\0\1" or _is_video(format, data):
        raise BagconvError(
            f"pictures of format {format!r:.60} are parts of a video, of which "
            "bagconv.export(IN, OUT, video=True) makes files"
        )
    return _picture(data)


def _is_video(format: str, data: Buffer) -> bool:
    known = bytes(data[:2]) in (b"\xff\xd8", b"\x89P", b"RI", b"II", b"MM", b"BM", b"GI")
    return not known and any(v in format.lower() for v in _VIDEOS)


def _picture(data: Buffer) -> tuple[Array, str]:
    """Decode a file of a picture with Pillow."""
    image = need("PIL.Image", "a compressed picture")
    try:
        opened = image.open(io.BytesIO(data))
        if opened.mode in ("I", "I;16", "I;16B", "I;16L"):  # 16 bits
            return np.asarray(opened).astype(np.uint16), "mono16"
        if opened.mode not in _MODES:
            opened = opened.convert("RGBA" if opened.mode in ("LA", "PA") or "transparency" in opened.info else "RGB")
        return np.asarray(opened), _MODES[opened.mode]
    except (OSError, ValueError, SyntaxError, image.DecompressionBombError) as e:
        raise Unreadable(f"it cannot be decoded: {e}") from e


def _depth(format: str, data: Buffer) -> tuple[Array, str]:
    """Decode compressed_depth: 16UC1, or 32FC1 in metres, which is stored as its inverse."""
    encoding = format.partition(";")[0].strip()
    if len(data) <= _HEADER.size or encoding not in ("16UC1", "mono16", "32FC1"):
        raise Unreadable(f"depth of {len(data)} bytes and format {format!r:.60}")
    _, a, b = _HEADER.unpack_from(data)
    body = data[_HEADER.size :]
    if "rvl" in format.lower():
        samples = rvl(body)
    else:
        samples, found = _picture(body)
        if found != "mono16":
            raise Unreadable(f"its PNG is {found} and not of 16 bits")
    if encoding != "32FC1":
        return samples, encoding
    with np.errstate(divide="ignore", invalid="ignore"):
        metres = np.float32(a) / (samples.astype(np.float32) - np.float32(b))
    return np.where(samples == 0, np.float32(np.nan), metres).astype(np.float32), encoding


def rvl(data: Buffer) -> Array:
    """Decode RVL (A. D. Wilson, "Fast Lossless Depth Image Compression", 2017).

        width u32  height u32  words u32 ...        little endian

    A word is eight nibbles, the upper first. A number is nibbles of three bits, the lower first, whose upper bit says
    that another one follows. The numbers are: how many samples are 0, how many are not, and of each of these the
    difference to the last that was not 0, as 0, -1, 1, -2, 2 ...
    """
    if len(data) < 8:
        raise Unreadable(f"RVL of {len(data)} bytes")
    width, height = struct.unpack_from("<II", data)
    pixels = width * height
    if pixels == 0 or pixels > max(_EMPTY_RVL, _PER_BYTE_RVL * len(data)):
        raise Unreadable(f"RVL of {width} x {height} pixels in {len(data)} bytes")
    numbers = _numbers(data[8 : 8 + (len(data) - 8) // 4 * 4])
    out = np.zeros(pixels, np.uint16)
    at = used = 0
    last = 0
    while at < pixels:
        if used + 2 > len(numbers):
            raise Unreadable(f"RVL of {width} x {height} pixels is cut after {at}")
        zeros, values = int(numbers[used]), int(numbers[used + 1])
        used += 2
        if zeros + values > pixels - at or zeros + values == 0 or used + values > len(numbers):
            raise Unreadable(f"RVL of {width} x {height} pixels is damaged after {at}")
        at += zeros
        coded = numbers[used : used + values]
        steps = (coded >> 1) ^ -(coded & 1)
        run = (last + np.cumsum(steps)) & 0xFFFF
        out[at : at + values] = run
        if values:
            last = int(run[-1])
        at += values
        used += values
    return out.reshape(height, width)


def _numbers(words: Buffer) -> Array:
    """Return the numbers that nibbles are."""
    upper = np.frombuffer(words, "<u4").astype(">u4").view(np.uint8)
    nibbles = np.empty(2 * len(upper), np.int64)
    nibbles[0::2], nibbles[1::2] = upper >> 4, upper & 15
    ends = np.flatnonzero(nibbles < 8)
    if len(ends) == 0:
        return np.empty(0, np.int64)
    starts = np.concatenate(([0], ends[:-1] + 1))
    place = np.arange(ends[-1] + 1) - np.repeat(starts, ends - starts + 1)
    if int(place.max()) > 10:
        raise Unreadable("RVL has a number of more than 33 bits")
    parts = (nibbles[: ends[-1] + 1] & 7) << (3 * place)
    return np.add.reduceat(parts, starts)
