"""Recordings of what a program of Python makes."""

from __future__ import annotations

import contextlib
import json
import os
import struct
import threading
import weakref
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Union

from . import _process, _result, _source, _tables, _times, _values
from ._errors import BagconvError
from ._flags import flags as words
from ._recording import Recording
from ._result import Report

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._flagtypes import ImportFlags
    from ._recording import Path

_HEAD = struct.Struct("<IqHHI")  # n, log time, sizes of encoding, type and topic: docs/import.md
_STAMP = struct.Struct("<qII")
_DEFINITION_ENCODINGS = {"ros1": "ros1msg", "cdr": "ros2msg", "protobuf": "protobuf", "json": "jsonschema"}

Time = Any  # int ns since 1970, datetime with a zone, numpy.datetime64
QoS = Union[str, Mapping[str, Any], Iterable[Mapping[str, Any]], None]


class Writer:
    """Writes a recording of any format: messages as dicts, arrays, tables, or serialized.

        with bagconv.Writer("out.bag", like="in.bag") as w:
            w.write("/odom", t, {"pose": {"pose": {"position": {"x": 1.0}}}})

    ``path`` appears when the writer is closed; an exception in the ``with``, ``abort()``, or the end of the process
    leaves no output. Messages may come in any order.

    Types come from ``topic()``, from the topics of ``like`` (a path or a Recording, or several), whose messages are
    not copied, from ``defs`` (places of definitions), and from the standard ones of ``distro``. ``to`` is the format,
    if the ending of ``path`` does not say it. Other keywords are flags of ``bagconv help import``, such as
    ``compression="lz4"``.

    A writer may be used by several threads. After a fork it belongs to the process that made it.
    """

    def __init__(
        self,
        path: Path,
        *,
        like: Path | Recording | Iterable[Path | Recording] = (),
        defs: Path | Iterable[Path] = (),
        distro: str | None = None,
        to: str | None = None,
        force: bool = False,
        **flags: Unpack[ImportFlags],
    ) -> None:
        self.path = os.fspath(path)
        self.report: Report | None = None
        self._like = _recordings(like)
        self._types: dict[str, dict[str, str]] = {}  # of a topic: encodings by type
        self._aborted = False
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._held = b""  # the last byte of the last frame, so that an early end is within a frame
        self._child: _process.Child | None = None
        places = [defs] if isinstance(defs, (str, os.PathLike)) else list(defs)
        likes = [path for recording in self._like for path in recording.paths]
        chosen = words({"like": likes, "defs": places, "distro": distro, "to": to, "force": force or None, **flags})
        args = ["import", "--json", "--progress=none", *chosen, "--", "-", self.path]
        self._child = _process.Child(args, stdin=_process.PIPE)
        _open.add(self)

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.abort()
        elif not self._aborted:
            self.close()

    def __del__(self) -> None:
        if self.__dict__.get("_child") is not None:
            self.abort()

    def __repr__(self) -> str:
        return f"<bagconv.Writer {self.path}{'' if self._child else ', closed'}>"

    # Topics.

    def topic(
        self,
        name: str,
        type: str,
        definition: str | bytes | None = None,
        *,
        encoding: str | None = None,
        definition_encoding: str | None = None,
        qos: QoS = None,
        latched: bool = False,
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        """Declare a topic, before its first message.

        Args:
            name, type: such as "/imu/data" and "sensor_msgs/msg/Imu".
            definition: the text of the .msg with the texts of the types in it, as rosbag2 has it (of ROS 2 .idl, too),
                a JSON schema, or a serialized FileDescriptorSet; None for a standard type, or one of ``like`` or
                ``defs``.
            encoding: of serialized messages: ros1, cdr, protobuf or json. By default cdr for types as in ROS 2
                (pkg/msg/Type), ros1 for those as in ROS 1 (pkg/Type).
            definition_encoding: ros1msg, ros2msg, ros2idl, protobuf, jsonschema; by default as ``encoding``.
            qos: a profile as ``Topic.qos`` has it, or a list of one for each publisher, or text such as
                "reliable,transient_local,depth=1".
            latched: late subscribers get the last message: latching of ROS 1, transient local of ROS 2.
            metadata: texts by key that the format keeps for a topic.
        """
        chosen = encoding or ("cdr" if "/msg/" in type else "ros1")
        facts: dict[str, Any] = {"encoding": chosen}
        profiles = _profiles(qos)
        texts = dict(metadata or {})
        if latched and chosen == "ros1":
            texts["latching"] = "1"
        elif latched and not profiles:
            profiles = _profiles("reliable,transient_local,depth=1")
        if profiles:
            facts["qos"] = profiles
        if texts:
            facts["metadata"] = texts
        kind = definition_encoding or (_DEFINITION_ENCODINGS.get(chosen, "") if definition else "")
        body = definition.encode("utf-8", "surrogateescape") if isinstance(definition, str) else definition or b""
        line = json.dumps(facts).encode("ascii") + b"\n"
        with self._lock:
            self._types.setdefault(name, {})[type] = chosen
            self._frame(f"definition/{kind}", type, name, 0, line + body)

    # Messages.

    def write(
        self,
        topic: str,
        time: Time,
        message: Any,
        *,
        type: str | None = None,
        encoding: str | None = None,
        publish_time: Time = None,
        sequence: int = 0,
    ) -> None:
        """Write a message.

        Args:
            topic: its name.
            time: its log time: ns since 1970, a datetime with a zone, or a numpy.datetime64.
            message: a dict, a dataclass, a row of this package, a message of rosbags, genpy or rclpy: fields that it
                lacks are zero. Or bytes: a serialized message.
            type: of the topic, if neither ``topic()`` nor ``like`` nor the message itself knows it.
            encoding: of bytes: ros1, cdr, ..., if neither ``topic()`` nor ``like`` knows it. CDR begins with its header
                of 4 bytes.
            publish_time, sequence: what some formats keep besides the log time.
        """
        at = _moment(time, "time")
        raw = isinstance(message, (bytes, bytearray, memoryview))
        with self._lock:
            known, own = self._known(topic), _values.type_of(message)
            kind = type or (own if own in known else next(iter(known), own))
            if not kind:
                raise BagconvError(f"the type of {topic} is not known: give type=, or declare the topic with topic()")
            body = [memoryview(message).cast("B")] if raw else _values.encode(message)
            code = "values" if _values.is_row(message) else "json"
            if raw:
                code = encoding or known.get(kind) or ("cdr" if "/msg/" in kind else "ros1")
            if publish_time is not None or sequence:
                published = at if publish_time is None else _moment(publish_time, "publish_time")
                self._frame("stamp", "", "", 0, _STAMP.pack(published, sequence, 0))
            self._frame(code, kind, topic, at, *body)

    def table(self, topic: str, table: Any, *, type: str | None = None, time: str | None = None) -> None:
        """Write the rows of a table as messages.

        Args:
            topic: its name.
            table: of pyarrow, polars or pandas, a reader of batches, or what ``Topic.arrow`` returns: a column is a
                field, a struct or a name such as ``angular_velocity.x`` one in another. Fields without a column are
                zero.
            type: of the topic, if neither ``topic()`` nor ``like`` nor the metadata of the table knows it.
            time: the column of log times, timestamps or ns; by default ``log_time``, ``time``, or the first one of
                timestamps.
        """
        with self._lock:
            kind = type or next(iter(self._known(topic)), "")
            for piece in _tables.pieces(table, time):
                self._frame("arrow", kind, topic, 0, piece)

    def image(
        self,
        topic: str,
        time: Time,
        array: Any,
        *,
        encoding: str | None = None,
        frame_id: str = "",
        stamp: Time = None,
        type: str | None = None,
    ) -> None:
        """Write a picture, (H, W) or (H, W, C), as a sensor_msgs/Image.

        Args:
            topic, time: as of ``write``; ``stamp`` is the time in its header, by default the same.
            encoding: by default by dtype and channels: mono8, mono16, rgb8, rgba8, 32FC1, ... Give bgr8 or
                bayer_rggb8 if that is what the bytes are.
            type: by default the type of the topic, else sensor_msgs/msg/Image.
        """
        fields = _tables.picture(array, encoding)
        at = _moment(time, "time")
        fields["header"] = {"stamp": at if stamp is None else _moment(stamp, "stamp"), "frame_id": frame_id}
        with self._lock:
            kind = type or next(iter(self._known(topic)), "sensor_msgs/msg/Image")
            self._frame("json", kind, topic, at, *_values.encode(fields))

    def _known(self, topic: str) -> dict[str, str]:
        """The encodings of a topic by type: of ``topic()``, else of the first of ``like`` that has it."""
        if topic not in self._types:
            self._types[topic] = {}
            for recording in self._like:
                found = {t.type: t.encoding for t in recording.topics.values() if t.name == topic}
                if found:
                    self._types[topic] = found
                    break
        return self._types[topic]

    # The end.

    def close(self) -> Report:
        """Write what is left and give the recording its name; return the report.

        Raises BagconvError if that fails, with no output; warns of each Loss. A second call returns the same report.
        """
        with self._lock:
            if self._child is None:
                if self.report is None:
                    raise BagconvError(f"{self.path}: nothing was written, as the writer failed or was aborted")
                return self.report
            child = self._mine()
            if not self._held:  # an empty stream is an error, so that a process that ends early leaves nothing
                self._frame("recording", "", "", 0, b"{}")
            try:
                with contextlib.suppress(OSError):  # the program ended before, and says why
                    assert child.stdin is not None
                    child.stdin.write(self._held)
                    child.stdin.close()
                return self._finish(child)
            finally:
                self._child = None
                child.close()

    def abort(self) -> None:
        """End without an output."""
        with self._lock:
            child, self._child = self._child, None
            if child is not None:
                self._aborted = True
                child.stop()
                child.close()

    def _finish(self, child: _process.Child) -> Report:
        """Wait for the end of the program, whose input has ended."""
        try:
            out = child.stdout.read()
            status, stderr = child.wait()
        except KeyboardInterrupt:
            child.settle()
            raise
        try:
            report = Report(_result.parse(out))
        except ValueError:
            report = Report()
        if status not in (_process.OK, _process.LOSSY):
            raise _process.failure(status, stderr, report)
        self.report = report
        _process.warn(_result.losses(report))
        return report

    # The stream.

    def _mine(self) -> _process.Child:
        if self._child is None:
            raise BagconvError(f"{self.path}: the writer is closed")
        if self._owner != os.getpid():
            raise BagconvError(f"{self.path}: the writer belongs to the process that made it, and not to its fork")
        return self._child

    def _frame(self, encoding: str, type: str, topic: str, time: int, *body: bytes | memoryview) -> None:
        """Write a frame without its last byte, and before it the last byte of the frame before."""
        child = self._mine()
        names = [text.encode("utf-8", "surrogateescape") for text in (encoding, type, topic)]
        sizes = [len(name) for name in names]
        size = _HEAD.size - 4 + sum(sizes) + sum(map(len, body))
        if size >= 1 << 32:
            raise BagconvError(f"{topic}: a message of {size} bytes is too large: a frame has less than 4 GiB")
        parts: list[bytes | memoryview] = [self._held + _HEAD.pack(size, time, *sizes) + b"".join(names), *body]
        while len(parts[-1]) == 0:
            parts.pop()
        parts[-1], self._held = parts[-1][:-1], bytes(parts[-1][-1:])
        try:
            assert child.stdin is not None
            for part in parts:
                child.stdin.write(part)
        except OSError:  # the program has ended, and says why
            self._child = None
            with child:
                self._finish(child)
            raise BagconvError(f"{self.path}: bagconv import ended before its input") from None
        except BaseException:  # an interrupt within a frame
            self._child = None
            child.stop()
            child.close()
            raise

    def _after_fork(self) -> None:
        """In a process that was forked: close our copy of the pipe, or its end would not be seen."""
        child, self._child = self._child, None
        if child is not None:
            child.close()


_open: weakref.WeakSet[Writer] = weakref.WeakSet()


def _forked() -> None:
    for writer in list(_open):
        writer._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def _recordings(like: Any) -> list[Recording]:
    """Return what ``like`` names as recordings."""
    if isinstance(like, (str, os.PathLike, Recording)):
        like = [like]
    return [r if isinstance(r, Recording) else Recording([_source.Source(p) for p in _source.paths(r)]) for r in like]


def _moment(time: Time, name: str) -> int:
    """Return a time in ns since 1970."""
    if isinstance(time, float):
        raise TypeError(f"{name} is a float, which has no place for ns: give an int such as time.time_ns()")
    if isinstance(time, str):
        raise TypeError(f"{name} is text: give an int of ns since 1970, or a datetime with a zone")
    found = time if type(time) is int else _times.resolve(time, name, 0, 0)
    if found is None or not -(1 << 63) <= found < 1 << 63:
        raise ValueError(f"{name} is {time!r}: a time is an int of ns since 1970")
    return int(found)


_POLICIES = {
    "reliable": ("reliability", "reliable"),
    "best_effort": ("reliability", "best_effort"),
    "volatile": ("durability", "volatile"),
    "transient_local": ("durability", "transient_local"),
    "keep_last": ("history", "keep_last"),
    "keep_all": ("history", "keep_all"),
}


def _profiles(qos: QoS) -> list[dict[str, Any]]:
    """Return QoS as a list of profiles."""
    if qos is None:
        return []
    if isinstance(qos, Mapping):
        return [dict(qos)]
    if not isinstance(qos, str):
        return [dict(q) for q in qos]
    profile: dict[str, Any] = {}
    for word in qos.split(","):
        key, equals, value = word.strip().partition("=")
        if equals and key == "depth" and value.isdecimal():
            profile.setdefault("history", "keep_last")
            profile["depth"] = int(value)
        elif not equals and key in _POLICIES:
            key, value = _POLICIES[key]
            profile[key] = value
        else:
            raise ValueError(f"qos: {word!r} is not one of {', '.join(_POLICIES)}, depth=N")
    return [profile]
