"""Merges what comes from several streams by log time.

Each stream is in the order of time. Streams that begin later than what is read are not begun: of a thousand recordings
one after the other, one child runs at a time.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from typing import Any, Callable, NamedTuple

from . import _columns, _row, _rows, _stream
from ._need import need
from ._process import Child

Message = tuple[str, int, _row.Row]


class Feed(NamedTuple):
    """A stream that is begun when it is needed, and the time before which it has nothing."""

    start: int
    open: Callable[[], Iterator[Any]]


def messages(child: Child) -> Iterator[Message]:
    """Yield the messages of a child by log time: topic, time, row; messages of equal times by the order of topics.

    In memory is what lies between two marks of the stream.
    """
    readers: dict[int, _rows.Reader] = {}
    waiting: list[_Batch] = []
    events = _stream.events(child)
    try:
        for event in events:
            if event.schema is not None:
                readers[event.topic] = _rows.Reader(event.schema)
            elif event.batch is None:
                waiting = yield from _round(waiting, event.time)
            elif event.batch.num_rows:
                waiting.append(_Batch(event.topic, event.batch, readers[event.topic]))
        yield from _round(waiting, None)
    finally:
        events.close()  # type: ignore[attr-defined]


class _Batch:
    """Rows that wait."""

    def __init__(self, topic: int, batch: Any, reader: _rows.Reader) -> None:
        self.topic = topic
        self.name = reader.topic
        self.times = _columns.times(batch)
        self.row = reader.row(batch)
        self.next = 0


def _round(waiting: list[_Batch], until: int | None) -> Any:
    """Yield the rows up to a time, and return the batches with others."""
    np = need("numpy", "messages")
    ready: list[tuple[int, int, _Batch, int]] = []
    for batch in waiting:
        end = len(batch.times) if until is None else int(np.searchsorted(batch.times, until, "right"))
        if end > batch.next:
            ready.append((batch.topic, batch.next, batch, end))
            batch.next = end
    if len(ready) == 1:
        _, first, batch, end = ready[0]
        for i, t in enumerate(batch.times[first:end].tolist(), first):
            yield batch.name, t, batch.row(i)
    elif ready:
        ready.sort(key=lambda r: r[0])
        times = np.concatenate([b.times[first:end] for _, first, b, end in ready])
        whose = np.concatenate([np.full(end - first, n) for n, (_, first, _, end) in enumerate(ready)])
        index = np.concatenate([np.arange(first, end) for _, first, _, end in ready])
        order = np.argsort(times, kind="stable")
        batches = [r[2] for r in ready]
        for n, i, t in zip(whose[order].tolist(), index[order].tolist(), times[order].tolist()):
            batch = batches[n]
            yield batch.name, t, batch.row(i)
    return [batch for batch in waiting if batch.next < len(batch.times)]


def by_time(feeds: Sequence[Feed], time: Callable[[Any], int]) -> Iterator[Any]:
    """Yield the items of several feeds by time; of equal times the items of the first feed first."""
    later = sorted(enumerate(feeds), key=lambda f: f[1].start, reverse=True)
    heap: list[tuple[int, int, Any, Iterator[Any]]] = []
    running: list[Any] = []
    try:
        while later or heap:
            if later and (not heap or later[-1][1].start <= heap[0][0]):
                number, feed = later.pop()
                items = feed.open()
                running.append(items)
                for item in items:
                    heapq.heappush(heap, (time(item), number, item, items))
                    break
                continue
            _, number, item, items = heap[0]
            yield item
            for item in items:
                heapq.heapreplace(heap, (time(item), number, item, items))
                break
            else:
                heapq.heappop(heap)
    finally:
        for items in running:
            items.close()


def batches(feeds: Sequence[Feed]) -> Iterator[Any]:
    """Yield batches of several feeds of one topic, cut where another one goes on."""
    later = sorted(feeds, key=lambda f: f.start, reverse=True)
    heads: list[tuple[int, int, Any, Any, Any]] = []  # first time, number, times, batch, the rest
    running: list[Any] = []
    try:
        while later or heads:
            if later and (not heads or later[-1].start <= heads[0][0]):
                items = later.pop().open()
                running.append(items)
                _push(heads, len(running), items)
                continue
            _, number, times, batch, items = heapq.heappop(heads)
            limits = [h[0] for h in heads[:1]] + [f.start for f in later[-1:]]
            end = len(times) if not limits else max(1, int(times.searchsorted(min(limits), "right")))
            yield batch.slice(0, end)
            if end < len(times):
                heapq.heappush(heads, (int(times[end]), number, times[end:], batch.slice(end), items))
            else:
                _push(heads, number, items)
    finally:
        for items in running:
            items.close()


def cut(waiting: Sequence[tuple[int, Any]], until: int | None) -> Any:
    """Yield the rows up to a time of batches, each with the number of its stream, by time; return the others.

    The streams belong to one topic with several definitions, so that their batches are not put together.
    """
    if until is None and len({number for number, _ in waiting}) < 2:
        yield from (batch for _, batch in waiting)
        return []
    ready: dict[int, list[Any]] = {}
    rest = []
    for number, batch in waiting:
        times = _columns.times(batch)
        end = len(times) if until is None else int(times.searchsorted(until, "right"))
        if end:
            ready.setdefault(number, []).append(batch.slice(0, end))
        if end < len(times):
            rest.append((number, batch.slice(end)))
    feeds = []
    for parts in ready.values():

        def begin(parts: list[Any] = parts) -> Iterator[Any]:
            yield from parts

        feeds.append(Feed(int(_columns.times(parts[0])[0]), begin))
    yield from batches(feeds)
    return rest


def _push(heads: list[Any], number: int, items: Iterator[Any]) -> None:
    """Add the next batch of a feed that has rows."""
    for batch in items:
        if batch.num_rows:
            times = _columns.times(batch)
            heapq.heappush(heads, (int(times[0]), number, times, batch, items))
            return
