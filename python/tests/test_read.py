"""Reading: topics, tables, arrays, messages."""

import multiprocessing
import os
import pathlib
import pickle
import shutil
import struct
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest
from bags import bag
from conftest import stand_in

import bagconv
from bagconv import _need, _stream

TYPES = "../shared/data/rosbag2"


@pytest.fixture(scope="module")
def rec(demo):
    return bagconv.open(demo)


def test_another_working_folder(demo, tmp_path, monkeypatch):
    monkeypatch.chdir(os.path.dirname(demo))
    rec = bagconv.open("demo.bag", defs="demo.record")
    assert repr(rec) == "<bagconv.Recording demo.bag>"
    monkeypatch.chdir(tmp_path)
    frames = rec["/cam_a/image_raw"].images()
    monkeypatch.chdir(os.path.dirname(demo))
    assert len(list(frames)) == 5
    frames = rec["/cam_a/image_raw"].images()
    next(frames)
    monkeypatch.chdir(tmp_path)
    assert len(list(frames)) == 4
    assert len(list(pickle.loads(pickle.dumps(rec)).messages("/gps/*"))) == 10


def test_facts(rec):
    assert len(rec) == 9
    imu = rec["/imu/data"]
    assert (imu.name, imu.type, imu.encoding) == ("/imu/data", "sensor_msgs/Imu", "ros1")
    assert imu.messages == len(imu) == 400
    assert not imu.estimated
    assert (imu.start, imu.end) == (1700000000000281056, 1700000000997760026)
    assert imu.frequency == pytest.approx(400.008, abs=1e-3)
    assert imu.definition.startswith("std_msgs/Header header\n")
    assert imu.qos == []
    assert imu.publishers == ["/driver/imu/data"]
    assert rec["/tf_static"].latched
    assert rec["/tf_static"].frequency is None
    assert imu.schema.names[:3] == ["log_time", "publish_time", "header"]
    assert (rec.start, rec.end) == (1700000000000034983, 1700000000997760026)
    assert rec.duration == rec.end - rec.start
    assert rec.info["messages"] == 636


def test_a_topic_that_is_not_there(rec):
    with pytest.raises(KeyError, match="/imu/data"):
        rec["/imu"]
    assert "/imu" not in rec
    assert "/imu/data" in list(rec)


def test_paths(tmp_path):
    with pytest.raises(FileNotFoundError):
        bagconv.open(tmp_path / "no.bag")
    with pytest.raises(ValueError, match="no recording"):
        bagconv.open([])
    garbage = tmp_path / "garbage.bag"
    garbage.write_bytes(b"garbage" * 100)
    with pytest.raises(bagconv.BagconvError, match=r"garbage\.bag"):
        bagconv.open(garbage).topics  # noqa: B018


def test_arrow(rec):
    table = rec["/imu/data"].arrow()
    assert table.num_rows == 400
    assert table.schema.metadata[b"bagconv.topic"] == b"/imu/data"
    some = rec["/imu/data"].arrow(["header.stamp", "angular_velocity"])
    assert some.column_names == ["log_time", "publish_time", "header", "angular_velocity"]
    flat = rec["/imu/data"].arrow("header.stamp", flat=True)
    assert flat.column_names[2:] == ["header.stamp"]
    assert rec["/tf"].arrow(explode="transforms").num_rows == sum(len(m.transforms) for _, m in rec["/tf"])


def test_ranges_of_time(rec):
    imu = rec["/imu/data"]
    times = imu.numpy("log_time").astype(np.int64)
    cut = int(times[100])
    assert imu.arrow(end=cut).num_rows == 100
    assert imu.arrow(start=cut).num_rows == 300
    assert imu.arrow(start=cut, end=cut + 1).num_rows == 1
    assert imu.arrow(start=0.5).num_rows == int((times >= rec.start + 500_000_000).sum())
    assert imu.arrow(start="500ms").num_rows == imu.arrow(start=0.5).num_rows
    with pytest.raises(bagconv.BagconvError, match="nothing is selected"):
        imu.arrow(start=100.0)


def test_numpy(rec):
    imu = rec["/imu/data"]
    table = imu.arrow()
    x = imu.numpy("angular_velocity.x")
    assert x.dtype == np.float64
    assert x.tolist() == [v["x"] for v in table["angular_velocity"].to_pylist()]
    assert imu.numpy("angular_velocity").tolist() == [list(v.values()) for v in table["angular_velocity"].to_pylist()]
    covariance, stamp, frame = imu.numpy("orientation_covariance", "header.stamp", "header.frame_id")
    assert covariance.tolist() == table["orientation_covariance"].to_pylist()
    assert stamp.dtype == "datetime64[ns]"
    assert stamp[0].astype(int) == 1699999999999937000
    assert frame.dtype == object
    assert frame[0] == "imu"
    assert imu.numpy("log_time").astype(int)[-1] == imu.end
    with pytest.raises(bagconv.BagconvError, match="nope"):
        imu.numpy("nope")
    with pytest.raises(KeyError, match="several types"):
        imu.numpy("header")
    with pytest.raises((KeyError, bagconv.BagconvError), match="x"):
        rec["/tf"].numpy("transforms.transform.translation.x")


