"""Several topics as one table, a row for each tick or each message of one of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from . import _source, _stream, _times
from ._errors import BagconvError
from ._need import need

if TYPE_CHECKING:
    from datetime import timedelta

METHODS = ("last", "nearest", "linear")


def flags(
    topics: Sequence[str],
    fps: float | None,
    on: str | None,
    method: str,
    max_gap: float | str | timedelta | None,
    columns: str | Sequence[str] | None,
) -> list[str]:
    """Return the flags of a joined table."""
    if not topics:
        raise ValueError("name the topics of the table")
    if fps is not None and on is not None:
        raise ValueError("fps makes rows at a rate, on makes a row for each message of a topic: choose one of them")
    if method not in METHODS:
        raise ValueError(f"method is {method!r}: there are last, nearest and linear")
    found = [f"--topic={topic}" for topic in topics]
    if fps is not None:
        if not fps > 0:
            raise ValueError(f"fps is {fps}: it is to be above 0")
        found.append(f"--resample={float(fps)!r}Hz")
    else:
        on = topics[0] if on is None else on
        found.append(f"--join={on}")
        if on not in topics:
            found.append(f"--topic={on}")
    found.append(f"--method={method}")
    if max_gap is not None:
        found.append(f"--max-gap={_times.duration(max_gap, 'max_gap')}ns")
    if columns is not None:
        found.append("--columns=" + (columns if isinstance(columns, str) else ",".join(columns)))
    return found


def batches(sources: Sequence[_source.Source], arguments: Sequence[str]) -> Iterator[Any]:
    """Yield the batches of a joined table."""
    if len(sources) > 1:
        raise BagconvError("one table of several topics needs one recording: bagconv.merge makes one of several")
    source = sources[0]
    return _stream.batches(source.child(source.cat(arguments)))


def table(sources: Sequence[_source.Source], arguments: Sequence[str]) -> Any:
    """Return the joined table."""
    pa = need("pyarrow", "Recording.sync")
    if len(sources) > 1:
        batches(sources, arguments)
    found: list[Any] = []
    schema = None
    for event in _stream.events(sources[0].child(sources[0].cat(arguments))):
        if event.schema is not None:
            schema = event.schema
        elif event.batch is not None:
            found.append(event.batch)
    if schema is None:
        raise BagconvError("there are no columns: the types have no definitions that can be read")
    return pa.Table.from_batches(found, schema)
