"""What a Writer writes, and what it leaves when something fails."""

import datetime
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import TOP, frames

import bagconv
from bagconv import BagconvError, Writer

T0 = 1_700_000_000_000_000_000


def copy(demo, writer):
    for encoding, kind, topic, t, message in frames(demo):
        writer.write(topic, t, message, type=kind, encoding=encoding)


def left(folder):
    """Everything in a folder, hidden files of a run too."""
    return sorted(p.name for p in folder.iterdir())


@pytest.mark.parametrize("ending", ["bag", "mcap", "record", "db3"])
def test_bytes(demo, tmp_path, ending):
    out = tmp_path / f"out.{ending}"
    with Writer(out, like=demo) as w:
        copy(demo, w)
        assert repr(w) == f"<bagconv.Writer {out}>"
    assert w.report.sink.messages == 636
    assert bagconv.verify(demo, out)
    assert bagconv.verify(demo, out, level="bytes") or ending != "bag"
    assert w.close() is w.report
    assert repr(w).endswith(", closed>")
    with pytest.raises(BagconvError, match="the writer is closed"):
        w.write("/odom", T0, b"")


def test_nothing(tmp_path, demo):
    """A recording without messages is one, too."""
    with Writer(tmp_path / "like.mcap", like=demo):
        pass
    assert bagconv.open(tmp_path / "like.mcap").info["messages"] == 0
    with Writer(tmp_path / "out.bag"):
        pass
    assert bagconv.open(tmp_path / "out.bag").info["messages"] == 0


def test_two_types_under_a_name(tmp_path):
    path = TOP / "testdata/recordings/ros1/generated/two-types-one-topic.bag"
    rec = bagconv.open(path)
    with Writer(tmp_path / "out.bag", like=rec) as w:
        for topic, t, row in rec.messages():
            w.write(topic, t, row)
    assert bagconv.verify(path, tmp_path / "out.bag")


def test_order_does_not_matter(demo, tmp_path):
    with Writer(tmp_path / "out.bag", like=bagconv.open(demo)) as w:
        for encoding, kind, topic, t, message in reversed(list(frames(demo))):
            w.write(topic, t, message, type=kind, encoding=encoding)
    assert bagconv.verify(demo, tmp_path / "out.bag")


def test_an_exception_leaves_nothing(demo, tmp_path):
    with pytest.raises(ZeroDivisionError), Writer(tmp_path / "out.bag", like=demo) as w:
        copy(demo, w)
        _ = 1 / 0
    assert left(tmp_path) == []
    with pytest.raises(BagconvError, match="nothing was written, as the writer failed or was aborted"):
        w.close()


def test_no_close_leaves_nothing(demo, tmp_path):
    w = Writer(tmp_path / "out.bag", like=demo)
    copy(demo, w)
    pid = w._child.pid
    del w
    gc.collect()
    assert left(tmp_path) == []
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


CRASH = """
import os, signal, bagconv
w = bagconv.Writer({out!r}, like={demo!r})
for i in range({n}):
    w.write("/odom", i, b"x" * 1000)
{end}
"""


