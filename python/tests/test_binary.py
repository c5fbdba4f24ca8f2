"""Where the program is found, and which are refused."""

from __future__ import annotations

import importlib.util
import os
import pickle
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import bagconv
from bagconv import _binary

SOURCES = Path(_binary.__file__).parents[1]


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BAGCONV", raising=False)
    monkeypatch.setattr(_binary, "_checked", {})
    monkeypatch.setattr(_binary, "_installed", None)
    monkeypatch.setattr(_binary, "_places", lambda: iter(()))
    monkeypatch.setattr(_binary, "RELEASE", "1.2.3-rc.1")


def program(folder: Path, version: str, name: str = "bagconv") -> Path:
    """A program that prints a version, and counts how often it was asked."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f'#!/bin/sh\necho x >> "{folder}/asked"\necho "bagconv {version} go1.26.8 linux/amd64"\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.mark.skipif(os.name == "nt", reason="its programs are shell scripts")
class TestFind:
    def test_path(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = program(tmp_path / "a", "1.2.3-rc.1")
        monkeypatch.setenv("PATH", f"{tmp_path / 'a'}{os.pathsep}/bin")
        assert bagconv.find() == str(path)
        assert bagconv.find() == str(path)
        assert (tmp_path / "a/asked").read_text() == "x\n", "it is asked for its version once"
        os.utime(path, ns=(1, 1))
        bagconv.find()
        assert (tmp_path / "a/asked").read_text() == "x\nx\n", "a file that has changed is asked again"

    def test_old(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = program(tmp_path / "a", "1.2.2")
        monkeypatch.setenv("PATH", str(tmp_path / "a") + os.pathsep + "/bin")
        with pytest.raises(bagconv.BagconvError) as e:
            bagconv.find()
        for want in (str(path), "bagconv 1.2.2", "1.2.3-rc.1", str(SOURCES / "bagconv"), "first one on PATH"):
            assert want in str(e.value)
        monkeypatch.setattr(_binary, "RELEASE", None)
        assert bagconv.find() == str(path), "sources have no version"

    def test_by_hand(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("BAGCONV", str(program(tmp_path / "a", "(devel) 0123abc")))
        assert bagconv.find() == str(tmp_path / "a/bagconv")

    def test_variable(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        program(tmp_path / "a", "1.2.3-rc.1")
        other = program(tmp_path / "b", "1.2.3-rc.1", "other")
        monkeypatch.setenv("PATH", f"{tmp_path / 'a'}{os.pathsep}{tmp_path / 'b'}{os.pathsep}/bin")
        for given in (str(other), "other"):
            monkeypatch.setenv("BAGCONV", given)
            assert bagconv.find() == str(other)
        for given in (str(tmp_path), "no-such-program", str(tmp_path / "none")):
            monkeypatch.setenv("BAGCONV", given)
            with pytest.raises(bagconv.BagconvError, match=r"BAGCONV is '.*no such program"):
                bagconv.find()

    def test_something_else(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("BAGCONV", "/bin/false")
        with pytest.raises(bagconv.BagconvError, match="does not answer as bagconv does"):
            bagconv.find()
        monkeypatch.setenv("BAGCONV", "/bin/echo")
        with pytest.raises(bagconv.BagconvError, match=r"is bagconv \?"):
            bagconv.find()

    def test_wheels(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        program(tmp_path / "a", "1.2.2")
        monkeypatch.setenv("PATH", f"{tmp_path / 'a'}{os.pathsep}/bin")
        own = program(tmp_path / "own", "0.0.1")
        monkeypatch.setattr(_binary, "_places", lambda: iter([str(tmp_path / "none"), str(own)]))
        assert bagconv.find() == str(own), "the program of the wheel comes before PATH, and is not asked"
        own.unlink()
        with pytest.raises(bagconv.BagconvError, match=r"1\.2\.2"):
            bagconv.find()

    def test_none(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(bagconv.BagconvError, match=r"not on PATH.*install a wheel"):
            bagconv.find()


def test_main_without_program(tmp_path: Path) -> None:
    env = {**os.environ, "BAGCONV": str(tmp_path / "none"), "PYTHONPATH": str(SOURCES)}
    done = subprocess.run([sys.executable, "-m", "bagconv"], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("bagconv: the environment variable BAGCONV is ")


def test_errors_pickle() -> None:
    e = pickle.loads(pickle.dumps(bagconv.BagconvError("no", status=3, report={"status": "failed"})))
    assert (str(e), e.status, e.report) == ("no", 3, {"status": "failed"})


def test_names() -> None:
    for name in bagconv.__all__:
        assert name in dir(bagconv)
        try:
            assert getattr(bagconv, name) is not None
        except bagconv.MissingDependency:
            assert importlib.util.find_spec("numpy") is None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = bagconv.nothing