def test_frames(rec):
    polars = rec["/imu/data"].polars(["angular_velocity"])
    assert polars.shape == (400, 3)
    assert polars["angular_velocity"].struct.field("x")[0] == rec["/imu/data"].numpy("angular_velocity.x")[0]
    pandas = rec["/imu/data"].pandas()
    assert pandas.index.name == "log_time"
    assert str(pandas.index.dtype) == "datetime64[ns, UTC]"
    assert pandas["angular_velocity.x"].iloc[5] == rec["/imu/data"].numpy("angular_velocity.x")[5]


def test_rows(rec):
    table = rec["/imu/data"].arrow().to_pylist()
    n = 0
    for (t, message), row in zip(rec["/imu/data"], table):
        assert isinstance(t, int)
        assert t == row["log_time"].value
        assert message.header.stamp == row["header"]["stamp"].value
        assert message.angular_velocity.x == message["angular_velocity.x"] == row["angular_velocity"]["x"]
        assert message.orientation_covariance.tolist() == row["orientation_covariance"]
        assert message["log_time"].__class__ is int
        n += 1
    assert n == 400
    assert message._fields[0] == "header"
    assert message._asdict()["header"]["frame_id"] == "imu"
    assert repr(message).startswith("Imu(header=header(seq=399, stamp=")
    assert "header" in message
    assert "log_time" not in message
    with pytest.raises(AttributeError, match="has no field 'nope'"):
        message.nope  # noqa: B018
    with pytest.raises(KeyError, match="has no field 'nope'"):
        message["header.nope"]
    with pytest.raises(ValueError, match="read-only"):
        message.orientation_covariance[0] = 1


def test_rows_of_lists_and_blobs(rec):
    _, tf = next(iter(rec["/tf"]))
    assert len(tf.transforms) == len(list(tf.transforms))
    assert tf.transforms[-1] == tf.transforms[:][-1] == list(tf.transforms)[-1]
    assert tf.transforms == list(tf.transforms)
    with pytest.raises(IndexError):
        tf.transforms[len(tf.transforms)]
    assert isinstance(tf.transforms[0].child_frame_id, str)
    _, image = next(iter(rec["/cam_a/image_raw"]))
    assert isinstance(image.data, memoryview)
    assert image.data.readonly
    assert len(image.data) == image.step * image.height


def test_a_row_is_pickled_alone(rec):
    rows = list(rec["/cam_a/image_raw"])
    copy = pickle.loads(pickle.dumps(rows[0][1]))
    assert copy == rows[0][1]
    assert copy != rows[1][1]
    assert len(pickle.dumps(rows[0][1])) < 3 * len(rows[0][1].data)


def test_messages_by_time(rec):
    every = list(rec.messages())
    assert len(every) == 636
    assert [t for _, t, _ in every] == sorted(t for _, t, _ in every)
    for topic in rec.topics:
        mine = [t for name, t, _ in every if name == topic]
        assert mine == [t for t, _ in rec[topic]]
    some = [(topic, t) for topic, t, _ in rec.messages("/cam_?/*", "/gps/fix", start=0.2)]
    assert some == [
        (x, t)
        for x, t, _ in every
        if x in ("/cam_a/image_raw", "/cam_b/image_raw", "/gps/fix") and t >= rec.start + 200_000_000
    ]
    assert [t for _, t, _ in rec.messages("/imu/data")] == [t for t, _ in rec["/imu/data"]]
    with pytest.raises(bagconv.BagconvError, match="no such topic"):
        list(rec.messages("/nope"))
    fields = {
        topic: m._fields for topic, _, m in rec.messages("/imu/*", "/gps/fix", columns=["header.stamp", "latitude"])
    }
    assert fields == {"/imu/data": ("header",), "/gps/fix": ("header", "latitude")}


@pytest.fixture(scope="module")
def parts(demo, tmp_path_factory):
    """The demo in three recordings, the last two of which overlap, in the wrong order."""
    folder = tmp_path_factory.mktemp("parts")
    bagconv.cut(demo, folder / "a.bag", end="300ms")
    bagconv.cut(demo, folder / "b.mcap", start="300ms", end="700ms", exclude_topic="/imu/*")
    bagconv.cut(demo, folder / "c.bag", start="300ms")
    return [folder / "c.bag", folder / "a.bag"]


