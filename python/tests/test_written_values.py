"""Values of Python that become messages, and the same values read again."""

import array
import base64
import dataclasses
import datetime
import enum
import json
import math
from typing import ClassVar, NamedTuple

import numpy as np
import pyarrow as pa
import pytest

import bagconv
from bagconv import Writer, _values

T0 = 1_700_000_000_000_000_000
UTC = datetime.timezone.utc

ALL = """
bool yes
int8 i8
uint8 u8
int64 i64
uint64 u64
float32 f32
float64 f64
string text
time at
duration took
uint8[] blob
uint8[3] three
int32[] ints
float64[9] covariance
string[] names
Point[] points
Point point
================================================================================
MSG: p/Point
float64 x
float32 y
"""


def written(tmp_path, message, definition=ALL, **more):
    """Write a message, and read it."""
    out = tmp_path / "out.bag"
    with Writer(out, force=True) as w:
        w.topic("/t", "p/T", definition)
        w.write("/t", T0, message, **more)
    ((t, row),) = bagconv.open(out)["/t"]
    assert t == T0
    return row


def test_all_kinds(tmp_path):
    row = written(
        tmp_path,
        {
            "yes": True,
            "i8": -128,
            "u8": 255,
            "i64": -(1 << 63),
            "u64": (1 << 64) - 1,
            "f32": 0.1,
            "f64": math.nan,
            "text": 'ä "\n\0 \U0001f600',
            "at": datetime.datetime(2023, 11, 14, 22, 13, 20, 5, UTC),
            "took": datetime.timedelta(seconds=-1.5),
            "blob": b"\0\xff",
            "three": [1, 2, 3],
            "ints": range(-2, 2),
            "covariance": np.arange(9.0).reshape(3, 3),
            "names": ("a", ""),
            "points": [{"x": 1}, {"x": math.inf, "y": -math.inf}],
            "point": {"y": 0.5},
        },
    )
    assert (row.yes, row.i8, row.u8, row.i64, row.u64) == (True, -128, 255, -(1 << 63), (1 << 64) - 1)
    assert (row.f32, row.text) == (float(np.float32(0.1)), 'ä "\n\0 \U0001f600')
    assert math.isnan(row.f64)
    assert (row.at, row.took) == (T0 + 5000, -1_500_000_000)
    assert (bytes(row.blob), bytes(row.three)) == (b"\0\xff", b"\1\2\3")
    assert row.ints.tolist() == [-2, -1, 0, 1]
    assert row.covariance.tolist() == list(range(9))
    assert list(row.names) == ["a", ""]
    assert [(p.x, p.y) for p in row.points] == [(1, 0), (math.inf, -math.inf)]
    assert (row.point.x, row.point.y) == (0, 0.5)


def test_numpy_and_others(tmp_path):
    class Colour(enum.Enum):
        RED = 7

    row = written(
        tmp_path,
        {
            "yes": np.bool_(True),
            "i8": np.int8(-3),
            "u8": Colour.RED,
            "i64": np.int64(1 << 62),
            "u64": np.uint64((1 << 64) - 1),
            "f32": np.float32(0.1),
            "f64": np.float64(1e300),
            "text": np.str_("x"),
            "at": np.datetime64(T0 + 1, "ns"),
            "took": np.timedelta64(7, "us"),
            "blob": np.arange(6, dtype=np.uint8).reshape(2, 3),
            "three": array.array("B", b"abc"),
            "ints": array.array("i", [1, -1]),
            "covariance": pa.scalar([1.5] * 9),
            "names": np.array(["a", "b"]),
            "points": np.array([(1, 2), (3, 4)], [("x", "f8"), ("y", "f4")]),
            "point": pa.scalar({"x": 1.0, "y": 2.0}),
        },
    )
    assert (row.yes, row.i8, row.u8, row.i64, row.u64) == (True, -3, 7, 1 << 62, (1 << 64) - 1)
    assert (row.f32, row.f64, row.text) == (float(np.float32(0.1)), 1e300, "x")
    assert (row.at, row.took) == (T0 + 1, 7000)
    assert (bytes(row.blob), bytes(row.three)) == (bytes(range(6)), b"abc")
    assert row.ints.tolist() == [1, -1]
    assert row.covariance.tolist() == [1.5] * 9
    assert list(row.names) == ["a", "b"]
    assert [(p.x, p.y) for p in row.points] == [(1, 2), (3, 4)]
    assert (row.point.x, row.point.y) == (1, 2)


@dataclasses.dataclass
class Stamp:
    sec: int
    nanosec: int
    __msgtype__: ClassVar[str] = "builtin_interfaces/msg/Time"


@dataclasses.dataclass
class Header:
    stamp: Stamp
    frame_id: str
    __msgtype__: ClassVar[str] = "std_msgs/msg/Header"


class GenpyTime:
    __slots__ = ["nsecs", "secs"]

    def __init__(self, secs, nsecs):
        self.secs, self.nsecs = secs, nsecs


