"""Bytes that stay in the recording: a stream has their places, and the file is mapped.

With `--blobs placed` a field of bytes is a struct of bytes, file, offset and size (docs/export.md). A map is closed
when nothing looks into it any more, so that no file is open while nothing is read.
"""

from __future__ import annotations

import mmap
import os
from typing import Any

from ._errors import BagconvError
from ._source import folder

PLACED = ("bytes", "file", "offset", "size")


def is_placed(kind: Any) -> bool:
    """Tell whether a type of Arrow is the type of placed bytes."""
    if kind.num_fields != len(PLACED):
        return False
    fields = [kind.field(i) for i in range(kind.num_fields)]
    return tuple(f.name for f in fields) == PLACED and [str(f.type) for f in fields] == [
        "binary",
        "string",
        "int64",
        "int64",
    ]


class Files:
    """Maps of files by their path, for one stream."""

    def __init__(self) -> None:
        self._maps: dict[str, memoryview] = {}
        self._folder = folder()  # the working folder of the child, too

    def get(self, path: str, offset: int, size: int) -> memoryview:
        """Return size bytes of a file, read-only, without a copy."""
        view = self._maps.get(path)
        if view is None or offset + size > len(view):
            view = self._maps[path] = _map(os.path.join(self._folder, path))
        if offset + size > len(view):
            raise BagconvError(
                f"{path}: it has {len(view)} bytes, and {size} from {offset} on are asked for: it has changed since"
            )
        return view[offset : offset + size]


def _map(path: str) -> memoryview:
    try:
        with open(path, "rb") as f:
            return memoryview(mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError) as e:  # a ValueError: it is empty
        raise BagconvError(f"{path}: it cannot be mapped: {e}") from e
