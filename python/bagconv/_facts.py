"""What a recording says of a topic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from . import _source, _stream
from ._errors import BagconvError

if TYPE_CHECKING:
    import pyarrow as pa


class Facts:
    """The facts of a topic, and how it is selected."""

    name: str
    type: str
    encoding: str

    def __init__(self, parts: Sequence[tuple[_source.Source, dict[str, Any]]], span: Any, several: bool) -> None:
        self._parts = parts
        self._span = span  # of a list of recordings: the absolute range
        self._several = several  # there are other topics of this name
        self._facts = _source.merged([entry for _, entry in parts])
        self._schema: Any = None
        self.name = self._facts["name"]
        self.type = self._facts["type"]
        self.encoding = self._facts["encoding"]

    @property
    def messages(self) -> int:
        """Number of messages, from the index; about that if `estimated`."""
        return int(self._facts["count"] or 0)

    @property
    def estimated(self) -> bool:
        """Whether `messages` is an estimate: a large database without counts."""
        return any(source.topics()["estimated"] for source, _ in self._parts)

    def __len__(self) -> int:
        """Number of messages; where the index has none, all are counted."""
        if not self.estimated:
            return self.messages
        return sum(self._entry(source.info("always"))["count"] for source, _ in self._parts)

    def __bool__(self) -> bool:
        return True

    @property
    def start(self) -> int | None:
        """Log time of the first message, ns since 1970; None without messages."""
        found = [t for t in self._edges("first_ns") if t is not None]
        return min(found) if found else None

    @property
    def end(self) -> int | None:
        """Log time of the last message, ns since 1970; None without messages."""
        found = [t for t in self._edges("last_ns") if t is not None]
        return max(found) if found else None

    @property
    def frequency(self) -> float | None:
        """Messages per second, on average from the first to the last; None with less than two times."""
        start, end = self.start, self.end
        if start is None or end is None or end <= start:
            return None
        return (len(self) - 1) / ((end - start) / 1e9)

    @property
    def qos(self) -> list[dict[str, Any]]:
        """The QoS profile of each publisher, with the keys of `bagconv info --json`; [] of ROS 1."""
        return list(self._facts["qos"])

    @property
    def latched(self) -> bool:
        """Whether late subscribers got the last message."""
        return bool(self._facts["latched"])

    @property
    def publishers(self) -> list[str]:
        """The nodes that published it, if the recording has them."""
        return list(self._facts["publishers"])

    @property
    def definition(self) -> str:
        """The text of the message definition; "" if there is none."""
        source = self._parts[0][0]
        return next((d["text"] for d in source.definitions(self.name) if d["type"] == self.type), "")

    @property
    def schema(self) -> pa.Schema:
        """The columns of its tables; the metadata has the type, the definition and the constants."""
        if self._schema is None:
            source, _ = self._parts[0]
            for event in _stream.events(source.child(source.cat(self._select(), ["--order=file"]))):
                if event.schema is not None and self._keep(event.schema):
                    self._schema = event.schema
                    break
            else:
                raise BagconvError(
                    f"{self.name}: there are no columns: the type has no definition that can be read; "
                    "defs= names places of some"
                )
        return self._schema

    def __repr__(self) -> str:
        return f"<Topic {self.name} {self.type} [{self.encoding}], {self.messages:,} messages>"

    def _select(self) -> list[str]:
        chosen = [f"--topic={_source.exactly(self.name)}"]
        return [*chosen, f"--type={self.type}"] if self._several else chosen

    def _keep(self, schema: Any) -> bool:
        """Tell whether a stream is of this topic: others may have its name, with another type or encoding."""
        if not self._several:
            return True
        metadata = schema.metadata or {}
        return bool(metadata.get(b"bagconv.encoding", b"").decode() == self.encoding)

    def _edges(self, key: str) -> Iterator[int | None]:
        """Yield the first or last time in each recording, from what is known, else by the index."""
        for source, entry in self._parts:
            known = self._entry(source.info())
            if known[key] is not None:
                yield int(known[key])
            elif entry["count"]:
                yield source.edge(self.name, key == "last_ns")

    def _entry(self, info: dict[str, Any]) -> dict[str, Any]:
        key = (self.name, self.type, self.encoding)
        found: dict[str, Any] = next(t for t in info["topics"] if (t["name"], t["type"], t["encoding"]) == key)
        return found
