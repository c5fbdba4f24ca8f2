"""The binary that the tests use, and recordings.

BAGCONV_PYTHON_ENVIRONMENT says what there is besides pytest: with ``referees`` everything, and no test may be skipped;
with ``bare`` nothing.
"""

import importlib.util
import os
import pathlib
import struct
import subprocess

import pytest

import bagconv

TOP = pathlib.Path(__file__).resolve().parents[2]
ENVIRONMENT = os.environ.get("BAGCONV_PYTHON_ENVIRONMENT", "")

# What runs without pyarrow and numpy.
BARE = ("bare", "binary", "docs", "flags", "html", "jobs", "process")
if importlib.util.find_spec("pyarrow") is None:
    collect_ignore = [p.name for p in pathlib.Path(__file__).parent.glob("*.py") if p.stem[len("test_") :] not in BARE]


def pytest_configure(config):
    if ENVIRONMENT == "bare" and importlib.util.find_spec("numpy") is not None:
        raise pytest.UsageError("BAGCONV_PYTHON_ENVIRONMENT is bare, and there is numpy")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if ENVIRONMENT == "referees" and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, although the environment has everything: {report.longrepr}"


@pytest.fixture(scope="session", autouse=True)
def binary(tmp_path_factory):
    """The binary of $BAGCONV, or the binary of the wheel, or for the sources one that go builds."""
    if "BAGCONV" not in os.environ and bagconv.__version__ == "0+source":
        path = tmp_path_factory.mktemp("bin") / "bagconv"
        subprocess.run(["go", "build", "-o", str(path), "./cmd/bagconv"], cwd=TOP, check=True)
        os.environ["BAGCONV"] = str(path)
    return bagconv.find()


@pytest.fixture(scope="session")
def demo():
    return str(TOP / "testdata" / "demo.bag")


def stand_in(path, body):
    """Write a shell script that the package takes for the binary; return its path."""
    path.write_text(f'#!/bin/sh\n[ "$1" != version ] || {{ echo "bagconv (devel)"; exit; }}\n{body}')
    path.chmod(0o755)
    return str(path)


def frames(path):
    """Yield the messages of a recording as they are: encoding, type, topic, time, bytes."""
    data = subprocess.run([bagconv.find(), "cat", path, "--raw", "--framed"], capture_output=True, check=True).stdout
    at = 0
    while at < len(data):
        n, t, *sizes = struct.unpack_from("<IqHHI", data, at)
        end, at = at + 4 + n, at + 20
        texts = []
        for size in sizes:
            texts.append(data[at : at + size].decode())
            at += size
        yield *texts, t, data[at:end]
        at = end


LONG = os.environ.get("BAGCONV_EXHAUSTIVE") == "1"


def recordings(folder, pattern):
    """Paths of recordings that match a pattern: ours and, if they are there, the shared ones; in short a part."""
    ours = sorted((TOP / "testdata" / "recordings" / folder).rglob(pattern))
    shared = sorted((TOP.parent / "shared" / "data" / folder).rglob(pattern))
    return ours + (shared if LONG else shared[::12])
