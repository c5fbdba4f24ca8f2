"""One recording as the binary knows it: its path, the flags that say how to read it, and what it says about it."""

from __future__ import annotations

import fnmatch
import os
import re
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, Callable

from . import _process, _times

_MANY = 8  # recordings, and children at a time

GLOB = "*?["  # what makes a glob of the name of a topic

# A stream is read as fast as it comes: 25 MB more for the collector of garbage save 8 % of its time.
_COLLECTOR = {"GOGC": os.environ.get("GOGC", "100")}


class Source:
    """A path and flags. What the binary says is kept; nothing is open between calls."""

    def __init__(
        self,
        path: str,
        *,
        defs: Sequence[str] = (),
        distro: str | None = None,
        format: str | None = None,
        bag_key: str | None = None,
        threads: int | None = None,
    ) -> None:
        self._given, self._absolute, self._folder = path, absolute_path(path), folder()
        self._named = [f"--from={format}"] if format else []
        self._defined = [f"--defs={absolute_path(place)}" for place in defs] + (
            [f"--distro={distro}"] if distro else []
        )
        self._threads = [f"--threads={threads}"] if threads is not None else []
        if bag_key is not None and bag_key.startswith("@"):
            bag_key = "@" + absolute_path(bag_key[1:])
        self.env = {"BAGCONV_BAG_KEY": bag_key} if bag_key else None
        self._topics: dict[str, Any] | None = None
        self._running: weakref.WeakSet[_process.Child] = weakref.WeakSet()
        self._info: dict[str, dict[str, Any]] = {}

    @property
    def path(self) -> str:
        """The path as it was given; in another working folder, such as the folder of a worker, the whole path."""
        return self._given if folder() == self._folder else self._absolute

    def topics(self) -> dict[str, Any]:
        """Return what `info --topics --json` prints: it reads the index alone."""
        if self._topics is None:
            self._topics = _process.run_json(
                ["info", "--topics", "--json", *self._named, "--", self.path], env=self.env
            )
        return self._topics

    def info(self, scan: str = "auto") -> dict[str, Any]:
        """Return what `info --json` prints; scan is auto, always or never."""
        if scan not in self._info:
            args = ["info", "--json", f"--scan={scan}", *self._named, "--", self.path]
            self._info[scan] = _process.run_json(args, env=self.env)
        return self._info[scan]

    def span(self) -> tuple[int | None, int | None]:
        """Return the least and greatest log time, ns since 1970; None without messages."""
        info = self.info("never")
        if info["start_ns"] is None:
            info = self.info()  # the index may not have it
        if info["start_ns"] is None:
            return None, None
        return int(info["start_ns"]), int(info["end_ns"])

    def known(self) -> dict[str, Any] | None:
        """Return what info has printed so far."""
        return self._info.get("auto")

    def definitions(self, topic: str) -> list[dict[str, Any]]:
        """Return the definitions of a topic as `defs show --json` prints them."""
        args = ["defs", "show", "--json", *self._named, *self._defined, "--", self.path, topic]
        found: list[dict[str, Any]] = _process.run_json(args, env=self.env)["definitions"]
        return found

    def edge(self, topic: str, last: bool) -> int | None:
        """Return the log time of the first or last message of a topic, by the index; None without messages."""
        args = ["cat", "--tail=1" if last else "--limit=1", f"--topic={exactly(topic)}", "--raw"]
        out = _process.run([*args, *self._named, *self._defined, *self._threads, "--", self.path], env=self.env)
        line = _process.report_of(out.splitlines()[0]) if out else None
        return int(line["time"]) if line else None

    @property
    def placed(self) -> list[str]:
        """The flag by which large values stay in the file, where it can be mapped."""
        return [] if "://" in self.path else ["--blobs=placed"]

    def cat(self, select: Sequence[str], flags: Sequence[str] = ()) -> list[str]:
        """Return the arguments of a stream of Arrow: flags that select, and others."""
        flags = [*select, *flags, *self._named, *self._defined, *self._threads]
        return ["cat", "--format=arrow", *flags, "--", self.path]

    def child(self, args: Sequence[str]) -> _process.Child:
        """Run the binary; `close` ends what still runs."""
        child = _process.Child(args, env={**_COLLECTOR, **(self.env or {})})
        self._running.add(child)
        return child

    def close(self) -> None:
        """End the children that still run."""
        for child in list(self._running):
            child.close()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_running": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _running=weakref.WeakSet())


def absolute_path(path: str) -> str:
    """Return the whole path of a file; addresses stay."""
    return path if "://" in path else os.path.abspath(path)


def folder() -> str:
    """Return the working folder, "" if it was removed."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def each(sources: Sequence[Source], ask: Callable[[Source], Any]) -> list[Any]:
    """Ask several recordings, at once if they are many: most of it is waiting for processes and stores."""
    if len(sources) < _MANY:
        return [ask(source) for source in sources]
    from concurrent.futures import ThreadPoolExecutor  # whose import takes 5 ms

    with ThreadPoolExecutor(_MANY) as pool:
        return list(pool.map(ask, sources))


def exactly(topic: str) -> str:
    """Return a pattern that only this topic matches."""
    if topic and not topic.startswith("re:") and not any(c in topic for c in GLOB):
        return topic
    return "re:^" + "".join(c if c.isalnum() or ord(c) >= 128 or c in "_/" else "\\" + c for c in topic)


def span(start: _times.Time, end: _times.Time) -> list[str]:
    """Return the flags of a range of time."""
    flags = []
    for flag, value in (("start", start), ("end", end)):
        text = _times.argument(value, flag)
        if text is not None:
            flags.append(f"--{flag}={text}")
    return flags


def absolute(start: int | None, end: int | None) -> list[str]:
    """Return the flags of a range of time in ns since 1970."""
    return [f"--{flag}={_times.epoch(at)}" for flag, at in (("start", start), ("end", end)) if at is not None]


def matches(pattern: str, topic: str) -> bool:
    """Tell whether a pattern of the command line matches the name of a topic."""
    if pattern.startswith("re:"):
        return re.fullmatch(pattern[3:], topic) is not None
    if not any(c in pattern for c in GLOB):
        return pattern == topic
    return re.fullmatch(fnmatch.translate(pattern.replace("[^", "[!")), topic) is not None


def paths(names: Any) -> list[str]:
    """Return the paths of a recording, or of several; a local one that is not there is an error."""
    if isinstance(names, (str, os.PathLike)):
        names = [names]
    found = []
    for name in names:
        path = os.fspath(name)
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if "://" not in path and not os.path.lexists(path):
            raise FileNotFoundError(2, "no such file or folder", path)
        found.append(path)
    if not found:
        raise ValueError("no recording is given")
    return found


def merged(entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what several recordings say about one topic as one entry."""
    first = dict(entries[0])
    first["count"] = sum(e["count"] or 0 for e in entries)
    first["connections"] = sum(e["connections"] for e in entries)
    for key in ("publishers", "qos"):
        values: list[Any] = []
        for e in entries:
            values += [v for v in e[key] if v not in values]
        first[key] = values
    first["latched"] = any(e["latched"] for e in entries)
    return first
