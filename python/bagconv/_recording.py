"""Recordings, and how they are opened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from types import TracebackType
from typing import TYPE_CHECKING, Any, Union

from . import _html, _merge, _row, _source, _sync, _times
from ._errors import BagconvError
from ._need import need
from ._topic import Topic

if TYPE_CHECKING:
    from datetime import timedelta

    import pyarrow as pa

    from ._tf import Transforms
    from ._times import Time

_SHOWN = 20  # recordings in HTML
_TRANSFORMS = ("/TFMessage", "/tfMessage", "/TransformStampeds", "/FrameTransforms", "/FrameTransform")

Path = Union[str, "PathLike[str]"]


def open(
    path: Path | Sequence[Path],
    *,
    defs: Path | Sequence[Path] = (),
    distro: str | None = None,
    format: str | None = None,
    bag_key: str | None = None,
    threads: int | None = None,
) -> Recording:
    """Open a recording for reading, of any format: a file, a rosbag2 folder, https://, s3://, gs://, az://.

    A list is read as one recording, by log time. Nothing is read yet: a damaged or unknown file is a `BagconvError`
    of the first use, a path that is not there a FileNotFoundError of this call. Nothing stays open between calls, so
    thousands of recordings may be open at once, and processes may fork.

    Args:
        path: the recording, or several.
        defs: places of definitions that the recording lacks: folders with .msg files, archives, other recordings.
        distro: the ROS 2 distribution whose standard definitions to use, such as "humble".
        format: bag, record, db3, mcap or ros2mcap, if the first bytes are damaged.
        bag_key: of encrypted bags, in hex, or "@FILE".
        threads: workers of each child; by default one per core.
    """
    places = [defs] if isinstance(defs, (str, PathLike)) else list(defs)
    return Recording(
        [
            _source.Source(
                name,
                defs=[str(place) for place in places],
                distro=distro,
                format=format,
                bag_key=bag_key,
                threads=threads,
            )
            for name in _source.paths(path)
        ]
    )


class Recording:
    """A recording, or several as one; `bagconv.open` makes it.

    `rec.topics` and `rec["/imu/data"]` are its topics, `for topic, t, msg in rec.messages()` its messages. All times
    and durations are ints of ns, times since 1970. It may be used by several threads, and pickled. As a context
    manager it ends what still runs for it; that is not needed, as what is not read to its end is ended when nobody
    holds it.
    """

    def __init__(self, sources: Sequence[_source.Source]) -> None:
        self._sources = list(sources)
        self._found: dict[str, Topic] | None = None

    def __enter__(self) -> Recording:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the children that still run for this recording; it can be used again."""
        for source in self._sources:
            source.close()

    @property
    def paths(self) -> list[str]:
        """The paths that were opened."""
        return [source.path for source in self._sources]

    def __repr__(self) -> str:
        if len(self._sources) > 1:
            return f"<bagconv.Recording {self.paths[0]} and {len(self.paths) - 1} more>"
        known = self._sources[0].known()
        return f"<bagconv.Recording {self.paths[0]}>" if known is None else _html.text(known)

    def _repr_html_(self) -> str:
        """What Jupyter shows: the topics, with a timeline."""
        return "\n".join(_html.html(info) for info in self.infos[:_SHOWN])

    # Facts.

    @property
    def info(self) -> dict[str, Any]:
        """What `bagconv info --json` prints, see docs/json.md; of several recordings see `infos`."""
        if len(self._sources) > 1:
            raise BagconvError("these are several recordings: infos has the information of each")
        return self._sources[0].info()

    @property
    def infos(self) -> list[dict[str, Any]]:
        """What `bagconv info --json` prints of each recording."""
        return _source.each(self._sources, _source.Source.info)

    @property
    def start(self) -> int | None:
        """The least log time, ns since 1970; None without messages."""
        return min((a for a, _ in self._known_spans()), default=None)

    @property
    def end(self) -> int | None:
        """The greatest log time, ns since 1970; None without messages."""
        return max((b for _, b in self._known_spans()), default=None)

    @property
    def duration(self) -> int:
        """From the first message to the last, ns."""
        start, end = self.start, self.end
        return 0 if start is None or end is None else end - start

    def _known_spans(self) -> list[tuple[int, int]]:
        spans = _source.each(self._sources, _source.Source.span)
        return [(a, b) for a, b in spans if a is not None and b is not None]

    @property
    def topics(self) -> Mapping[str, Topic]:
        """The topics by name. A second type, or encoding, under one name has the key "NAME~2"."""
        if self._found is None:
            parts: dict[tuple[str, str, str], list[tuple[_source.Source, dict[str, Any]]]] = {}
            for source, said in zip(self._sources, _source.each(self._sources, _source.Source.topics)):
                for entry in said["topics"]:
                    parts.setdefault((entry["name"], entry["type"], entry["encoding"]), []).append((source, entry))
            names = [name for name, _, _ in parts]
            found: dict[str, Topic] = {}
            for (name, _, _), part in sorted(parts.items()):
                key, n = name, 1
                while key in found:
                    n += 1
                    key = f"{name}~{n}"
                found[key] = Topic(part, self._spans, names.count(name) > 1)
            self._found = found
        return self._found

    def __getitem__(self, topic: str) -> Topic:
        found = self.topics.get(topic)
        if found is None:
            raise KeyError(f"{topic!r}: there is no such topic, but {', '.join(self.topics) or 'none at all'}")
        return found

    def __contains__(self, topic: object) -> bool:
        return topic in self.topics

    def __iter__(self) -> Iterator[str]:
        return iter(self.topics)

    def __len__(self) -> int:
        """Number of topics."""
        return len(self.topics)

    def __bool__(self) -> bool:
        return True

    # Messages.

    def messages(
        self, *patterns: str, columns: str | Sequence[str] | None = None, start: Time = None, end: Time = None
    ) -> Iterator[tuple[str, int, _row.Row]]:
        """Yield the messages of several topics by log time: topic, log time, message.

        Args:
            patterns: names of topics, globs such as "/imu/*", or "re:" and a regular expression; none is all.
            columns: fields such as "header.stamp", which is faster; topics without any of them keep all.
            start, end: the range of time, as of `Topic.rows`.

        Messages are views, as of `Topic.rows`. Memory is bounded, but for recordings whose blocks lie far from the
        order of time. A topic without a definition is left out, with a `Loss` warning.
        """
        named = [columns] if isinstance(columns, str) else list(columns or ())
        fields = [f"--columns={','.join(named)}"] if named else []
        select = [f"--topic={p}" for p in patterns] + fields
        if len(self._sources) == 1:
            yield from self._from(self._sources[0], [*select, *_source.span(start, end)])
            return
        chosen = self._match(patterns)
        feeds = []
        for source, (at, span) in self._spans([(s, None) for s in self._sources], start, end):
            there = {entry["name"] for entry in source.topics()["topics"]} & chosen
            if there:
                flags = [f"--topic={_source.exactly(name)}" for name in sorted(there)]

                def begin(
                    source: _source.Source = source, flags: Sequence[str] = (*flags, *fields, *span)
                ) -> Iterator[Any]:
                    return self._from(source, flags)

                feeds.append(_merge.Feed(at, begin))
        yield from _merge.by_time(feeds, lambda message: message[1])

    def sync(
        self,
        *topics: str,
        fps: float | None = None,
        on: str | None = None,
        method: str = "last",
        max_gap: float | str | timedelta | None = None,
        columns: str | Sequence[str] | None = None,
        start: Time = None,
        end: Time = None,
    ) -> pa.Table:
        """Return one table of several topics, whose rows belong together.

            rec.sync("/camera/image", "/joint_states", fps=30, max_gap=0.1)

        The columns are `time`, and for each topic a struct with its name without the first slash: `log_time` and the
        fields of the message that belongs to the row, or null if there is none. docs/export.md has the rules.

        Args:
            topics: names or globs.
            fps: rows per second, from the first message to the last.
            on: the topic each message of which has a row, if there is no fps; by default the first one.
            method: last (not later than the row), nearest, or linear (what is between two messages).
            max_gap: how far from its row a message may be: seconds, "100ms" or a timedelta.
            columns: fields such as "position"; topics without any of them keep all.
            start, end: the range of time, as of `Topic.rows`.
        """
        chosen = _sync.flags(topics, fps, on, method, max_gap, columns)
        return _sync.table(self._sources, [*chosen, *_source.span(start, end)])

    def sync_batches(
        self,
        *topics: str,
        fps: float | None = None,
        on: str | None = None,
        method: str = "last",
        max_gap: float | str | timedelta | None = None,
        columns: str | Sequence[str] | None = None,
        start: Time = None,
        end: Time = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield what `sync` returns as batches of some MB, for pictures and long recordings."""
        chosen = _sync.flags(topics, fps, on, method, max_gap, columns)
        return _sync.batches(self._sources, [*chosen, *_source.span(start, end)])

    def tf(self, *patterns: str) -> Transforms:
        """Return the transforms between coordinate frames: `rec.tf().lookup("map", "base_link", t)`.

        All of /tf and /tf_static are read, about 100 bytes of memory for each transform; topics whose names end with
        tf_static are static.

        Args:
            patterns: names or globs of topics; by default all of the types TFMessage, TransformStampeds (Apollo) and
                FrameTransform (Foxglove).
        """
        need("numpy", "Recording.tf")
        from . import _tfload

        chosen = self._match(patterns)
        return _tfload.load(
            topic
            for topic in self.topics.values()
            if topic.name in chosen and (patterns or topic.type.replace(".", "/").endswith(_TRANSFORMS))
        )

    def _from(self, source: _source.Source, flags: Sequence[str]) -> Iterator[_merge.Message]:
        return _merge.messages(source.child(source.cat(flags, source.placed)))

    def _spans(
        self, parts: Sequence[tuple[_source.Source, Any]], start: Time, end: Time
    ) -> Iterator[tuple[_source.Source, tuple[int, list[str]]]]:
        """Yield the recordings that have a part of a range of time, each with its start and the flags of the range."""
        first, last = self.start, self.end
        if first is None or last is None:
            return
        least, limit = _times.resolve(start, "start", first, last), _times.resolve(end, "end", first, last)
        if (least is not None and least > last) or (limit is not None and limit <= first):
            raise BagconvError(f"nothing is selected: the recordings last from {first} to {last} ns since 1970")
        for source, _ in parts:
            a, b = source.span()
            if a is None or b is None:
                continue
            if (least is not None and b < least) or (limit is not None and a >= limit):
                continue
            yield source, (a, _source.absolute(least, limit))

    def _match(self, patterns: Sequence[str]) -> set[str]:
        """Return the names of topics that patterns match; one that matches none is an error."""
        names = {topic.name for topic in self.topics.values()}
        found: set[str] = set()
        for pattern in patterns:
            matched = {name for name in names if _source.matches(pattern, name)}
            if not matched:
                raise BagconvError(f"{pattern}: the recordings have no such topic, but {', '.join(sorted(names))}")
            found |= matched
        return found if patterns else names
