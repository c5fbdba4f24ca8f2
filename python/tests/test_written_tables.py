"""Tables and arrays that become messages."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import bagconv
from bagconv import Writer, _tables

T0 = 1_700_000_000_000_000_000


@pytest.mark.parametrize("ending", ["bag", "mcap", "record"])
@pytest.mark.parametrize("flat", [False, True])
def test_tables_again(demo, tmp_path, ending, flat):
    """All topics as tables, written again, are the recording."""
    rec = bagconv.open(demo)
    with Writer(tmp_path / f"out.{ending}", like=demo) as w:
        for name, topic in rec.topics.items():
            w.table(name, topic.arrow(flat=flat))
    assert bagconv.verify(demo, tmp_path / f"out.{ending}")


def test_what_is_a_table(demo, tmp_path):
    """Every kind of table, of types that only the metadata or an argument knows, and in small batches."""
    odom = bagconv.open(demo)["/odom"]
    table = odom.arrow()
    batches = list(odom.batches())
    kind = {"type": odom.type}
    with Writer(tmp_path / "out.mcap") as w:
        w.table("/metadata", table)
        w.table("/batches", pa.Table.from_batches(table.to_batches(max_chunksize=7)), **kind)
        w.table("/batch", batches[0].slice(0, 20), **kind)
        w.table("/batch", batches[0].slice(20), **kind)
        w.table("/reader", table.to_reader(max_chunksize=3), **kind)
        w.table("/polars", odom.polars(), **kind)
        w.table("/pandas", odom.pandas(flat=False), **kind)
        w.table("/capsule", Capsule(table), **kind)
        w.table("/renamed", table.rename_columns(["when", *table.column_names[1:]]), time="when", **kind)
        w.table("/none", table.slice(0, 0), **kind)
    rec = bagconv.open(tmp_path / "out.mcap")
    want = [(t, r._asdict()["pose"]["pose"]) for t, r in odom]
    for name in ("metadata", "batches", "batch", "reader", "polars", "pandas", "capsule", "renamed"):
        assert [(t, r._asdict()["pose"]["pose"]) for t, r in rec[f"/{name}"]] == want, name
    assert "/none" not in rec or rec["/none"].messages == 0


class Capsule:
    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def test_columns_of_numpy(tmp_path):
    n = 1000
    frame = pd.DataFrame(
        {"t": T0 + np.arange(n) * 10**6, "angular_velocity.z": np.linspace(0, 1, n), "header.frame_id": "imu"}
    )
    with Writer(tmp_path / "out.db3") as w:
        w.table("/imu", frame, type="sensor_msgs/msg/Imu", time="t")
    imu = bagconv.open(tmp_path / "out.db3")["/imu"]
    t, z = imu.numpy("log_time", "angular_velocity.z")
    assert t.astype("int64").tolist() == frame["t"].tolist()
    assert np.array_equal(z, frame["angular_velocity.z"])


def test_wrong_tables(demo, tmp_path):
    with Writer(tmp_path / "a.bag", like=demo) as w:
        with pytest.raises(TypeError, match="a list is no table of pyarrow, polars or pandas"):
            w.table("/odom", [1])
        with pytest.raises(KeyError, match="the table has no column 'when', but a, b"):
            w.table("/odom", pl.DataFrame({"a": [1], "b": [2]}), time="when")
        w.abort()
    with pytest.raises(bagconv.BagconvError, match="type"), Writer(tmp_path / "b.bag") as w:
        w.table("/new", pa.table({"log_time": [T0], "x": [1.0]}))
    with pytest.raises(bagconv.BagconvError, match="time"), Writer(tmp_path / "b.bag") as w:
        w.table("/new", pa.table({"x": [1.0]}), type="geometry_msgs/Point")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("topic", ["/cam_a/image_raw", "/cam_b/image_raw"])
def test_pictures_again(demo, tmp_path, topic):
    with Writer(tmp_path / "out.mcap") as w:
        for frame in bagconv.open(demo)[topic].images():
            w.image(topic, frame.time, frame, stamp=frame.stamp, frame_id=frame.frame_id)
    assert bagconv.verify(demo, tmp_path / "out.mcap", topics=topic)


@pytest.mark.parametrize(
    ("kind", "shape", "encoding"),
    [
        ("u1", (2, 3), "mono8"),
        ("<u2", (2, 3, 1), "mono16"),
        (">u2", (2, 3), "mono16"),
        ("u1", (2, 3, 3), "rgb8"),
        ("u1", (2, 3, 4), "rgba8"),
        ("<u2", (2, 3, 3), "rgb16"),
        ("<f4", (2, 3), "32FC1"),
        ("<f8", (2, 3, 2), "64FC2"),
        ("<i2", (2, 3), "16SC1"),
        ("i1", (2, 3, 2), "8SC2"),
    ],
)
def test_encodings(tmp_path, kind, shape, encoding):
    array = np.arange(np.prod(shape)).reshape(shape).astype(kind)
    with Writer(tmp_path / "out.bag") as w:
        w.image("/cam", T0, array[:, ::-1], type="sensor_msgs/Image")
    (frame,) = bagconv.open(tmp_path / "out.bag")["/cam"].images()
    assert frame.encoding == encoding
    assert np.array_equal(np.asarray(frame).reshape(shape), array[:, ::-1])


def test_no_pictures():
    for array in (np.zeros(3), np.zeros((0, 3)), np.zeros((2, 2, 2, 2)), np.array([["a"]]), np.zeros((2, 2), bool)):
        with pytest.raises(ValueError, match="a picture is an array of numbers"):
            _tables.picture(array, None)
