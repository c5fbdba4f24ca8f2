"""Pictures, clouds and transforms of other types than ROS's: Foxglove, Livox, and sensor_msgs/PointCloud."""

import io
import struct

import numpy as np
import pytest
from bags import STD_HEADER, bag, header, text
from PIL import Image

import bagconv

T = 1_600_000_000_000_000_009
STAMP = struct.pack("<II", T // 10**9, T % 10**9)
LINE = "=" * 80 + "\nMSG: "
rng = np.random.default_rng(3)


def topic(tmp_path, kind, definition, *messages):
    messages = [(10**18 + i, m) for i, m in enumerate(messages)]
    return bagconv.open(bag(tmp_path / "in.bag", [("/x", kind, definition, messages)]))["/x"]


def test_raw_image(tmp_path):
    definition = (
        "time timestamp\nstring frame_id\nuint32 width\nuint32 height\nstring encoding\nuint32 step\nuint8[] data\n"
    )
    data = rng.integers(0, 256, 6 * 4 * 3, np.uint8)
    message = (
        STAMP
        + text("cam")
        + struct.pack("<II", 6, 4)
        + text("bgr8")
        + struct.pack("<II", 18, data.size)
        + data.tobytes()
    )
    (frame,) = topic(tmp_path, "foxglove_msgs/RawImage", definition, message).images()
    assert np.array_equal(frame, data.reshape(4, 6, 3))
    assert np.array_equal(frame.rgb(), data.reshape(4, 6, 3)[:, :, ::-1])
    assert (frame.stamp, frame.frame_id) == (T, "cam")


def test_compressed_image(tmp_path):
    definition = "time timestamp\nstring frame_id\nuint8[] data\nstring format\n"
    pixels = rng.integers(0, 256, (4, 6, 3), np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG")
    data = out.getvalue()
    message = STAMP + text("cam") + struct.pack("<I", len(data)) + data + text("png")
    (frame,) = topic(tmp_path, "foxglove_msgs/CompressedImage", definition, message).images()
    assert np.array_equal(frame, pixels)
    assert frame.stamp == T


def test_compressed_video(tmp_path):
    definition = "time timestamp\nstring frame_id\nuint8[] data\nstring format\n"
    message = STAMP + text("cam") + struct.pack("<I", 5) + b"\0\0\0\1e" + text("h264")
    with pytest.raises(bagconv.BagconvError, match="video=True"):
        list(topic(tmp_path, "foxglove_msgs/CompressedVideo", definition, message).images())


def test_point_cloud(tmp_path):
    definition = (
        "time timestamp\nstring frame_id\nuint32 point_stride\nPackedElementField[] fields\nuint8[] data\n"
        f"{LINE}foxglove_msgs/PackedElementField\nstring name\nuint32 offset\nuint8 type\n"
    )
    dtype = np.dtype([("x", "<f4"), ("y", "<f4"), ("z", "<f4"), ("i", "u1"), ("t", "<f8"), ("k", "<i2")])
    points = np.frombuffer(rng.integers(0, 256, 7 * dtype.itemsize, np.uint8).tobytes(), dtype)
    fields = struct.pack("<I", 6)
    for name, kind in zip(dtype.names, (7, 7, 7, 1, 8, 4)):
        fields += text(name) + struct.pack("<IB", dtype.fields[name][1], kind)
    size = struct.pack("<I", dtype.itemsize)
    message = STAMP + text("lidar") + size + fields + struct.pack("<I", points.nbytes) + points.tobytes()
    (cloud,) = topic(tmp_path, "foxglove_msgs/PointCloud", definition, message).points()
    assert cloud.dtype == dtype
    assert cloud.tobytes() == points.tobytes()
    assert (cloud.stamp, cloud.frame_id) == (T, "lidar")


def test_livox(tmp_path):
    definition = (
        f"Header header\nuint64 timebase\nCustomPoint[] points\n{LINE}livox_ros_driver/CustomPoint\n"
        "uint32 offset_time\nfloat32 x\nfloat32 y\nfloat32 z\nuint8 reflectivity\nuint8 tag\nuint8 line\n" + STD_HEADER
    )
    dtype = np.dtype("<u4,<f4,<f4,<f4,u1,u1,u1")
    dtype.names = ("offset_time", "x", "y", "z", "reflectivity", "tag", "line")
    points = np.zeros(5, dtype)
    for name in dtype.names:
        points[name] = rng.integers(0, 200, 5)
    message = header() + struct.pack("<QI", 7, 5) + points.tobytes()
    empty = header() + struct.pack("<QI", 7, 0)
    cloud, none = topic(tmp_path, "livox_ros_driver/CustomMsg", definition, message, empty).points()
    assert cloud.dtype == dtype
    assert cloud.tolist() == points.tolist()
    assert cloud.xyz().dtype == np.float32
    assert none.shape == (0,)


def test_point_cloud_of_old(tmp_path):
    definition = (
        f"Header header\ngeometry_msgs/Point32[] points\nChannelFloat32[] channels\n{LINE}geometry_msgs/Point32\n"
        f"float32 x\nfloat32 y\nfloat32 z\n{LINE}sensor_msgs/ChannelFloat32\nstring name\nfloat32[] values\n"
        + STD_HEADER
    )
    message = header() + struct.pack("<I6f", 2, 1, 2, 3, 4, 5, 6)
    message += struct.pack("<I", 1) + text("intensity") + struct.pack("<I2f", 2, 7, 8)
    (cloud,) = topic(tmp_path, "sensor_msgs/PointCloud", definition, message).points()
    assert cloud.dtype.names == ("x", "y", "z", "intensity")
    assert cloud.tolist() == [(1, 2, 3, 7), (4, 5, 6, 8)]


def test_frame_transform(tmp_path):
    definition = (
        "time timestamp\nstring parent_frame_id\nstring child_frame_id\ngeometry_msgs/Vector3 translation\n"
        f"geometry_msgs/Quaternion rotation\n{LINE}geometry_msgs/Vector3\nfloat64 x\nfloat64 y\nfloat64 z\n"
        f"{LINE}geometry_msgs/Quaternion\nfloat64 x\nfloat64 y\nfloat64 z\nfloat64 w\n"
    )
    message = STAMP + text("map") + text("base") + struct.pack("<7d", 1, 2, 3, 0, 0, 0, 1)
    messages = [(10**18, message)]
    tf = bagconv.open(bag(tmp_path / "in.bag", [("/t", "foxglove_msgs/FrameTransform", definition, messages)])).tf()
    assert tf.lookup("map", "base", T).translation.tolist() == [1, 2, 3]
