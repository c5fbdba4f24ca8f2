"""Whole recordings: convert, export, merge, cut, split, verify, check.

Each call is one run of the program, and its keyword arguments are the flags of the command (``_flags`` says how).
What is lost is a ``Loss`` warning for each, and what fails is a ``BagconvError`` with the report. An interrupt ends
the program, which leaves no output then.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Union

from . import _process, _result
from ._flags import flags as words
from ._result import Check, Report, Verification

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._flagtypes import CheckFlags, ConvertFlags, CutFlags, ExportFlags, MergeFlags, SplitFlags, VerifyFlags
    from ._times import Time

Path = Union[str, "os.PathLike[str]"]
Paths = Union[Path, Iterable[Path]]

_DIFFERENT = 4  # exit status of verify and check


def convert(source: Paths, out: Path, **flags: Unpack[ConvertFlags]) -> Report:
    """Convert a recording into another format, or a part of it.

    ``source``: a file, a folder, an ``https://`` or ``s3://`` address; a list names the parts of one recording.
    ``out``: its ending (``.bag``, ``.record``, ``.db3``, ``.mcap``; a folder is rosbag2) or ``to`` choose the format.

    Flags are in ``bagconv help convert``: ``to="mcap"``, ``topics=["/imu", "/cam*"]``, ``start="10s"``,
    ``end=...``, ``compression="lz4"``, ``remap={"/a": "/b"}``, ``verify="content"``, ``force=True``.

    Returns the report. Raises BagconvError; warns of each Loss.

    >>> report = bagconv.convert(demo, folder / "demo.mcap", topics=["/imu/*"])
    >>> report.status, report.sink.messages
    ('ok', 400)
    """
    return _report("convert", _paths(source), out, flags)


def export(source: Paths, out: Path, **flags: Unpack[ExportFlags]) -> Report:
    """Write what is in the messages as tables, pictures, clouds and tracks.

    ``out``: a folder with a table for each topic, or, with an ending such as ``imu.parquet``, the table of the only
    topic that is selected. Flags are in ``bagconv help export``: ``format="parquet"``, ``columns=...``,
    ``flat=True``, ``images="files"``, ``clouds="pcd"``, ``tracks="tum"``.

    Returns the report. Raises BagconvError; warns of each Loss.

    >>> bagconv.export(demo, folder / "imu.parquet", topics="/imu/data").sink.format
    'parquet'
    """
    return _report("export", _paths(source), out, flags)


def lerobot(source: Paths, out: Path, mapping: Path | Mapping[str, Any], **flags: Unpack[ExportFlags]) -> Report:
    """Write recordings as episodes of a LeRobot data set.

    ``source``: a recording, a folder of them, or a list of recordings. ``mapping``: what becomes what, as
    docs/lerobot.md has it: a file, or a dict such as ``{"fps": 30, "task": "pick the cube", "state":
    "/joint_states:position", "action": "next(state)", "cameras": {"front": "/camera/image_raw"}}``;
    ``lerobot_mapping`` guesses one.
    ``append=True`` adds episodes to the data set ``out``.

    Returns the report. Raises BagconvError; warns of each Loss.
    """
    if not isinstance(mapping, Mapping):
        return _report("export", _paths(source), out, {"format": "lerobot", "map": mapping, **flags})
    with tempfile.TemporaryDirectory(prefix="bagconv-") as folder:
        file = os.path.join(folder, "mapping.yaml")  # JSON is YAML
        with open(file, "w", encoding="utf-8") as f:
            json.dump(mapping, f)
        return _report("export", _paths(source), out, {"format": "lerobot", "map": file, **flags})


def lerobot_mapping(source: Paths) -> str:
    """Return a mapping for ``lerobot`` that fits a recording, as the text of a file to look over.

    >>> print(bagconv.lerobot_mapping(demo).splitlines()[0])
    fps: 5
    """
    return _process.run(["export", "--guess", "--", *_paths(source)]).decode("utf-8")


def merge(sources: Iterable[Path], out: Path, **flags: Unpack[MergeFlags]) -> Report:
    """Join several recordings of any formats into one, ordered by time.

    Flags are in ``bagconv help merge``: ``shift={"b.bag": "+0.3s"}``, ``dedupe=True``, and the flags of convert.

    Returns the report. Raises BagconvError; warns of each Loss.

    >>> imu = bagconv.cut(demo, folder / "imu.bag", topics="/imu/data")
    >>> gps = bagconv.cut(demo, folder / "gps.bag", topics="/gps/fix")
    >>> bagconv.merge([folder / "imu.bag", folder / "gps.bag"], folder / "both.mcap").sink.messages
    410
    """
    return _report("merge", _paths(sources), out, flags)


def cut(source: Paths, out: Path, start: Time = None, end: Time = None, **flags: Unpack[CutFlags]) -> Report:
    """Copy a part of a recording: from ``start``, until before ``end``.

    A time is text as on the command line (``"10s"``, ``"1m30s"`` after the first message, ``"-30s"`` before the last,
    ``"2024-05-01T12:00:00Z"``), an int of ns since 1970, a float of seconds after the first message, a timedelta, or a
    date with a time zone. ``topics``, all other flags and the format of ``out`` are as in convert.

    Returns the report. Raises BagconvError; warns of each Loss.

    >>> bagconv.cut(demo, folder / "half.bag", end=0.5, topics="/imu/data").sink.messages
    200
    """
    return _report("convert", _paths(source), out, {"start": start, "end": end, **flags})


def split(source: Paths, out: Path, **flags: Unpack[SplitFlags]) -> list[Report]:
    """Split a recording into parts in the folder ``out``.

    Flags are in ``bagconv help split``: ``max_size="2G"``, ``max_duration="60s"``, ``at=...``,
    ``by="topic"``.

    Returns a report for each part. Raises BagconvError; warns of each Loss.

    >>> len(bagconv.split(demo, folder / "parts", by="topic"))
    9
    """
    status, stderr, value = _run("split", [*words(flags), "--", *_paths(source), f"{_path(out)}{os.sep}"])
    reports = [Report(r) for r in (value if isinstance(value, list) else [value] if value else [])]
    _settled(status, stderr, reports)
    return reports


def verify(a: Paths, b: Path, **flags: Unpack[VerifyFlags]) -> Verification:
    """Compare two recordings, of whatever formats: the same messages at the same times are equal.

    Flags are in ``bagconv help verify``: ``compare="counts"``, ``ignore=...``, ``exact=...``; those that
    select and change apply to ``a``, so that the flags that made ``b`` prove it.

    Returns the comparison, which is true if they are equal. That they differ is no exception: its ``topics`` have the
    first difference of each. Raises BagconvError if they cannot be compared; warns of each Loss by damage.

    >>> bool(bagconv.verify(demo, demo)), bool(bagconv.verify(demo, demo, topics="/imu/data"))
    (True, False)
    """
    status, stderr, value = _run("verify", [*words(flags), "--", *_paths(a), _path(b)])
    if status not in (_process.OK, _process.LOSSY, _DIFFERENT) or not isinstance(value, dict):
        raise _process.failure(status, stderr, value if isinstance(value, dict) else None)
    result = Verification(value)
    damage = [*_result.losses(value["a"]), *_result.losses(value["b"])]
    _process.warn(damage or (_process.losses(stderr) if status == _process.LOSSY else []))
    return result


def check(source: Paths, **flags: Unpack[CheckFlags]) -> Check:
    """Read a recording from end to end, and list what is wrong or odd in it.

    Flags are in ``bagconv help check``: ``fail_on="error"``, ``spec="drive.yaml"``, ``gap=20``.

    Returns the findings; the result is true if none has the severity of ``fail_on`` (warning) or above. Damage is a
    finding, and no warning. Raises BagconvError if the recording cannot be read.

    >>> found = bagconv.check(demo)
    >>> bool(found), [f.code for f in found.findings]
    (True, ['recording-unordered'])
    """
    status, stderr, value = _run("check", [*words(flags), "--", *_paths(source)])
    if isinstance(value, list):
        raise ValueError("these are several recordings: call check for each")
    if status not in (_process.OK, _process.LOSSY, _DIFFERENT) or not isinstance(value, dict):
        raise _process.failure(status, stderr, value if isinstance(value, dict) else None)
    found = Check(value)
    found.__dict__["sound"] = status != _DIFFERENT
    return found


def _report(command: str, sources: list[str], out: Path, flags: Mapping[str, Any]) -> Report:
    """Run a command that writes one output."""
    status, stderr, value = _run(command, [*words(flags), "--", *sources, _path(out)])
    report = Report(value) if isinstance(value, dict) else Report()
    _settled(status, stderr, [report])
    return report


def _settled(status: int, stderr: str, reports: list[Report]) -> None:
    """Raise if a run failed, and warn of what it lost."""
    if status not in (_process.OK, _process.LOSSY):
        raise _process.failure(status, stderr, reports[-1] if reports and reports[-1] else None)
    lost = [loss for r in reports for loss in _result.losses(r)]
    _process.warn(lost or (_process.losses(stderr) if status == _process.LOSSY else []))


def _run(command: str, args: list[str]) -> tuple[int, str, Any]:
    """Run a command to its end; return its exit status, standard error, and JSON (None if it printed none)."""
    with _process.Child([command, "--json", "--progress=none", *args]) as child:
        try:
            out = child.stdout.read()
            status, stderr = child.wait()
        except KeyboardInterrupt:
            child.settle()
            raise
    try:
        return status, stderr, _result.parse(out)
    except ValueError:
        return status, stderr, None


def _paths(paths: Paths) -> list[str]:
    if isinstance(paths, (str, os.PathLike)):
        return [_path(paths)]
    return [_path(p) for p in paths]


def _path(path: Path) -> str:
    name = os.fspath(path)
    if not isinstance(name, str):
        raise TypeError(f"{name!r} is bytes: a path is text")
    return name
