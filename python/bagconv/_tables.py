"""Tables of Python as streams of Arrow, and arrays as pictures, for a Writer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ._need import need

_PIECE = 8 << 20  # bytes of a batch, about

# The encoding of a picture by dtype and number of channels: REP 118.
_ENCODINGS = {
    ("uint8", 1): "mono8",
    ("uint16", 1): "mono16",
    ("uint8", 3): "rgb8",
    ("uint8", 4): "rgba8",
    ("uint16", 3): "rgb16",
    ("uint16", 4): "rgba16",
}
_LETTERS = {"u": "U", "i": "S", "f": "F"}


def pieces(table: Any, time: str | None) -> Iterator[memoryview]:
    """Yield a stream of Arrow in pieces of whole messages: a schema, batches of some MB, and the end.

    ``table`` is one of pyarrow, polars or pandas, a batch or a reader of pyarrow, or anything with
    ``__arrow_c_stream__``. ``time`` is the column of log times, which becomes ``log_time``.
    """
    pa = need("pyarrow", "Writer.table")
    sink = _Sink()
    writer = None
    for batch in _batches(pa, table):
        if time is not None:
            batch = _renamed(batch, time)
        if writer is None:
            writer = pa.ipc.new_stream(sink, batch.schema)
        step = max(1, batch.num_rows * _PIECE // max(batch.nbytes, 1))
        for start in range(0, batch.num_rows, step):
            writer.write_batch(batch.slice(start, step))
            yield sink.take()
    if writer is not None:
        writer.close()
        yield sink.take()


class _Sink:
    """A file that is emptied now and then."""

    closed = False

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, data: Any) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def take(self) -> memoryview:
        data = b"".join(self._parts)
        self._parts.clear()
        return memoryview(data)


def _batches(pa: Any, table: Any) -> Iterator[Any]:
    if isinstance(table, pa.RecordBatch):
        yield table
    elif isinstance(table, (pa.Table, pa.RecordBatchReader)):
        yield from table.to_batches() if isinstance(table, pa.Table) else table
    elif type(table).__module__.partition(".")[0] == "pandas":
        yield from pa.Table.from_pandas(table).to_batches()
    elif hasattr(table, "to_arrow"):  # polars, in versions that pyarrow may not know
        yield from table.to_arrow().to_batches()
    elif hasattr(table, "__arrow_c_stream__"):
        yield from pa.RecordBatchReader.from_stream(table)
    else:
        raise TypeError(f"a {type(table).__qualname__} is no table of pyarrow, polars or pandas")


def _renamed(batch: Any, time: str) -> Any:
    names = batch.schema.names
    if time not in names:
        raise KeyError(f"the table has no column {time!r}, but {', '.join(names)}")
    return batch.rename_columns(["log_time" if name == time else name for name in names])


def picture(array: Any, encoding: str | None) -> dict[str, Any]:
    """Return the fields of a sensor_msgs/Image, but for the header: ``array`` is (H, W) or (H, W, C)."""
    np = need("numpy", "Writer.image")
    pixels = np.ascontiguousarray(array)
    if pixels.ndim not in (2, 3) or pixels.size == 0 or pixels.dtype.kind not in _LETTERS:
        raise ValueError(f"a picture is an array of numbers (H, W) or (H, W, C), and not {pixels.dtype} {pixels.shape}")
    height, width, channels = (*pixels.shape, 1)[:3]
    kind = pixels.dtype
    if encoding is None:
        usual = f"{8 * kind.itemsize}{_LETTERS[kind.kind]}C{channels}"
        encoding = _ENCODINGS.get((kind.newbyteorder("=").name, channels), usual)
    big = kind.byteorder == ">" or (kind.byteorder == "=" and not np.little_endian)
    return {
        "height": height,
        "width": width,
        "encoding": encoding,
        "is_bigendian": int(big and kind.itemsize > 1),
        "step": width * channels * kind.itemsize,
        "data": memoryview(pixels).cast("B"),
    }
