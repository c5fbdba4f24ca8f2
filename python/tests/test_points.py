"""Point clouds: fields at their offsets, and what is refused."""

import pickle

import numpy as np
import pytest
from bags import CLOUD, STD_HEADER, bag, cloud

import bagconv

rng = np.random.default_rng(2)
XYZ = [("x", 0, 7, 1), ("y", 4, 7, 1), ("z", 8, 7, 1)]


def recording(path, messages):
    kind = "sensor_msgs/PointCloud2"
    path = bag(path, [("/points", kind, CLOUD + STD_HEADER, [(10**18 + i, m) for i, m in enumerate(messages)])])
    return bagconv.open(path)


def test_odd_layouts(tmp_path):
    n = 50
    # Unaligned, a gap, a field of three, every type, a tail.
    dtype = np.dtype(
        {
            "names": ["x", "y", "z", "tag", "timestamp", "normal", "ring", "a", "b", "c", "d"],
            "formats": ["<f4", "<f4", "<f4", "u1", "<f8", ("<f4", (3,)), "<u2", "i1", "<i2", "<i4", "<u4"],
            "offsets": [0, 4, 8, 16, 17, 25, 37, 39, 40, 42, 46],
            "itemsize": 60,
        }
    )
    codes = {"f4": 7, "f8": 8, "u1": 2, "i1": 1, "u2": 4, "i2": 3, "i4": 5, "u4": 6}
    fields = []
    for name in dtype.names:
        kind, offset = dtype.fields[name][:2]
        base, shape = kind.base, kind.shape
        fields.append((name, offset, codes[base.str[1:]], shape[0] if shape else 1))
    points = np.frombuffer(rng.integers(0, 256, n * 60, np.uint8).tobytes(), dtype)
    swapped = points.astype(np.dtype({**describe(dtype), "formats": [f.newbyteorder() for f in formats(dtype)]}))
    messages = [cloud(n, 1, fields, 60, n * 60, points.tobytes()), cloud(n, 1, fields, 60, 0, as_bytes(swapped), 1)]
    one, big = recording(tmp_path / "in.bag", messages)["/points"].points()
    assert one.dtype.names == dtype.names
    assert one.dtype.itemsize == 60
    assert one.shape == (n,)
    assert not one.flags.owndata
    for name in dtype.names:
        assert np.array_equal(bits(one[name]), bits(points[name])), name
        assert np.array_equal(
            bits(np.asarray(big[name]).astype(points[name].dtype)), bits(points[name]), equal_nan=False
        )
    assert one["normal"].shape == (n, 3)
    assert one.xyz().dtype == np.float32
    assert (one.time, one.stamp, one.frame_id) == (10**18, 1_600_000_000_000_000_007, "frame")
    copy = pickle.loads(pickle.dumps(one))
    assert copy.frame_id == "frame"
    assert bytes(copy["tag"]) == bytes(one["tag"])


def describe(dtype):
    names = dtype.names
    return {"names": names, "offsets": [dtype.fields[n][1] for n in names], "itemsize": dtype.itemsize}


def formats(dtype):
    return [dtype.fields[n][0] for n in dtype.names]


def as_bytes(array):
    return np.ascontiguousarray(array).tobytes()


def bits(array):
    """NaN differs from itself: compare bytes."""
    array = np.ascontiguousarray(array)
    return array.view(np.uint8)


def test_rows_with_padding(tmp_path):
    points = rng.random((3, 4, 3)).astype("<f4")
    points[1, 1] = np.nan
    rows = b"".join(row.tobytes() + b"padding" for row in points)
    (found,) = recording(tmp_path / "in.bag", [cloud(4, 3, XYZ, 12, 55, rows[:-7])])["/points"].points()
    assert found.shape == (3, 4)
    assert np.array_equal(found.xyz(), points, equal_nan=True)
    assert found.xyz(drop_nan=True).shape == (11, 3)


def test_an_empty_cloud(tmp_path):
    for width, height in ((0, 1), (0, 0), (5, 0)):
        (found,) = recording(tmp_path / "in.bag", [cloud(width, height, XYZ, 12, 0, b"")])["/points"].points()
        assert found.size == 0
        assert found.xyz().shape[-1] == 3


@pytest.mark.parametrize(
    "message",
    [
        cloud(10, 1, XYZ, 12, 120, bytes(119)),
        cloud(10, 1, [("x", 10, 7, 1)], 12, 120, bytes(120)),
        cloud(10, 1, [("x", 0, 0, 1)], 12, 120, bytes(120)),
        cloud(10, 1, [("x", 0, 77, 1)], 12, 120, bytes(120)),
        cloud(10, 1, [("x", 0, 7, 2**32 - 1)], 12, 120, bytes(120)),
        cloud(10, 1, [], 12, 120, bytes(120)),
        cloud(10, 2, XYZ, 12, 5, bytes(240)),
        cloud(2**32 - 1, 2**32 - 1, XYZ, 12, 2**32 - 1, bytes(240)),
    ],
)
def test_a_cloud_that_lies_is_left_out(tmp_path, message):
    rec = recording(tmp_path / "in.bag", [message, cloud(1, 1, XYZ, 12, 12, bytes(12))])
    with pytest.warns(bagconv.Loss, match="left out"):
        assert len(list(rec["/points"].points())) == 1


def test_fields_of_one_name(tmp_path):
    fields = [("a", 0, 2, 1), ("a", 1, 2, 1), ("", 2, 2, 0)]
    (found,) = recording(tmp_path / "in.bag", [cloud(2, 1, fields, 3, 6, b"abcdef")])["/points"].points()
    assert found.dtype.names == ("a", "a_2", "field")
    assert bytes(found["a_2"]) == b"be"


def test_apollo(demo):
    rec = bagconv.open(demo.replace(".bag", ".record"))
    clouds = list(rec["/apollo/sensor/lidar128/PointCloud2"].points())
    assert len(clouds) == 10
    assert clouds[0].dtype.names == ("x", "y", "z", "intensity", "timestamp")
    message = clouds[0].message
    assert np.array_equal(clouds[0]["x"], [p.x for p in message.point], equal_nan=True)
    assert clouds[0]["timestamp"].tolist() == [p.timestamp for p in message.point]
    assert abs(clouds[0].stamp / 1e9 - message.measurement_time) < 1e-6
