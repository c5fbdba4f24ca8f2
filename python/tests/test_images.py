"""Pictures: arrays in their encodings, colours as bagconv's own PNG files have them, and what is refused."""

import contextlib
import io
import mmap
import pickle
import struct

import numpy as np
import pytest
from bags import COMPRESSED, IMAGE, STD_HEADER, bag, compressed, image
from PIL import Image

import bagconv
from bagconv import _compressed, _messages

rng = np.random.default_rng(1)
W, H = 12, 8


def random(n):
    return rng.integers(0, 256, n, np.uint8).tobytes()


def recording(path, messages, definition=IMAGE, kind="sensor_msgs/Image"):
    messages = [(10**18 + i, m) for i, m in enumerate(messages)]
    return bagconv.open(bag(path, [("/cam", kind, definition + STD_HEADER, messages)]))


# Encodings: channels, bytes of a sample.
PACKED = {
    **{f"{n}8": (c, 1) for n, c in (("rgb", 3), ("bgr", 3), ("rgba", 4), ("bgra", 4), ("mono", 1))},
    **{f"{n}16": (c, 2) for n, c in (("rgb", 3), ("bgr", 3), ("rgba", 4), ("bgra", 4), ("mono", 1))},
    **{f"bayer_{n}{b}": (1, b // 8) for n in ("rggb", "grbg", "gbrg", "bggr") for b in (8, 16)},
    **dict.fromkeys(("uyvy", "yuv422", "yuyv", "yuv422_yuy2"), (2, 1)),
    "8UC3": (3, 1),
    "8UC1": (1, 1),
    "16UC3": (3, 2),
}
PLANES = {"nv12": 1.5, "nv21": 1.5, "i420": 1.5, "yv12": 1.5, "nv24": 3, "nv42": 3}


@pytest.mark.parametrize("pad", [0, 6])
@pytest.mark.parametrize("big", [0, 1])
def test_colours_are_those_of_exported_files(tmp_path, pad, big):
    messages, names = [], []
    for name, (channels, size) in PACKED.items():
        step = W * channels * size + pad
        messages.append(image(name, W, H, step, random(step * H), big))
        names.append(name)
    for name, share in PLANES.items():
        step = W + pad
        messages.append(image(name, W, H, step, random(int(step * H * share)), big))
        names.append(name)
    rec = recording(tmp_path / "in.bag", messages)
    bagconv.export(rec.paths[0], tmp_path / "out", images="files", debayer=True)
    frames = list(rec["/cam"].images())
    assert [f.encoding for f in frames] == names
    files = sorted((tmp_path / "out" / "cam").glob("*.png"))
    assert len(files) == len(frames)
    listed = (tmp_path / "out" / "cam" / "frames.csv").read_text().splitlines()[1:]
    for frame, line in zip(frames, listed):
        png = Image.open(tmp_path / "out" / "cam" / line.rpartition(",")[2].rpartition("/")[2])
        if png.mode == "I;16":
            expected = np.repeat((np.asarray(png) >> 8).astype(np.uint8)[:, :, None], 3, 2)
        else:
            expected = np.asarray(png.convert("RGB"))
        assert frame.rgb().shape == (H, W, 3)
        assert frame.rgb().dtype == np.uint8
        assert np.array_equal(frame.rgb(), expected), frame.encoding


def test_arrays_are_views_of_what_is_stored(tmp_path):
    step = W * 6 + 2
    data = random(step * H)
    big = image("rgb16", W, H, step, data, 1)
    little = image("32FC1", W, H, W * 4, random(W * 4 * H))
    unpadded = image("mono8", W, H, W + 3, random((W + 3) * H - 3))  # the last row lacks its padding
    rec = recording(tmp_path / "in.bag", [big, little, unpadded])
    a, b, c = rec["/cam"].images()
    assert (a.shape, a.dtype.str, a.strides) == ((H, W, 3), ">u2", (step, 6, 2))
    assert a[1, 2, 0] == int.from_bytes(data[step + 12 : step + 14], "big")
    assert (b.shape, b.dtype.str) == ((H, W), "<f4")
    assert c.shape == (H, W)
    assert not a.flags.owndata
    assert not a.flags.writeable
    assert a.time == 10**18
    assert a.stamp == 1_600_000_000_000_000_007
    assert (a.frame_id, a.encoding) == ("frame", "rgb16")
    assert a.message.header.seq == 5
    copy = pickle.loads(pickle.dumps(a))
    assert np.array_equal(copy, a)
    assert (copy.time, copy.encoding, copy.message) == (a.time, a.encoding, None)
    assert a[:2].time == a.time
    with pytest.raises(ValueError, match="has no colours"):
        b.rgb()


def test_a_large_picture_is_not_copied(tmp_path):
    data = random(64 * 64 * 3)
    rec = recording(tmp_path / "in.bag", [image("rgb8", 64, 64, 192, data)])
    (frame,) = rec["/cam"].images()
    assert frame.tobytes() == data
    assert isinstance(frame.message.data.obj, mmap.mmap)
    again = [bytes(m.data) for _, t, m in rec.messages()]
    assert again == [data]


@pytest.mark.parametrize(
    "message",
    [
        image("rgb8", W, H, W * 3, b"short"),
        image("rgb8", W, H, 3, random(W * 3 * H)),
        image("rgb8", 0, H, 0, b""),
        image("nonsense", W, H, W, random(W * H)),
        image("nv12", W + 1, H, W + 1, random(W * H * 2)),
        image("rgb8", 2**32 - 1, 2**32 - 1, 2**32 - 1, b"x"),
        image("8FC1", W, H, W, random(W * H)),
    ],
)
def test_a_picture_that_lies_is_left_out(tmp_path, message):
    rec = recording(tmp_path / "in.bag", [message, image("mono8", W, H, W, random(W * H)), message])
    with pytest.warns(bagconv.Loss, match=r"left out") as caught:
        assert len(list(rec["/cam"].images())) == 1
    assert [w.message.code for w in caught] == ["bad-picture"] * 2
    assert caught[1].message.count == 2
    assert caught[0].filename == __file__


def file(array, format):
    out = io.BytesIO()
    Image.fromarray(array).save(out, format)
    return out.getvalue()


def test_compressed(tmp_path):
    rgb = rng.integers(0, 256, (H, W, 3), np.uint8)
    gray16 = rng.integers(0, 65536, (H, W)).astype(np.uint16)
    messages = [
        compressed("rgb8; png compressed", file(rgb, "PNG")),
        compressed("jpeg", file(rgb, "JPEG")),
        compressed("mono16; png compressed", file(gray16, "PNG")),
        compressed("jpeg", file(rgb[:, :, 0], "JPEG")),
        compressed("16UC1; compressedDepth png", bytes(12) + file(gray16, "PNG")),
        compressed("32FC1; compressedDepth png", struct.pack("<iff", 0, 2000.0, 3.0) + file(gray16, "PNG")),
    ]
    rec = recording(tmp_path / "in.bag", messages, COMPRESSED, "sensor_msgs/CompressedImage")
    png, jpeg, mono, gray, depth, metres = rec["/cam"].images()
    assert np.array_equal(png, rgb)
    assert (jpeg.shape, jpeg.encoding) == ((H, W, 3), "rgb8")
    assert np.array_equal(jpeg.rgb(), np.asarray(Image.open(io.BytesIO(file(rgb, "JPEG")))))
    assert np.array_equal(mono, gray16)
    assert mono.dtype == np.uint16
    assert (gray.shape, gray.encoding) == ((H, W), "mono8")
    assert np.array_equal(depth, gray16)
    assert depth.encoding == "16UC1"
    assert metres.dtype == np.float32
    assert np.allclose(metres[gray16 > 3], np.float32(2000) / (gray16[gray16 > 3].astype(np.float32) - 3))


def test_video_says_what_to_do(tmp_path):
    rec = recording(tmp_path / "in.bag", [compressed("h264", b"\0\0\0\1x")], COMPRESSED, "sensor_msgs/CompressedImage")
    with pytest.raises(bagconv.BagconvError, match="video=True"):
        list(rec["/cam"].images())


def rvl(samples):
    """Encode RVL, number by number."""
    flat, nibbles, i, last = samples.reshape(-1).tolist(), [], 0, 0

    def put(n):
        while True:
            nibbles.append(n & 7 | (8 if n > 7 else 0))
            n >>= 3
            if not n:
                return

    while i < len(flat):
        start = i
        while i < len(flat) and flat[i] == 0:
            i += 1
        put(i - start)
        run = i
        while run < len(flat) and flat[run]:
            run += 1
        put(run - i)
        for value in flat[i:run]:
            step = value - last
            put(step << 1 ^ (step >> 31))
            last = value
        i = run
    nibbles += [0] * (-len(nibbles) % 8)
    words = [
        sum(n << (28 - 4 * j) for j, n in enumerate(nibbles[k : k + 8])) & 0xFFFFFFFF for k in range(0, len(nibbles), 8)
    ]
    return struct.pack(f"<II{len(words)}I", samples.shape[1], samples.shape[0], *words)


def test_rvl():
    for _ in range(30):
        samples = rng.integers(0, 65536, (9, 7)).astype(np.uint16)
        samples[rng.random((9, 7)) < 0.4] = 0
        data = rvl(samples)
        assert np.array_equal(_compressed.rvl(data), samples)
        for cut in (0, 7, 8, len(data) // 2):
            with pytest.raises(_messages.Unreadable):
                _compressed.rvl(data[:cut])
    for _ in range(300):
        damaged = bytearray(data)
        damaged[rng.integers(0, len(data))] ^= int(rng.integers(1, 256))
        with contextlib.suppress(_messages.Unreadable):
            _compressed.rvl(bytes(damaged))


def test_topics_without_pictures(demo):
    rec = bagconv.open(demo)
    with pytest.raises(bagconv.BagconvError, match="has no pictures"):
        rec["/imu/data"].images()
    with pytest.raises(bagconv.BagconvError, match="has no point clouds"):
        rec["/imu/data"].points()
