"""Transforms between coordinate frames over time, by the rules of tf2.

- A frame has one parent at a time, which may change. The first transform of a frame decides for good whether it is
  static; a static frame has its last transform at all times.
- Of two transforms of a frame at one time the first one stays. Late ones are put in their place.
- Between two transforms of a frame the position is interpolated linearly, the orientation by slerp. If the parent
  changed between them, the earlier one counts. Nothing is extrapolated.
- A slash in front of the name of a frame is removed. Chains of more than 1,000 frames count as loops.

These are the rules of BufferCore of ROS 1's tf2, but that nothing is forgotten; export/track has the same in Go.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import _rotation as rotation
from ._errors import BagconvError
from ._need import need

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

_TOLERANCE = 10e-3  # QUATERNION_NORMALIZATION_TOLERANCE


class TransformError(BagconvError):
    """There is no transform between two frames at a time."""


class FrameError(TransformError):
    """A frame is unknown, its name is none, or its parents are a loop."""


class ConnectivityError(TransformError):
    """The frames are in different trees."""


class ExtrapolationError(TransformError):
    """A frame between the two has no transform at that time: it is before the first one, or after the last."""


class Transform:
    """The pose of a frame, source, in another one, target: it takes points of source to target.

    Attributes:
        target, source: names of frames.
        time: ns since 1970; 0 if all frames between them are static.
        translation: numpy array (3,), metres.
        rotation: numpy array (4,), a quaternion x, y, z, w.
    """

    __slots__ = ("_rigid", "source", "target", "time")

    def __init__(self, target: str, source: str, time: int, rigid: rotation.Rigid) -> None:
        self.target, self.source, self.time, self._rigid = target, source, time, rigid

    @property
    def translation(self) -> Array:
        np = need("numpy", "transforms")
        found: Array = np.array(self._rigid[1])
        return found

    @property
    def rotation(self) -> Array:
        np = need("numpy", "transforms")
        found: Array = np.array(self._rigid[0])
        return found

    def matrix(self) -> Array:
        """Return the matrix (4, 4) of homogeneous coordinates."""
        np = need("numpy", "transforms")
        x, y, z, w = self._rigid[0]
        s = 2 / rotation.dot(self._rigid[0], self._rigid[0])
        found: Array = np.eye(4)
        found[:3, :3] = (
            (1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)),
            (s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)),
            (s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)),
        )
        found[:3, 3] = self._rigid[1]
        return found

    def apply(self, points: Any) -> Array:
        """Return points (..., 3) of source as points of target."""
        np = need("numpy", "transforms")
        matrix = self.matrix()
        found: Array = np.asarray(points) @ matrix[:3, :3].T + matrix[:3, 3]
        return found

    def inverse(self) -> Transform:
        """Return the pose of target in source."""
        return Transform(self.source, self.target, self.time, rotation.inverse(self._rigid))

    def __matmul__(self, other: Transform) -> Transform:
        """Return the pose of other's source in this target."""
        return Transform(self.target, other.source, self.time, rotation.after(self._rigid, other._rigid))

    def __repr__(self) -> str:
        x, y, z = (f"{v:.6g}" for v in self._rigid[1])
        q = ", ".join(f"{v:.6g}" for v in self._rigid[0])
        return f"<Transform {self.source} in {self.target}: x={x} y={y} z={z} q=({q})>"


class _Series:
    """The transforms of a frame, by time: each time once."""

    __slots__ = ("parents", "static", "times", "values")

    def __init__(self, static: bool) -> None:
        self.static = static
        self.times = array("q")
        self.parents = array("q")
        self.values = array("d")  # seven for each: position, quaternion

    def insert(self, time: int, parent: int, values: Sequence[float]) -> str:
        """Put a transform in its place, and return what became of it."""
        if self.static:
            self.times, self.parents, self.values = array("q", [0]), array("q", [parent]), array("d", values)
            return "kept"
        i = bisect_left(self.times, time)
        if i < len(self.times) and self.times[i] == time:
            same = self.parents[i] == parent and self.values[7 * i : 7 * i + 7] == array("d", values)
            return "repeated" if same else "conflicting"
        self.times.insert(i, time)
        self.parents.insert(i, parent)
        self.values[7 * i : 7 * i] = array("d", values)
        return "kept"

    def rigid(self, i: int) -> rotation.Rigid:
        x, y, z, a, b, c, d = self.values[7 * i : 7 * i + 7]
        return (a, b, c, d), (x, y, z)

    def at(self, time: int) -> tuple[int, int, rotation.Rigid] | None:
        """Return time, parent and transform at a time, 0 is the latest; None before the first and after the last."""
        times = self.times
        if self.static:
            return time, self.parents[-1], self.rigid(len(times) - 1)
        if time == 0:
            return times[-1], self.parents[-1], self.rigid(len(times) - 1)
        if time > times[-1] or time < times[0]:
            return None
        i = bisect_left(times, time)
        if times[i] == time:
            return time, self.parents[i], self.rigid(i)
        if self.parents[i - 1] != self.parents[i]:
            return times[i - 1], self.parents[i - 1], self.rigid(i - 1)
        (q, v), (r, w) = self.rigid(i - 1), self.rigid(i)
        ratio = float(time - times[i - 1]) / float(times[i] - times[i - 1])
        return time, self.parents[i], (rotation.slerp(q, r, ratio), rotation.towards(v, w, ratio))


