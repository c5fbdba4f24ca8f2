"""Writes bags of ROS 1 for tests, without any other package."""

import struct

HEADER = "Header header\n"
IMAGE = HEADER + "uint32 height\nuint32 width\nstring encoding\nuint8 is_bigendian\nuint32 step\nuint8[] data\n"
COMPRESSED = HEADER + "string format\nuint8[] data\n"
CLOUD = (
    HEADER + "uint32 height\nuint32 width\nPointField[] fields\nbool is_bigendian\nuint32 point_step\n"
    "uint32 row_step\nuint8[] data\nbool is_dense\n"
    + "=" * 80
    + "\nMSG: sensor_msgs/PointField\nstring name\nuint32 offset\nuint8 datatype\nuint32 count\n"
)
STD_HEADER = "=" * 80 + "\nMSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n"


def record(head, data):
    parts = b"".join(struct.pack("<I", len(k) + 1 + len(v)) + k.encode() + b"=" + v for k, v in head.items())
    return struct.pack("<I", len(parts)) + parts + struct.pack("<I", len(data)) + data


def bag(path, topics):
    """Write topics: name, type, definition, and messages as (time in ns, bytes)."""
    out = bytearray(b"#ROSBAG V2.0\n")
    connections = b""
    count = 0
    for number, (name, kind, definition, messages) in enumerate(topics):
        ident = struct.pack("<I", number)
        about = {
            "topic": name.encode(),
            "type": kind.encode(),
            "md5sum": b"*",
            "message_definition": definition.encode(),
        }
        described = record(about, b"")
        connection = record(
            {"op": b"\x07", "conn": ident, "topic": name.encode()},
            described[4 : 4 + int.from_bytes(described[:4], "little")],
        )
        connections += connection
        for t, data in messages:
            count += 1
            time = struct.pack("<II", t // 10**9, t % 10**9)
            connections += record({"op": b"\x02", "conn": ident, "time": time}, data)
    head = {"op": b"\x03", "conn_count": struct.pack("<I", len(topics)), "chunk_count": struct.pack("<I", 1)}
    out += record({**head, "index_pos": struct.pack("<Q", 0)}, b" " * 4000)
    out += record({"op": b"\x05", "compression": b"none", "size": struct.pack("<I", len(connections))}, connections)
    path.write_bytes(bytes(out))
    return path


def text(value):
    data = value.encode()
    return struct.pack("<I", len(data)) + data


def header(t=1_600_000_000_000_000_007, frame="frame"):
    return struct.pack("<III", 5, t // 10**9, t % 10**9) + text(frame)


def image(encoding, width, height, step, data, big=0):
    shape = struct.pack("<II", height, width) + text(encoding) + struct.pack("<BII", big, step, len(data))
    return header() + shape + bytes(data)


def compressed(format, data):
    return header() + text(format) + struct.pack("<I", len(data)) + bytes(data)


def cloud(width, height, fields, step, row, data, big=0):
    out = header() + struct.pack("<III", height, width, len(fields))
    for name, offset, datatype, count in fields:
        out += text(name) + struct.pack("<IBI", offset, datatype, count)
    return out + struct.pack("<BIII", big, step, row, len(data)) + bytes(data) + b"\x01"
