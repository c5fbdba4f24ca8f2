"""The way from one frame to another, up to a frame that is above both: BufferCore's walkToTopParent and its like."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from . import _rotation as rotation
from ._tf import ConnectivityError, ExtrapolationError, FrameError, Transform

if TYPE_CHECKING:
    from ._tf import Transforms, _Series

_DEEPEST = 1000  # MAX_GRAPH_DEPTH


def walk(buffer: Transforms, target: str, source: str, time: int) -> Transform:
    """Return the pose of source in target at a time; 0 is the latest common one."""
    if target == source:
        series = _series_of(buffer, source)
        if series is not None and time == 0:
            time = series.times[-1]
        return Transform(target, source, time, rotation.IDENTITY)
    for name in (target, source):
        if not name or name.startswith("/"):
            slash = "; leave out the slash" if name else ""
            raise FrameError(f"{_what(target, source, time)}: {name!r} is not a name of a frame{slash}")
        if name not in buffer._ids:
            known = ", ".join(sorted(buffer._names)[:20]) or "none"
            raise FrameError(f"{_what(target, source, time)}: there is no frame {name!r}, but {known}")
    return _Walk(buffer, target, source, time).run()


def _series_of(buffer: Transforms, name: str) -> _Series | None:
    number = buffer._ids.get(name)
    return None if number is None else buffer._series[number]


def _what(target: str, source: str, time: int) -> str:
    moment = f" at {time // 10**9}.{time % 10**9:09d} s" if time else ""
    return f"no pose of {source!r} in {target!r}{moment}"


class _Walk:
    """It asks for the transforms above the common parent, too, as tf2 does; that they are missing is no error."""

    def __init__(self, buffer: Transforms, target: str, source: str, time: int) -> None:
        self._buffer, self._names, self._series = buffer, (target, source), buffer._series
        self._target, self._source = buffer._ids[target], buffer._ids[source]
        self._asked = self._time = time

    def run(self) -> Transform:
        if self._time == 0:
            self._time = self._latest_common()
        up, top, missing = self._up()
        if top == self._target:
            return self._done(up)
        down, frame = rotation.IDENTITY, self._target
        depth = 0
        while frame != top:
            series = self._series[frame]
            if series is None:
                break
            found = series.at(self._time)
            if found is None:
                self._extrapolation(frame)
            if frame == self._source:
                return self._done(rotation.inverse(down))
            down, frame = rotation.after(found[2], down), found[1]
            depth += 1
            if depth > _DEEPEST:
                self._loop(frame)
        if frame != top:
            if missing:
                self._extrapolation(top)
            self._disconnected(top, frame)
        return self._done(rotation.after(rotation.inverse(down), up))

    def _up(self) -> tuple[rotation.Rigid, int, bool]:
        """Go up from the source: the transform, the last frame, and whether its own is missing at that time."""
        up, top = rotation.IDENTITY, self._source
        depth = 0
        while True:
            series = self._series[top]
            if series is None:
                return up, top, False
            found = series.at(self._time)
            if found is None:
                return up, top, True
            if top == self._target:
                return up, top, False
            up, top = rotation.after(found[2], up), found[1]
            depth += 1
            if depth > _DEEPEST:
                self._loop(top)

    def _done(self, rigid: rotation.Rigid) -> Transform:
        return Transform(*self._names, self._time, rigid)

    def _latest_common(self) -> int:
        """Return the first of the latest times of all frames between both; 0 if they are static."""
        steps: list[int] = []  # the times on the way up from the source
        reached: dict[int, int] = {}  # a parent, and the number of steps to it
        common: list[int] = []
        frame = end = self._source
        depth = 0
        while True:
            series = self._series[frame]
            if series is None:
                end = frame
                break
            time, parent = self._latest(series)
            common += [time] if time else []
            steps.append(time)
            reached[parent] = len(steps)
            frame = parent
            if frame == self._target:
                return min(common, default=0)
            depth += 1
            if depth > _DEEPEST:
                self._loop(frame)
        common = []
        frame, n, depth = self._target, 0, 0
        while not n:
            series = self._series[frame]
            if series is None:
                self._disconnected(end, frame)
            time, parent = self._latest(series)
            common += [time] if time else []
            n = reached.get(parent, 0)
            if n:
                break
            frame = parent
            if frame == self._source:
                return min(common, default=0)
            depth += 1
            if depth > _DEEPEST:
                self._loop(frame)
        return min(common + [t for t in steps[:n] if t], default=0)

    def _latest(self, series: _Series) -> tuple[int, int]:
        found = series.at(0)
        assert found is not None
        return found[0], found[1]

    def _name(self, frame: int) -> str:
        return self._buffer._names[frame]

    def _fail(self) -> str:
        return _what(*self._names, self._asked)

    def _loop(self, frame: int) -> NoReturn:
        raise FrameError(f"{self._fail()}: a loop, or more than {_DEEPEST} frames, at frame {self._name(frame)!r}")

    def _disconnected(self, end: int, target_end: int) -> NoReturn:
        target, source = self._names
        raise ConnectivityError(
            f"{self._fail()}: the frames are not connected: the parents of {source!r} end at {self._name(end)!r}, "
            f"the parents of {target!r} at {self._name(target_end)!r}"
        )

    def _extrapolation(self, frame: int) -> NoReturn:
        series = self._series[frame]
        assert series is not None
        first, last = (f"{t // 10**9}.{t % 10**9:09d}" for t in (series.times[0], series.times[-1]))
        raise ExtrapolationError(
            f"{self._fail()}: no transform at that time: the transforms of {self._name(frame)!r} are "
            f"from {first} to {last} s"
        )
