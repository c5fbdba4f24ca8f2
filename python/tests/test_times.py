"""Times as arguments."""

from datetime import datetime, timedelta, timezone

import numpy as np
import pandas as pd
import pytest

from bagconv import _times

START, END = 1_700_000_000_000_000_000, 1_700_000_010_000_000_000


@pytest.mark.parametrize(
    ("value", "flag"),
    [
        (None, None),
        ("10s", "10s"),
        (10.5, "10.500000000"),
        (-1.25, "-1.250000000"),
        (0.1, "0.100000000"),
        (1_700_000_000_000_000_001, "@1700000000.000000001"),
        (np.int64(1_700_000_000_000_000_001), "@1700000000.000000001"),
        (np.datetime64("2023-11-14T22:13:20.000000001"), "@1700000000.000000001"),
        (np.timedelta64(1500, "ms"), "1.500000000"),
        (timedelta(seconds=2, microseconds=1), "2.000001000"),
        (datetime(2023, 11, 14, 22, 13, 20, 5, tzinfo=timezone.utc), "@1700000000.000005000"),
        (pd.Timestamp(1_700_000_000_000_000_001, tz="UTC"), "@1700000000.000000001"),
        (0, "@0.000000000"),
    ],
)
def test_arguments(value, flag):
    assert _times.argument(value, "start") == flag


@pytest.mark.parametrize("value", [10, datetime(2023, 1, 1), float("nan"), float("inf")])
def test_what_could_mean_something_else_is_refused(value):
    with pytest.raises(ValueError, match=r"start|time"):
        _times.argument(value, "start")


def test_other_types_are_refused():
    with pytest.raises(TypeError, match="start is a list"):
        _times.argument([1], "start")


@pytest.mark.parametrize(
    ("value", "ns"),
    [
        (None, None),
        ("10s", START + 10_000_000_000),
        ("1.5", START + 1_500_000_000),
        ("00:00:01.5", START + 1_500_000_000),
        ("1m0.5s", START + 60_500_000_000),
        ("250ms", START + 250_000_000),
        ("-2s", END - 2_000_000_000),
        ("end-2s", END - 2_000_000_000),
        ("end", END + 1),
        ("start", START),
        ("2023-11-14T22:13:20.000000001Z", START + 1),
        ("2023-11-15T00:13:20+02:00", START),
        ("@1700000000.000000001", START + 1),
        ("1700000000000000001", START + 1),
        (2.5, START + 2_500_000_000),
        (-2.5, END - 2_500_000_000),
        (START + 7, START + 7),
    ],
)
def test_times_of_several_recordings(value, ns):
    assert _times.resolve(value, "start", START, END) == ns


@pytest.mark.parametrize("value", ["", "x", "1x", "@x", "2023-11-14T22:13:20", "1s2"])
def test_texts_that_are_no_times(value):
    with pytest.raises(ValueError, match="is not a time"):
        _times.resolve(value, "start", START, END)