def test_a_list_is_one_recording(rec, parts):
    several = bagconv.open(parts)
    assert (several.start, several.end) == (rec.start, rec.end)
    imu = several["/imu/data"]
    assert len(imu) == 400
    assert imu.numpy("log_time").tolist() == rec["/imu/data"].numpy("log_time").tolist()
    assert imu.arrow(start="200ms", end="-400ms").equals(rec["/imu/data"].arrow(start="200ms", end="-400ms"))
    assert [(x, t) for x, t, _ in several.messages("/imu/*", "/tf")] == [
        (x, t) for x, t, _ in rec.messages("/imu/*", "/tf")
    ]
    for span in ({"end": 10**18}, {"start": "1h"}, {"start": 100.0}):
        with pytest.raises(bagconv.BagconvError, match="nothing is selected"):
            imu.arrow(**span)
        with pytest.raises(bagconv.BagconvError, match="nothing is selected"):
            list(several.messages("/imu/*", **span))
    assert {m._fields for _, _, m in several.messages("/imu/*", columns="header")} == {("header",)}
    assert repr(several).endswith("and 1 more>")
    with pytest.raises(bagconv.BagconvError, match="infos"):
        several.info  # noqa: B018
    assert len(several.infos) == 2


def test_many_recordings_as_one(rec, demo):
    before = threads()
    many = bagconv.open([demo] * 20)
    assert many.start == rec.start
    assert len(many["/gps/fix"]) == 200
    times = [t for t, _ in many["/gps/fix"]]
    assert times == sorted(t for t, _ in rec["/gps/fix"] for _ in range(20))
    assert threads() == before


def test_several_definitions_of_a_type(tmp_path):
    """Messages of one topic whose connections have other definitions come by time."""
    start = 10**18
    topics = [
        ("/x", "pkg/T", "int32 a\n", [(start + 2 * i, struct.pack("<i", i)) for i in range(50)]),
        ("/x", "pkg/T", "int32 a\nint32 b\n", [(start + 2 * i + 1, struct.pack("<ii", i, -i)) for i in range(50)]),
    ]
    rec = bagconv.open(bag(tmp_path / "two.bag", topics))
    assert list(rec) == ["/x"]
    rows = [(t, m._asdict()) for t, m in rec["/x"]]
    assert [t for t, _ in rows] == list(range(start, start + 100))
    assert rows[2] == (start + 2, {"a": 1})
    assert rows[3] == (start + 3, {"a": 1, "b": -1})
    assert [(t, m._asdict()) for _, t, m in rec.messages()] == rows
    assert rec["/x"].arrow()["b"].null_count == 50


def test_a_list_of_the_same_recording_twice(demo):
    twice = bagconv.open([demo, demo])
    times = [t for t, _ in twice["/imu/data"]]
    assert len(times) == 800
    assert times == sorted(times)
    every = [t for _, t, _ in twice.messages()]
    assert len(every) == 2 * 636
    assert every == sorted(every)


def test_names_with_globs(tmp_path, demo):
    odd = tmp_path / "odd.mcap"
    bagconv.convert(demo, odd, remap=["/imu/data:=/imu/[data]?", "/tf:=re:/t f"])
    rec = bagconv.open(odd)
    assert len(list(rec["/imu/[data]?"])) == 400
    assert len(list(rec["re:/t f"])) == 100


def threads():
    return [t for t in threading.enumerate() if t is not threading.main_thread()]


def children():
    """Processes that we started, also if they ended and were not waited for, without the process of multiprocessing."""
    return [p for p in os.listdir("/proc") if p.isdigit() and parent(p) == os.getpid() and "python" not in name(p)]


def parent(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


def name(pid):
    return pathlib.Path(f"/proc/{pid}/comm").read_text()


def test_an_early_end_leaves_nothing(rec):
    before = len(threads())
    for _ in rec["/imu/data"]:
        break
    for _ in rec.messages():
        break
    next(rec["/imu/data"].batches())
    assert children() == []
    assert len(threads()) == before
    held = rec["/imu/data"].rows()
    next(held)
    rec.close()
    assert children() == []


def test_an_error_in_the_loop_ends_the_child(rec):
    def fails(message):
        raise ArithmeticError(message)

    with pytest.raises(ArithmeticError):
        list(map(fails, rec["/imu/data"]))
    assert children() == []


def test_many_recordings_at_once(demo):
    before = len(os.listdir("/proc/self/fd"))
    many = [bagconv.open(demo) for _ in range(3000)]
    assert len(many[0]) == 9
    assert len(os.listdir("/proc/self/fd")) == before


def count(path):
    return sum(1 for _ in bagconv.open(path)["/imu/data"])


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_processes(demo, method):
    if method == "fork":
        pa.set_cpu_count(1)
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(count, [demo] * 3) == [400] * 3


def test_threads(rec):
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda _: sum(1 for _ in rec.messages()), range(16))) == [636] * 16


