"""Joined tables."""

from datetime import timedelta

import numpy as np
import pyarrow as pa
import pytest

import bagconv


@pytest.fixture(scope="module")
def rec(demo):
    return bagconv.open(demo)


def ns(column):
    return column.combine_chunks().view(pa.int64()).to_numpy(zero_copy_only=False)


def last(times, at):
    return np.searchsorted(times, at, "right") - 1


def test_rows_at_a_rate(rec):
    table = rec.sync("/imu/data", "/gps/fix", fps=30)
    assert table.column_names == ["time", "imu/data", "gps/fix"]
    at = ns(table["time"])
    assert np.all(np.abs(np.diff(at) - 1e9 / 30) < 2)
    for topic in ("/imu/data", "/gps/fix"):
        times = rec[topic].numpy("log_time").astype(np.int64)
        rows = table[topic[1:]].to_pylist()
        for row, i in zip(rows, last(times, at)):
            assert (row is None) == (i < 0)
            assert row is None or row["log_time"].value == times[i]


def test_rows_of_a_topic(rec):
    for table in (rec.sync("/gps/fix", "/imu/data"), rec.sync("/imu/data", on="/gps/fix")):
        assert ns(table["time"]).tolist() == rec["/gps/fix"].numpy("log_time").astype(np.int64).tolist()


def test_gaps_and_columns(rec):
    table = rec.sync("/imu/data", "/gps/fix", fps=100, max_gap=0.02, columns=["latitude", "header.stamp"])
    assert table["gps/fix"].null_count > 50
    fields = table.schema.field("gps/fix").type
    assert [fields.field(i).name for i in range(fields.num_fields)] == ["log_time", "header", "latitude"]
    same = rec.sync("/imu/data", "/gps/fix", fps=100, max_gap="20ms", columns=["latitude", "header.stamp"])
    assert same.equals(table)
    assert rec.sync("/imu/data", "/gps/fix", fps=100, max_gap=timedelta(milliseconds=20), columns="latitude").num_rows


def test_ranges_and_batches(rec):
    table = rec.sync("/imu/data", "/gps/fix", fps=10, method="linear", start=0.2, end="800ms")
    assert 4 <= table.num_rows <= 7
    found = list(rec.sync_batches("/imu/data", "/gps/fix", fps=10, method="linear", start=0.2, end="800ms"))
    assert pa.Table.from_batches(found).equals(table)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"fps": 0}, "above 0"),
        ({"fps": float("nan")}, "above 0"),
        ({"method": "cubic"}, "last, nearest and linear"),
        ({"fps": 1, "on": "/gps/fix"}, "choose one"),
        ({"fps": 1, "max_gap": 0}, "above 0"),
    ],
)
def test_arguments_that_are_wrong(rec, arguments, why):
    with pytest.raises(ValueError, match=why):
        rec.sync("/imu/data", **arguments)
    with pytest.raises(ValueError, match="name the topics"):
        rec.sync()
    with pytest.raises(bagconv.BagconvError, match="no such topic"):
        rec.sync("/nope", fps=1)


def test_several_recordings(demo):
    with pytest.raises(bagconv.BagconvError, match=r"bagconv\.merge"):
        bagconv.open([demo, demo]).sync("/imu/data", fps=1)
