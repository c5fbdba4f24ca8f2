"""Streams of Arrow from the binary, batch by batch.

One topic is one stream of Arrow IPC. Several come in pieces, docs/export.md draws them:

    0    u32   number of the topic, from 0 on, little endian; 0xFFFFFFFF is a mark
    4    u64   bytes that follow, little endian
    12   ...   a piece of the stream of this topic; of a mark an i64, ns since 1970

After a mark, all rows up to its log time have come. A stream by itself begins with 0xFFFFFFFF, the mark of
continuation of Arrow, so the first four bytes tell one from the other.
"""

from __future__ import annotations

import io
import struct
from collections import deque
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from ._errors import BagconvError
from ._need import need
from ._process import Child

_HEAD = struct.Struct("<IQ")
_TIME = struct.Struct("<q")
_MARK = 0xFFFFFFFF
_CONTINUATION = b"\xff\xff\xff\xff"
_MOST = 1 << 40  # bytes of a piece


class Event(NamedTuple):
    """A schema, a batch, or a mark."""

    topic: int
    schema: Any = None  # pa.Schema, the first event of a topic
    batch: Any = None  # pa.RecordBatch
    time: int | None = None  # of a mark, ns: rows up to it have come; None: all that have come are in order


def batches(child: Child) -> Iterator[Any]:
    """Yield the batches of a child, of whatever topic, and end it."""
    for event in events(child):
        if event.batch is not None:
            yield event.batch


def schema(child: Child) -> Any:
    """Return the schema of the first stream of a child, and end it."""
    found = events(child)
    for event in found:
        if event.schema is not None:
            found.close()  # type: ignore[attr-defined]
            return event.schema
    raise BagconvError("there are no columns: the type has no definition that can be read; defs= names places of some")


def empty(schema: Any) -> Any:
    """Return a batch without rows."""
    pa = need("pyarrow", "tables")
    return pa.RecordBatch.from_arrays([pa.array([], kind) for kind in schema.types], schema=schema)


def events(child: Child) -> Iterator[Event]:
    """Yield what comes from a child; at its end errors are raised. The child is ended in any case."""
    try:
        pa = need("pyarrow", "reading messages")
        stdout = child.stdout
        first = stdout.peek(4)[:4]  # type: ignore[attr-defined]
        if not first:
            child.finish()
            return
        try:
            yield from _alone(pa, stdout) if first == _CONTINUATION else _Pieces(pa, stdout).events()
        except (pa.ArrowException, OSError, struct.error) as e:
            _drain(stdout)
            child.finish()  # an error of the child is the reason
            raise BagconvError(f"the stream of Arrow is broken: {e}") from e
        _drain(stdout)  # the end mark of a stream is not yet the end of the child
        child.finish()
    finally:
        child.close()


def _alone(pa: Any, stdout: BinaryIO) -> Iterator[Event]:
    """Yield the events of a stream by itself."""
    reader = pa.ipc.open_stream(stdout)
    yield Event(0, schema=reader.schema)
    for batch in reader:
        yield Event(0, batch=batch)
        yield Event(_MARK)  # rows of one topic are in order


def _drain(stdout: BinaryIO) -> None:
    while stdout.read(1 << 20):
        pass


class _Pieces:
    """The streams of several topics. A reader of one topic that needs more bytes takes pieces of all others, too."""

    def __init__(self, pa: Any, stdout: BinaryIO) -> None:
        self._pa = pa
        self._stdout = stdout
        self._topics: dict[int, _Topic] = {}  # by their numbers: one without columns has no stream
        self._waiting: set[int] = set()  # topics with bytes that were not looked at
        self._marks: deque[int] = deque()

    def events(self) -> Iterator[Event]:
        while self.pull():
            while self._waiting:
                number = min(self._waiting)
                topic = self._topics[number]
                if topic.reader is None:
                    topic.reader = self._pa.ipc.open_stream(topic)
                    yield Event(number, schema=topic.reader.schema)
                elif topic.have:
                    try:
                        batch = topic.reader.read_next_batch()
                    except StopIteration:
                        topic.drop()
                    else:
                        yield Event(number, batch=batch)
                if not topic.have:
                    self._waiting.discard(number)
            while self._marks:
                yield Event(_MARK, time=self._marks.popleft())

    def pull(self) -> bool:
        """Take a piece, and return whether there was one."""
        head = self._stdout.read(_HEAD.size)
        if not head:
            return False
        number, length = _HEAD.unpack(head)
        if length > _MOST:
            raise OSError(f"a piece of topic {number} with {length} bytes")
        piece = self._stdout.read(length)
        if len(piece) < length:
            raise OSError(f"a piece of {length} bytes ends after {len(piece)}")
        if number == _MARK:
            self._marks.append(_TIME.unpack(piece)[0])
            return True
        if number not in self._topics:
            self._topics[number] = _Topic(self)
        self._topics[number].add(piece)
        self._waiting.add(number)
        return True


class _Topic(io.RawIOBase):
    """The stream of one topic as a file, for pyarrow."""

    def __init__(self, pieces: _Pieces) -> None:
        super().__init__()
        self._pieces = pieces
        self._bytes: deque[bytes] = deque()
        self.have = 0
        self.reader: Any = None

    def add(self, piece: bytes) -> None:
        self._bytes.append(piece)
        self.have += len(piece)

    def drop(self) -> None:
        self._bytes.clear()
        self.have = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Return size bytes, fewer only at the end of all pieces."""
        while self.have < size and self._pieces.pull():
            pass
        taken: list[bytes] = []
        missing = min(size, self.have)
        self.have -= missing
        while missing:
            piece = self._bytes.popleft()
            if len(piece) > missing:
                self._bytes.appendleft(piece[missing:])
                piece = piece[:missing]
            taken.append(piece)
            missing -= len(piece)
        return taken[0] if len(taken) == 1 else b"".join(taken)
