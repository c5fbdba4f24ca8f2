"""What messages of ROS, Foxglove and Apollo have in common, and those that cannot be read."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from . import _process, _row, _times
from ._errors import Loss


class Unreadable(Exception):
    """A picture or cloud whose bytes do not fit what it says of them."""


class Skipped:
    """Counts what is left out, and says so: the first at once, how many there were at the end."""

    def __init__(self, topic: str, what: str) -> None:
        self._topic = topic
        self._what = what
        self._count = 0

    def __enter__(self) -> Skipped:
        return self

    def add(self, time: int, why: Unreadable) -> None:
        self._count += 1
        if self._count == 1:
            self._warn(f"{self._topic}: the {self._what} at {time} is left out: {why}", 1)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._count > 1 and error is None:
            self._warn(f"{self._topic}: {self._count} {self._what}s are left out", self._count)

    def _warn(self, text: str, count: int) -> None:
        _process.warn([Loss(text, code=f"bad-{self._what}", topic=self._topic, count=count)])


def get(message: _row.Row | None, name: str) -> Any:
    """Return a field, None if the message has no such one."""
    return message[name] if message is not None and name in message._fields else None


def stamp(message: _row.Row) -> int | None:
    """Return the time of a message itself, ns since 1970, None if it has none."""
    header = get(message, "header")
    for found in (get(header, "stamp"), get(message, "timestamp")):
        if isinstance(found, int):
            return found
    for seconds in (get(message, "measurement_time"), get(header, "timestamp_sec")):  # of Apollo
        if isinstance(seconds, float) and seconds > 0:
            return _times.ns(seconds)
    return None


def frame_id(message: _row.Row) -> str:
    """Return the coordinate frame of a message, "" if it has none."""
    return str(get(message, "frame_id") or get(get(message, "header"), "frame_id") or "")
