"""A user's program as mypy sees it; nothing runs it. What it ignores must be an error."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import bagconv

if TYPE_CHECKING:
    from typing_extensions import assert_type


def jobs(path: Path) -> None:
    report = bagconv.convert(path, "out.mcap", to="mcap", topics=["/a"], start="10s", throttle={"/cam": 5}, force=True)
    assert_type(report, bagconv.Report)
    assert_type(bagconv.cut(path, "out.bag", 1.5, timedelta(seconds=3), chunk_size="4M"), bagconv.Report)
    assert_type(bagconv.split(path, Path("parts"), max_size=10**9), "list[bagconv.Report]")
    assert_type(bagconv.verify(path, "out.mcap", compare="counts"), bagconv.Verification)
    assert_type(bagconv.check([path], fail_on="error").sound, bool)
    bagconv.convert(path, "out.mcap", topicz=["/a"])  # type: ignore[call-arg]
    bagconv.convert(path, "out.mcap", force="yes")  # type: ignore[arg-type]
    bagconv.check(path, to="bag")  # type: ignore[call-arg]
    bagconv.convert(5, "out.mcap")  # type: ignore[arg-type]


def reading() -> None:
    rec = bagconv.open("drive.bag", distro="humble")
    assert_type(rec, bagconv.Recording)
    assert_type(rec["/imu"], bagconv.Topic)
    for topic, t, message in rec.messages("/imu"):
        assert_type(topic, str)
        assert_type(t, int)
        assert_type(message, bagconv.Row)
    bagconv.open(5)  # type: ignore[arg-type]


def writing() -> None:
    with bagconv.Writer("out.bag", like="in.bag", compression="lz4") as w:
        w.topic("/a", "p/T", qos="reliable", latched=True)
        w.write("/a", 0, {"x": 1})
    assert_type(w.close(), bagconv.Report)
    bagconv.Writer("out.bag", compresion="lz4")  # type: ignore[call-arg]