class Transforms:
    """The transforms of a recording: `lookup(target, source, time)`.

    It does not change once `Recording.tf` has made it, and may be used by several threads, and pickled.
    `counts` has how many transforms were kept, and why others were refused.
    """

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._names: list[str] = []
        self._series: list[_Series | None] = []
        self.counts = dict.fromkeys(
            ("kept", "repeated", "conflicting", "not_finite", "not_normalized", "bad_frame", "kind_changed"), 0
        )

    @property
    def frames(self) -> dict[str, str | None]:
        """The frames, each with its latest parent; None for the root of a tree."""
        found: dict[str, str | None] = {}
        for name, series in zip(self._names, self._series):
            found[name] = None if series is None else self._names[series.parents[-1]]
        return found

    def times(self, frame: str) -> Array:
        """Return the times of the transforms that a frame has: int64, ns; empty if it is static or unknown."""
        np = need("numpy", "transforms")
        number = self._ids.get(frame.lstrip("/"))
        series = None if number is None else self._series[number]
        found: Array = np.array([] if series is None or series.static else series.times, np.int64)
        return found

    def set(
        self,
        parent: str,
        child: str,
        time: int,
        translation: Sequence[float],
        rotation: Sequence[float],
        static: bool = False,
    ) -> bool:
        """Add the pose of a frame in its parent at a time in ns, and return whether it was taken; `counts` has why not.

        `rotation` is a quaternion x, y, z, w.
        """
        values = [float(v) for v in (*translation, *rotation)]
        problem = _problem(parent, child, values)
        if problem:
            self.counts[problem] += 1
            return False
        number, above = self._id(_plain(child)), self._id(_plain(parent))
        series = self._series[number]
        if series is None:
            series = self._series[number] = _Series(static)
        done = series.insert(time, above, values)
        self.counts[done] += 1
        if done == "kept" and series.static != static:
            self.counts["kind_changed"] += 1
        return done == "kept"

    def _id(self, name: str) -> int:
        number = self._ids.get(name)
        if number is None:
            number = self._ids[name] = len(self._names)
            self._names.append(name)
            self._series.append(None)
        return number

    def lookup(self, target: str, source: str, time: Any = None) -> Transform:
        """Return the pose of source in target: what takes points of source to target.

        Args:
            target, source: names of frames.
            time: an int of ns since 1970, a datetime with a zone or numpy.datetime64; None or 0 is the latest time that
                all frames between them have.

        Raises FrameError, ConnectivityError or ExtrapolationError, which are all TransformErrors.
        """
        from ._walk import walk

        return walk(self, target, source, _time(time))

    def can_transform(self, target: str, source: str, time: Any = None) -> bool:
        """Tell whether `lookup` has an answer."""
        try:
            self.lookup(target, source, time)
        except TransformError:
            return False
        return True

    def __repr__(self) -> str:
        return f"<Transforms of {len(self._names)} frames, {self.counts['kept']:,} transforms>"


def _plain(name: str) -> str:
    return name[1:] if name.startswith("/") else name


def _problem(parent: str, child: str, values: Sequence[float]) -> str:
    """Return why tf2 refuses a transform, "" if it does not."""
    if _plain(parent) == _plain(child) or not _plain(parent) or not _plain(child):
        return "bad_frame"
    if any(math.isnan(v) for v in values) or any(math.isinf(v) for v in values[3:]):
        return "not_finite"
    square = sum(v * v for v in values[3:])
    return "" if abs(square - 1) < _TOLERANCE else "not_normalized"


def _time(value: Any) -> int:
    """Return a time as ns since 1970."""
    if value is None:
        return 0
    if isinstance(value, int):
        return value
    from . import _times

    if isinstance(value, (str, float)):
        raise TypeError(f"time is a {type(value).__name__}: give an int of ns since 1970, or a datetime")
    at = _times.resolve(value, "time", 0, 0)
    return 0 if at is None else at