def test_an_early_end_of_the_file_is_a_loss(demo, tmp_path):
    cut = tmp_path / "cut.bag"
    with open(demo, "rb") as f:
        cut.write_bytes(f.read(300_000))
    rec = bagconv.open(cut)
    with pytest.warns(bagconv.Loss, match=r"cut off|unknown number") as caught:
        rows = list(rec["/imu/data"])
    assert 0 < len(rows) < 400
    assert caught[0].filename == __file__


def test_a_child_that_dies_is_an_error(rec, binary, tmp_path, monkeypatch):
    topic = rec["/imu/data"]
    script = stand_in(tmp_path / "bagconv", f'"{binary}" "$@" | head -c 20000\nkill -9 $$\n')
    monkeypatch.setenv("BAGCONV", script)
    with pytest.raises(bagconv.BagconvError, match="signal 9"):
        topic.arrow()


def test_two_types_under_a_name():
    path = os.path.join(os.path.dirname(__file__), "../../testdata/recordings/ros1/generated/two-types-one-topic.bag")
    if not os.path.exists(path):
        path = path.replace("testdata/recordings", "../shared/data")
    if not os.path.exists(path):
        pytest.skip("the recording is not here")
    rec = bagconv.open(path)
    one, two = rec.topics.values()
    assert list(rec.topics) == [one.name, one.name + "~2"]
    assert one.type != two.type
    assert [m._name for _, m in one] == [one.type] * len(one)
    assert [m._name for _, m in two] == [two.type] * len(two)
    assert len(list(rec.messages(one.name))) == len(one) + len(two)


def test_nothing_in_a_range(rec):
    """A topic without messages, or a range without any, is empty and has its columns."""
    fix = rec["/gps/fix"]
    assert fix.arrow(start=0.01, end=0.02).schema.equals(fix.schema)
    assert fix.numpy("latitude", start=0.01, end=0.02).shape == (0,)
    latitude, covariance = fix.numpy("latitude", "position_covariance", start=0.01, end=0.02)
    assert (latitude.dtype, covariance.shape) == (np.float64, (0, 9))
    assert fix.pandas(start=0.01, end=0.02).shape[0] == 0
    assert list(fix.rows(start=0.01, end=0.02)) == []
    assert list(rec.messages("/gps/fix", "/odom", start=0.01, end=0.011)) == []


def test_a_package_that_is_missing(rec, monkeypatch):
    def without(name):
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr(_need.importlib, "import_module", without)
    with pytest.raises(bagconv.MissingDependency, match=r"pip install 'bagconv\[arrow\]'"):
        rec["/imu/data"].arrow()
    assert children() == []


def test_pieces_of_a_stream_that_lie(tmp_path, monkeypatch):
    for piece in (b"\x05\0\0\0" + bytes(8), b"\0\0\0\0\x10" + bytes(7) + b"abc", bytes(4) + b"\xff" * 8, b"\0\0"):
        (tmp_path / "out").write_bytes(piece)
        monkeypatch.setenv("BAGCONV", stand_in(tmp_path / "bagconv", f"cat {tmp_path}/out\n"))
        with pytest.raises(bagconv.BagconvError, match="the stream of Arrow is broken"):
            list(_stream.events(bagconv._process.Child(["x"])))


def test_names_that_python_does_not_take():
    from bagconv import _row

    row = _row.thaw("pkg/T", [("class", 1), ("_c", 2), ("_asdict", 3), ("a b", 4), ("x", None)])
    assert [row[n] for n in row._fields] == [1, 2, 3, 4, None]
    assert getattr(row, "class") == 1
    assert row._asdict()["_asdict"] == 3
    assert pickle.loads(pickle.dumps(row)) == row


def test_nothing_is_read_when_opened(demo, monkeypatch):
    monkeypatch.setenv("BAGCONV", "/nonexistent")
    rec = bagconv.open(demo)
    assert repr(rec) == f"<bagconv.Recording {demo}>"
    with pytest.raises(bagconv.BagconvError):
        rec.topics  # noqa: B018


def test_definitions_from_elsewhere(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rec = bagconv.open(shutil.copy(__file__, tmp_path / "x.bag"), defs=[tmp_path], distro="humble", threads=1)
        with pytest.raises(bagconv.BagconvError):
            rec.topics  # noqa: B018
