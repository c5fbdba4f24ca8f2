"""Conversions, exports, comparisons: what they return, warn of and raise."""

from __future__ import annotations

import copy
import json
import os
import pickle
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest
from conftest import stand_in

import bagconv
from bagconv import BagconvError, Loss, _result

TOP = Path(__file__).resolve().parents[2]


def test_convert(demo: str, tmp_path: Path) -> None:
    out = tmp_path / "a b.mcap"
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what is lost by design is no Loss
        report = bagconv.convert(demo, out, topics=["/imu/*", "/odom"], verify="content")
        record = bagconv.convert(demo, tmp_path / "demo.record")
    assert (report.status, report.sink.path, report["sink"]["messages"]) == ("ok", str(out), 450)
    assert {t.name for t in report.topics} == {"/imu/data", "/odom"}
    assert isinstance(report.elapsed_ns, int)
    assert "callerid" in [x.code for x in record.losses]
    assert repr(report) == f"<bagconv.Report ok: {demo} -> {out}, 450 messages>"
    assert report.verified == "content"
    with pytest.raises(BagconvError, match=r"it exists already \(mcap\)") as e:
        bagconv.convert(demo, out)
    assert e.value.status == 1
    assert e.value.report is not None
    assert e.value.report["status"] == "failed"
    assert bagconv.convert(demo, out, force=True, dry_run=True).dry_run is True


def test_loss(tmp_path: Path) -> None:
    record = TOP / "testdata/recordings/cyber/generated/no-desc-and-undeclared.record"
    with pytest.warns(Loss) as caught:
        report = bagconv.convert(record, tmp_path / "out.bag")
    assert report.status == "lossy"
    lost = {x.topic: x for x in report.losses if x.code == "topic-dropped"}
    warned = {w.message.topic: w.message for w in caught if w.message.code == "topic-dropped"}  # type: ignore[union-attr]
    assert lost
    assert warned.keys() == lost.keys()
    for topic, loss in lost.items():
        assert str(warned[topic]) == f"{topic}: {loss.message}"
        assert warned[topic].count == loss.count


def test_damage(demo: str, tmp_path: Path) -> None:
    cut = tmp_path / "cut.bag"
    cut.write_bytes(Path(demo).read_bytes()[:300000])
    with pytest.warns(Loss) as caught:
        report = bagconv.convert(cut, tmp_path / "cut.mcap")
    assert report.status == "lossy"
    assert 0 < report.sink.messages < 636
    assert "truncated" in [w.message.code for w in caught]
    assert all(w.filename == __file__ for w in caught), "a warning points at the line that called"
    assert "truncated" in repr(report)
    with pytest.raises(BagconvError) as e:
        bagconv.convert(cut, tmp_path / "strict.mcap", strict=True)
    assert e.value.status == 1
    assert not (tmp_path / "strict.mcap").exists()
    with warnings.catch_warnings():
        warnings.simplefilter("error", Loss)
        with pytest.raises(Loss):
            bagconv.convert(cut, tmp_path / "raised.mcap")
    with pytest.warns(Loss):
        assert bagconv.verify(cut, tmp_path / "cut.mcap")
    with pytest.warns(Loss):
        assert not bagconv.verify(cut, demo)
    found = bagconv.check(cut)
    assert not found
    assert found.errors > 0
    assert bagconv.check(cut, exit_zero=True)
    assert repr(found).startswith(f"<bagconv.Check {cut}: {found['errors']} errors, ")


def test_verify(demo: str, tmp_path: Path) -> None:
    bagconv.cut(demo, tmp_path / "half.bag", end=0.5)
    whole = bagconv.verify(demo, tmp_path / "half.bag")
    assert not whole
    assert "/imu/data" in whole.different
    first = next(t.first for t in whole.topics if t.name == "/imu/data")
    assert (first.kind, first.index) == ("missing", 200)
    assert isinstance(first.time_ns, int)
    part = bagconv.verify(demo, tmp_path / "half.bag", end=0.5)
    assert part
    assert part.different == []
    assert "equal" in repr(part)
    with pytest.raises(BagconvError, match="nothere: no such file"):
        bagconv.verify(demo, "nothere")


def test_check(demo: str) -> None:
    found = bagconv.check(Path(demo))
    assert found
    assert [f.code for f in found.findings] == ["recording-unordered"]
    assert not bagconv.check(demo, fail_on="note")
    with pytest.raises(BagconvError, match="nothere: no such file") as e:
        bagconv.check("nothere")
    assert e.value.status == 1
    assert e.value.report is not None
    with pytest.raises(ValueError, match="call check for each"):
        bagconv.check([demo, demo.replace("demo.bag", "demo.record")])