class GenpyHeader:
    _type = "std_msgs/Header"
    __slots__ = ["frame_id", "seq", "stamp"]
    _slot_types: ClassVar = ["string", "uint32", "time"]

    def __init__(self, seq, stamp, frame_id):
        self.seq, self.stamp, self.frame_id = seq, stamp, frame_id


class Pair(NamedTuple):
    x: float
    y: float


def test_messages_of_others(tmp_path):
    with Writer(tmp_path / "a.mcap") as w:
        w.write("/rosbags", T0, Header(Stamp(5, 6), "map"))
        w.write("/genpy", T0, GenpyHeader(7, GenpyTime(5, 6), "map"))
    rec = bagconv.open(tmp_path / "a.mcap")
    for topic in ("/rosbags", "/genpy"):
        ((_, row),) = rec[topic]
        assert (rec[topic].type, row.stamp, row.frame_id) == ("std_msgs/msg/Header", 5_000_000_006, "map")
    assert _values.plain(Pair(1, 2)) == {"x": 1, "y": 2}


@pytest.mark.parametrize("ending", ["bag", "mcap", "record"])
def test_rows_again(demo, tmp_path, ending):
    """All rows of a recording, written again, are the recording."""
    rec = bagconv.open(demo)
    with Writer(tmp_path / f"out.{ending}", like=rec) as w:
        for topic, t, row in rec.messages():
            w.write(topic, t, row)
    assert bagconv.verify(demo, tmp_path / f"out.{ending}")


def test_json_of_a_schema(tmp_path):
    """Rows have the names of fields, and dicts are the message."""
    schema = '{"type":"object","properties":{"clientX":{"type":"number"},"name":{"type":"string"}}}'
    with Writer(tmp_path / "a.mcap") as w:
        w.topic("/mouse", "Mouse", schema, encoding="json")
        w.write("/mouse", T0, {"clientX": 1.5, "name": "a"})
    rec = bagconv.open(tmp_path / "a.mcap")
    ((_, row),) = rec["/mouse"]
    assert (row.client_x, row.name) == (1.5, "a")
    with Writer(tmp_path / "b.mcap", like=rec) as w:
        w.write("/mouse", T0, row)
    assert bagconv.verify(tmp_path / "a.mcap", tmp_path / "b.mcap")


def test_structs_without_fields(tmp_path):
    text = "Empty e\nEmpty[2] two\nuint8 n\n" + "=" * 80 + "\nMSG: p/Empty\n"
    row = written(tmp_path, {"e": {}, "two": [{}, True], "n": 7}, text)
    assert row.n == 7
    again = written(tmp_path, row, text)
    assert again == row
    assert row == written(tmp_path, np.array((7,), [("n", "u1")])[()], text)


def test_dicts_again(demo, tmp_path):
    with Writer(tmp_path / "out.mcap", like=demo) as w:
        for topic, t, row in bagconv.open(demo).messages("/imu/*", "/odom", "/tf"):
            w.write(topic, t, row._asdict())
    assert bagconv.verify(demo, tmp_path / "out.mcap", topics=["/imu/*", "/odom", "/tf"])


def test_what_is_wrong(tmp_path):
    for message, at in (
        ({"i8": 128}, r"field i8: .*: 128 is no int8"),
        ({"text": 5}, r"field text: .*: 5 is no text"),
        ({"points": [{}, {"x": "a"}]}, r"field points\[1\]\.x: "),
        ({"covariance": [1]}, r"field covariance: .*: 1 values for an array of 9"),
    ):
        with pytest.warns(bagconv.Loss, match=at), pytest.raises((bagconv.BagconvError, ValueError)):
            written(tmp_path, message)


def test_no_values(demo, tmp_path):
    with Writer(tmp_path / "a.bag", like=demo) as w:
        for message in (5, "text", [1], None, np.zeros(3)):
            with pytest.raises(TypeError, match=r"a message is bytes, or has fields|is no value of a message"):
                w.write("/odom", T0, message)
        with pytest.raises(TypeError, match="a object is no value of a message"):
            w.write("/odom", T0, {"header": object()})
        w.abort()


def test_json():
    assert _values.encode({"a": b"\0", "b": [np.uint8([1, 2])]}) == [b'{"a":"AA==","b":["AQI="]}']
    (text,) = _values.encode({"blob": np.arange(256, dtype=np.uint8)})
    assert base64.b64decode(json.loads(text)["blob"]) == bytes(range(256))
    large = bytes(range(256)) * 40
    for blob in (large, bytearray(large), memoryview(large), np.frombuffer(large, np.uint8).reshape(2, -1)):
        found = json.loads(b"".join(_values.encode({'"a': 1, "blob": blob, "c": {"d": large}})))
        assert base64.b64decode(found.pop("blob")) == large
        assert found == {'"a': 1, "c": {"d": base64.b64encode(large).decode()}}
