"""A child: its output, its errors, its end."""

import gc
import multiprocessing
import os
import pathlib
import signal
import subprocess
import threading
import time
import warnings

import pytest
from conftest import stand_in

from bagconv import BagconvError, Loss, _process


def alive(pid):
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def test_output_and_status(demo):
    assert b"/imu/data" in _process.run(["topics", demo])
    assert _process.run_json(["info", "--json", demo])["messages"] == 636


def test_error_is_the_binary_s_line():
    with pytest.raises(BagconvError, match=r"nothere\.bag: no such file or folder") as e:
        _process.run(["info", "nothere.bag"])
    assert e.value.status == 1
    with pytest.raises(BagconvError, match="no-such-flag") as e:
        _process.run(["info", "--no-such-flag"])
    assert e.value.status == 2


def test_loss_is_a_warning(demo, tmp_path):
    cut = tmp_path / "cut.bag"
    cut.write_bytes(pathlib.Path(demo).read_bytes()[:300000])
    with pytest.warns(Loss, match="cut off") as w:
        _process.run(["cat", str(cut), "/imu/data"])
    assert all(x.filename == __file__ for x in w)
    assert "truncated" in [x.message.code for x in w]


def test_close_ends_the_child(demo):
    child = _process.Child(["cat", demo])
    child.stdout.read(10)
    pid = child.pid
    child.close()
    child.close()
    assert not alive(pid)


def test_garbage_ends_the_child(demo):
    child = _process.Child(["cat", demo])
    pid = child.pid
    del child
    gc.collect()
    assert not alive(pid)


def test_a_full_standard_error_stops_nobody(tmp_path, monkeypatch):
    script = stand_in(tmp_path / "loud", "yes error | head -c 3000000 >&2\necho done\nexit 1\n")
    monkeypatch.setenv("BAGCONV", script)
    with pytest.raises(BagconvError, match="error") as e:
        _process.run(["x"])
    assert e.value.status == 1


def test_no_thread_and_no_file_stays(demo):
    _process.run(["topics", demo])
    threads, files = threading.active_count(), len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        _process.run(["topics", demo])
        with _process.Child(["cat", demo]) as child:
            child.stdout.read(1)
    assert threading.active_count() == threads
    assert len(os.listdir("/proc/self/fd")) == files


def test_a_killed_child_is_an_error(demo):
    child = _process.Child(["cat", demo, "--format", "ndjson"])
    os.kill(child.pid, 9)
    child.stdout.read()
    with pytest.raises(BagconvError, match="signal 9"):
        child.finish()


def in_a_fork(child, out):
    child.close()
    out.put(True)


def test_a_fork_leaves_the_child_alone(demo):
    context = multiprocessing.get_context("fork")
    child = _process.Child(["cat", demo])
    queue = context.Queue()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        other = context.Process(target=in_a_fork, args=(child, queue))
        other.start()
    assert queue.get(timeout=30)
    other.join()
    time.sleep(0.05)
    assert child.stdout.read().count(b"\n") == 636
    assert child.finish() == 0


def test_interrupt_while_a_child_starts(demo):
    """A child that the user interrupts before anybody has it ends, too."""
    popen, started = subprocess.Popen, []

    def interrupted(*args, **kwargs):
        started.append(popen(*args, **kwargs))
        os.kill(os.getpid(), signal.SIGINT)
        return started[0]

    with pytest.MonkeyPatch.context() as m:
        m.setattr(subprocess, "Popen", interrupted)
        with pytest.raises(KeyboardInterrupt):
            _process.Child(["cat", demo])
    assert started[0].returncode is not None
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