def test_parts(demo: str, tmp_path: Path) -> None:
    reports = bagconv.split(demo, tmp_path / "parts", max_duration="300ms", latch="none")
    assert len(reports) == 4
    assert sum(r.sink.messages for r in reports) == 636
    parts = sorted((tmp_path / "parts").iterdir())
    merged = bagconv.merge(parts, tmp_path / "merged.bag")
    assert merged.sink.messages == 636
    assert bagconv.verify(demo, tmp_path / "merged.bag")
    with pytest.raises(BagconvError, match="exists"):
        bagconv.split(demo, tmp_path / "parts", max_duration="300ms")
    with pytest.raises(BagconvError):
        bagconv.merge([demo], tmp_path / "alone.bag")


def test_export(demo: str, tmp_path: Path) -> None:
    report = bagconv.export(demo, tmp_path / "tables", images="files")
    assert report.sink.format == "parquet"
    assert (tmp_path / "tables/imu/data.parquet").is_file()
    assert bagconv.export([demo], tmp_path / "odom.csv", topics="/odom", flat=True).sink.messages == 50
    both = bagconv.export([demo, TOP / "testdata/demo.record"], tmp_path / "both")
    assert (both.ok, both.results[0].written) == (2, 636)
    assert repr(both) == f"<bagconv.Report ok: 2 recordings -> {tmp_path / 'both'}>"
    assert (tmp_path / "odom.csv").read_text().startswith("log_time,")


def test_lerobot(demo: str, tmp_path: Path) -> None:
    mapping = {
        "fps": 10,
        "task": "drive",
        "state": "/odom:pose.pose",
        "action": "next(state)",
        "cameras": {"front": "/cam_b/image_raw"},
    }
    assert bagconv.lerobot(demo, tmp_path / "set", mapping, no_sync=True).status == "ok"
    info = json.loads((tmp_path / "set/meta/info.json").read_text())
    assert (info["total_episodes"], info["fps"]) == (1, 10)
    again = bagconv.lerobot(demo, tmp_path / "set", mapping, append=True)
    assert again.status == "ok"
    assert json.loads((tmp_path / "set/meta/info.json").read_text())["total_episodes"] == 2
    guess = tmp_path / "mapping.yaml"
    guess.write_text(bagconv.lerobot_mapping(demo).replace("describe the task", "drive"))
    assert bagconv.lerobot([demo], tmp_path / "guessed", guess).status == "ok"
    with pytest.raises(BagconvError, match="fps"):
        bagconv.lerobot(demo, tmp_path / "wrong", {"fps": -1})
    assert not (tmp_path / "wrong").exists()


def test_wrong_arguments(demo: str, tmp_path: Path) -> None:
    with pytest.raises(BagconvError, match="no-such-flag") as e:
        bagconv.convert(demo, tmp_path / "a.bag", no_such_flag=1)
    assert e.value.status == 2
    with pytest.raises(TypeError, match="bytes"):
        bagconv.convert(b"a.bag", tmp_path / "a.bag")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_result() -> None:
    r = _result.parse(b'{"a_ns": "-12", "deadline_ns": "infinite", "b": [{"time_ns": null, "items": "1"}], "c_ns": 3}')
    assert r == {"a_ns": -12, "deadline_ns": "infinite", "b": [{"time_ns": None, "items": "1"}], "c_ns": 3}
    assert r.b[0]["items"] == "1"
    assert "deadline_ns" in dir(r)
    with pytest.raises(AttributeError, match="no 'd'; it has a_ns, deadline_ns, b, c_ns"):
        _ = r.d
    for again in (copy.deepcopy(r), pickle.loads(pickle.dumps(r))):
        assert again == r
        assert again.b[0].time_ns is None


SLOW = """
trap 'echo INT >> "$0.heard"; sleep 0.2; exit 130' INT
trap 'echo TERM >> "$0.heard"; exit 130' TERM
echo > "$0.ready"
while :; do sleep 0.02; done
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("everybody", [False, True])
def test_interrupt(tmp_path: Path, everybody: bool) -> None:
    """A child that has not heard the interrupt is asked to end; one that has is left to clean up."""
    program = stand_in(tmp_path / "slow", SLOW)
    code = "import bagconv; bagconv.convert('a.bag', 'b.bag')"
    env = {**os.environ, "BAGCONV": program, "PYTHONPATH": str(Path(bagconv.__file__).parents[1])}
    caller = subprocess.Popen([sys.executable, "-c", code], env=env, stderr=subprocess.PIPE, start_new_session=True)
    ready = tmp_path / "slow.ready"
    deadline = time.monotonic() + 20
    while not ready.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    (os.killpg if everybody else os.kill)(caller.pid, signal.SIGINT)
    _, stderr = caller.communicate(timeout=20)
    assert b"KeyboardInterrupt" in stderr
    assert (tmp_path / "slow.heard").read_text() == ("INT\n" if everybody else "TERM\n")
