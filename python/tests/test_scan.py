"""Lazy frames of polars: what is asked of the recording."""

from datetime import datetime, timedelta, timezone

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import bagconv
from bagconv import _process, _scan

when = pl.col("log_time")


@pytest.fixture(scope="module")
def imu(demo):
    return bagconv.open(demo)["/imu/data"]


@pytest.fixture
def asked(monkeypatch):
    """The arguments of the children."""
    calls = []
    child = _process.Child

    class Recorded(child):
        def __init__(self, args, **kw):
            calls.append(args)
            super().__init__(args, **kw)

    monkeypatch.setattr(_process, "Child", Recorded)
    return calls


def at(imu, i):
    return imu.polars("header.stamp")["log_time"][i]


def test_whole(imu):
    assert_frame_equal(imu.scan().collect(), imu.polars())
    assert imu.scan().collect_schema() == imu.polars().schema
    assert imu.scan(flat=True).collect_schema().names() == imu.arrow(flat=True).column_names


def test_columns_are_pushed_down(imu, asked):
    found = imu.scan().select("angular_velocity").collect()
    assert_frame_equal(found, imu.polars().select("angular_velocity"))
    assert any("--columns=angular_velocity" in args for args in asked)
    flat = imu.scan(flat=True).select(pl.col("angular_velocity.x").mean()).collect()
    assert flat.item() == pytest.approx(imu.numpy("angular_velocity.x").mean())
    assert any("--columns=angular_velocity.x" in args for args in asked)


def ranges(asked):
    return [[a for a in args if a.startswith(("--start", "--end"))] for args in asked if "--order=file" not in args]


def test_times_are_pushed_down(imu, asked):
    a, b = at(imu, 100), at(imu, 200)
    whole = imu.polars()
    asked.clear()
    for query in (
        (when >= a) & (when < b),
        when.is_between(a, b),
        (a <= when) & (b > when) & (pl.col("header").struct.field("seq") > 150),
        when == a,
        (when > a) & (when < a + timedelta(milliseconds=10)),
    ):
        asked.clear()
        assert_frame_equal(imu.scan().filter(query).collect(), whole.filter(query))
        assert [len(r) for r in ranges(asked) if r] == [2], query
    for query in (when.dt.year() == 2023, (when >= a) | (when < b), when != a):
        asked.clear()
        assert_frame_equal(imu.scan().filter(query).collect(), whole.filter(query))
        assert not any(ranges(asked)), query


def test_times_beyond_the_recording(imu):
    for moment in (datetime(1990, 1, 1, tzinfo=timezone.utc), datetime(2100, 1, 1, tzinfo=timezone.utc)):
        for query in (moment < when, moment > when, moment == when):
            assert imu.scan().filter(query).collect().height in (0, 400)
    assert imu.scan().filter(datetime(2100, 1, 1, tzinfo=timezone.utc) < when).collect().height == 0


def test_a_number_of_rows(imu):
    assert_frame_equal(imu.scan().head(7).collect(), imu.polars().head(7))
    assert imu.scan().select("header").head(0).collect().height == 0
    assert imu.scan().filter(pl.col("header").struct.field("seq") > 5).head(3).collect().height == 3
    assert imu.scan().select(pl.len()).collect().item() == 400


def test_streaming(imu):
    found = imu.scan().group_by(when.dt.second()).len().collect(engine="streaming")
    assert found["len"].sum() == 400


def test_other_columns(demo):
    tf = bagconv.open(demo)["/tf"]
    found = tf.scan(explode="transforms", flat=True).filter(pl.col("transforms.child_frame_id") == "nope").collect()
    assert found.height == 0
    assert "transforms.child_frame_id" in found.columns


def test_what_polars_may_write_one_day():
    class Meta:
        def serialize(self, format):
            raise NotImplementedError

    class Predicate:
        meta = Meta()

    assert _scan.bounds(Predicate(), "log_time") == (None, None)
