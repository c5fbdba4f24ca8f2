"""Reads point clouds with pypcd4 and plyfile, and compares every value of every field with those of the
lines of JSON on stdin: {"path", "fields": [{"name", "type": a numpy type, "count", "values": hex, point by point}],
"width", "height"}."""
import json
import sys

import numpy as np
from plyfile import PlyData
from pypcd4 import PointCloud


def read_pcd(path, case):
    cloud = PointCloud.from_path(path)
    meta = cloud.metadata
    assert (meta.width, meta.height) == (case["width"], case["height"]), meta
    # The data of pypcd4 is a structured array whose names have an index for fields with several values.
    return cloud.pc_data


def read_ply(path, case):
    vertex = PlyData.read(path)["vertex"]
    assert len(vertex.properties) == sum(f["count"] for f in case["fields"]), vertex
    return vertex.data


def check(case):
    ply = case["path"].endswith(".ply")
    data = (read_ply if ply else read_pcd)(case["path"], case)
    names = iter(data.dtype.names)
    for field in case["fields"]:
        values = np.frombuffer(bytes.fromhex(field["values"]), "<" + field["type"]).reshape(-1, field["count"])
        if field["count"] > 1 and case["path"].endswith("compressed.pcd"):
            # PCL compresses all values of the first point, then of the second; pypcd4 takes them for a column of first
            # values, one of second values and so on. So its columns, one after the other, are PCL's bytes.
            joined = b"".join(data[next(names)].tobytes() for _ in range(field["count"]))
            assert joined == values.tobytes(), (case["path"], field["name"])
            continue
        for column in range(field["count"]):
            name = next(names)
            if ply or field["count"] == 1:
                wanted = field["name"] + (f"_{column}" if field["count"] > 1 else "")
                assert name == wanted, (name, wanted)
            got = data[name]
            assert len(got) == len(values), (name, len(got), len(values))
            right = values[:, column]
            if ply and field["type"] in ("i8", "u8"):
                right = right.astype("f8")
            assert got.dtype.itemsize == right.dtype.itemsize and got.dtype.kind == right.dtype.kind, (got.dtype, right.dtype)
            assert got.astype(right.dtype).tobytes() == right.tobytes(), (case["path"], name)
    assert next(names, None) is None


compared = 0
for line in sys.stdin:
    check(json.loads(line))
    compared += 1
print("compared", compared)
