"""Keyword arguments as flags."""

from __future__ import annotations

import datetime
import os
from pathlib import Path
from typing import Any

import pytest

from bagconv import BagconvError, check
from bagconv._flags import flags

UTC = datetime.timezone.utc


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"to": "db3", "level": 3, "force": True}, ["--to=db3", "--level=3", "--force"]),
        ({"force": False, "to": None}, ["--force=false"]),
        ({"topics": ["/a", "/b*"], "topic": "/c"}, ["--topic=/a", "--topic=/b*", "--topic=/c"]),
        (
            {"exclude_topics": ("/a",), "exclude_types": "X", "types": "Y"},
            ["--exclude-topic=/a", "--exclude-type=X", "--type=Y"],
        ),
        ({"columns": ["a.b", "c"], "ignore": ("extras",)}, ["--columns=a.b,c", "--ignore=extras"]),
        ({"chunk_size": "4M", "from_": "bag"}, ["--chunk-size=4M", "--from=bag"]),
        ({"remap": {"/a": "/b", "/c": "/d"}}, ["--remap=/a:=/b", "--remap=/c:=/d"]),
        ({"throttle": {"/imu": 10.5}, "qos": {"/a": "reliable"}}, ["--throttle=/imu=10.5", "--qos=/a:reliable"]),
        ({"shift": {Path("b.bag"): "+0.3s"}}, ["--shift=b.bag=+0.3s"]),
        ({"start": "-30s", "end": "a b\n"}, ["--start=-30s", "--end=a b\n"]),
        ({"gap": 0.1, "rate": 1e-7, "level": 1e20}, ["--gap=0.1", "--rate=0.0000001", "--level=100000000000000000000"]),
        ({"start": 0.1, "end": -1.5}, ["--start=0.100000000", "--end=-1.500000000"]),
        ({"start": 1700000000000034983}, ["--start=@1700000000.000034983"]),
        ({"start": datetime.timedelta(minutes=1, microseconds=1)}, ["--start=60.000001000"]),
        ({"at": [datetime.datetime(2023, 11, 14, 22, 13, 20, 34983, UTC)]}, ["--at=@1700000000.034983000"]),
        ({"start": datetime.datetime(1970, 1, 1, tzinfo=UTC)}, ["--start=@0.000000000"]),
        ({"spec": os.fspath(Path("a") / "b")}, [f"--spec={Path('a') / 'b'}"]),
    ],
)
def test_words(values: dict[str, Any], words: list[str]) -> None:
    assert flags(values) == words


@pytest.mark.parametrize("key", ["json", "report", "progress", "quiet", "output", "help_"])
def test_taken(key: str) -> None:
    with pytest.raises(TypeError, match="is no argument of this call"):
        flags({key: True})


def test_no_value() -> None:
    with pytest.raises(ValueError, match="start has no time zone"):
        flags({"start": datetime.datetime(2023, 1, 1)})
    with pytest.raises(TypeError, match="end is a object: give an int of ns since 1970"):
        flags({"end": object()})
    with pytest.raises(ValueError, match=r"for seconds after the first message write 10\.0"):
        flags({"start": 10})
    with pytest.raises(TypeError, match=r"to is .*, a object: no flag has such a value"):
        flags({"to": object()})


def test_names_are_no_flags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BagconvError, match="--exit-zero: no such file"):
        check("--exit-zero")


def test_numpy_and_pandas() -> None:
    np = pytest.importorskip("numpy")
    assert flags({"at": np.datetime64("2023-11-14T22:13:20.000034983")}) == ["--at=@1700000000.000034983"]
    assert flags({"offset": np.timedelta64(-1500, "ms")}) == ["--offset=-1.500000000"]
    assert flags({"start": np.int64(1700000000000034983)}) == ["--start=@1700000000.000034983"]
    assert flags({"gap": np.float64(0.25), "level": np.uint8(3)}) == ["--gap=0.25", "--level=3"]
    pd = pytest.importorskip("pandas")
    assert flags({"end": pd.Timestamp(1700000000034983, tz="UTC")}) == ["--end=@1700000.000034983"]
    assert flags({"end": pd.Timedelta(1500000001)}) == ["--end=1.500000001"]