@pytest.mark.parametrize("n", [0, 1, 100, 5000])
@pytest.mark.parametrize("end", ["os.kill(os.getpid(), signal.SIGKILL)", "os._exit(0)", "raise SystemExit", ""])
def test_a_crash_leaves_nothing(demo, tmp_path, n, end):
    code = CRASH.format(out=str(tmp_path / "out.bag"), demo=demo, n=n, end=end)
    env = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(bagconv.__file__))}
    subprocess.run([sys.executable, "-c", code], env=env, check=False, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 20
    while left(tmp_path) and time.monotonic() < deadline:  # of the program, which outlives its caller
        time.sleep(0.02)
    assert left(tmp_path) == []


def test_failures(demo, tmp_path):
    (tmp_path / "out.bag").write_bytes(b"")
    with pytest.raises(BagconvError, match="no such file"), Writer(tmp_path / "none" / "out.bag", like=demo) as w:
        copy(demo, w)
    with pytest.raises(FileNotFoundError, match="nothere"):
        Writer(tmp_path / "a.bag", like=tmp_path / "nothere.bag")
    with pytest.raises(BagconvError, match="no-such-flag") as e, Writer("a.bag", no_such_flag=1) as w:
        for i in range(10000):
            w.write("/a", i, b"x" * 1000, type="p/T")
    assert e.value.status == 2
    with pytest.raises(BagconvError, match="nothing defines its messages") as e, Writer(tmp_path / "a.bag") as w:
        w.write("/a", T0, b"", type="nobody_msgs/Nothing")
    assert e.value.report["status"] == "failed"
    assert left(tmp_path) == ["out.bag"]


def test_wrong_arguments(demo, tmp_path):
    with Writer(tmp_path / "out.bag", like=demo) as w:
        with pytest.raises(BagconvError, match="the type of /new is not known: give type="):
            w.write("/new", T0, b"")
        with pytest.raises(TypeError, match="time is a float, which has no place for ns"):
            w.write("/odom", 1.5, b"")
        with pytest.raises(TypeError, match="time is text"):
            w.write("/odom", "10s", b"")
        with pytest.raises(ValueError, match="no time zone"):
            w.write("/odom", datetime.datetime(2023, 1, 1), b"")
        with pytest.raises(ValueError, match="ns since 1970"):
            w.write("/odom", 1 << 63, b"")
        with pytest.raises(ValueError, match="qos: 'reliabl' is not one of reliable, best_effort"):
            w.topic("/new", "p/T", qos="reliabl")
        copy(demo, w)
    assert bagconv.verify(demo, tmp_path / "out.bag"), "what is refused is not in the stream"


def test_topic(tmp_path):
    text = "float64 x\nHeader header\n" + "=" * 80 + "\nMSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n"
    with Writer(tmp_path / "out.mcap") as w:
        w.topic("/a", "p/msg/T", "float64 x\n", qos="best_effort,depth=5")
        w.topic("/b", "p/T", text, latched=True)
        w.topic("/c", "sensor_msgs/msg/Imu", latched=True)
        w.topic("/d", "std_msgs/String")
        w.write("/a", T0, b"\0\1\0\0" + bytes(8), publish_time=T0 + 5, sequence=7)
        w.write("/b", datetime.datetime(2023, 11, 14, 22, 13, 20, 1, datetime.timezone.utc), memoryview(bytes(24)))
        w.write("/d", T0 + 2, bytearray(b"\x02\0\0\0hi"))
    rec = bagconv.open(tmp_path / "out.mcap")
    assert rec["/a"].definition.startswith("float64 x")
    assert (rec["/a"].qos[0]["reliability"], rec["/a"].qos[0]["depth"]) == ("best_effort", 5)
    assert rec["/a"].start == T0
    assert rec["/b"].start == T0 + 1000
    assert (rec["/b"].type, rec["/b"].latched) == ("p/msg/T", True)
    assert [m.data for _, m in rec["/d"]] == ["hi"]
    assert list(rec["/a"].arrow()["publish_time"].cast("int64").to_pylist()) == [T0 + 5]


def test_threads(demo, tmp_path):
    def some(w, n):
        for i in range(200):
            w.write("/odom", T0 + i, b"x" * (n * 50 + i))

    with Writer(tmp_path / "out.bag", like=demo) as w:
        threads = [threading.Thread(target=some, args=(w, n)) for n in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert w.report.sink.messages == 1600


def forked(w, queue):
    try:
        w.write("/odom", T0, b"")
    except BagconvError as e:
        queue.put(str(e))
    gc.collect()
    time.sleep(3)


def test_fork(demo, tmp_path):
    """A fork neither writes into the stream nor keeps its end from being seen."""
    context = multiprocessing.get_context("fork")
    w = Writer(tmp_path / "out.bag", like=demo)
    copy(demo, w)
    queue = context.SimpleQueue()
    child = context.Process(target=forked, args=(w, queue))
    child.start()
    assert "the writer is closed" in queue.get()
    begun = time.monotonic()
    w.close()
    assert time.monotonic() - begun < 2.5
    assert child.is_alive()
    os.kill(child.pid, signal.SIGKILL)
    child.join()
    assert bagconv.verify(demo, tmp_path / "out.bag")
