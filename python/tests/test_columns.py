"""Columns of Arrow as arrays and as rows: nulls, slices, every type."""

import numpy as np
import pyarrow as pa
import pytest

from bagconv import _columns, _rows

TIMES = pa.timestamp("ns", tz="UTC")
COLUMNS = {
    "bool": (pa.array([True, False, None, True, True]), "masked"),
    "int": (pa.array([1, -2, None, 4, 5], pa.int16()), "masked"),
    "large": (pa.array([2**64 - 1, 0, None, 1, 2], pa.uint64()), "masked"),
    "float": (pa.array([1.5, float("nan"), None, -0.0, float("inf")], pa.float32()), "float32"),
    "double": (pa.array([1.5, 2.5, None, 3.5, 4.5]), "float64"),
    "time": (pa.array([1, 2, None, 4, 5], TIMES), "datetime64[ns]"),
    "duration": (pa.array([1, -2, None, 4, 5], pa.duration("ns")), "timedelta64[ns]"),
    "text": (pa.array(["a", "ü", None, "", "x"]), "object"),
    "enum": (pa.array(["a", "b", None, "a", "a"]).dictionary_encode(), "object"),
    "bytes": (pa.array([b"a", b"", None, b"xyz", b"1"]), "object"),
    "six": (pa.array([b"123456", b"abcdef", None, b"ABCDEF", b"......"], pa.binary(6)), "object"),
    "list": (pa.array([[1, 2], [], None, [3], [4, 5, 6]], pa.list_(pa.int32())), "object"),
    "bools": (pa.array([[True, False], [], None, [True], [False]], pa.list_(pa.bool_())), "object"),
    "texts": (pa.array([["a"], [], None, ["b", "c"], [""]]), "object"),
    "two": (pa.array([[1.0, 2.0], [3.0, 4.0], None, [5.0, 6.0], [7.0, 8.0]], pa.list_(pa.float64(), 2)), "masked"),
    "two texts": (pa.array([["a", "b"], ["c", "d"], None, ["e", "f"], ["g", "h"]], pa.list_(pa.string(), 2)), "object"),
    "structs": (pa.array([[{"x": 1}], [], None, [{"x": 2}, {"x": 3}], []]), "object"),
    "map": (pa.array([[("k", 1)], [], None, [("a", 2), ("b", 3)], []], pa.map_(pa.string(), pa.int64())), "object"),
    "struct": (
        pa.array([{"x": 1.0, "y": 2.0}, {"x": 3.0, "y": 4.0}, None, {"x": 5.0, "y": 6.0}, {"x": 7.0, "y": 8.0}]),
        "float64",
    ),
}


def plain(value):
    """A value of a row as pyarrow's to_pylist has it."""
    if isinstance(value, memoryview):
        return bytes(value)
    if hasattr(value, "_asdict"):
        return {k: plain(v) for k, v in value._asdict().items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, (list, _rows.RowList)):
        return [plain(v) for v in value]
    return value


def same(a, b):
    return a == b or (isinstance(a, float) and isinstance(b, float) and np.isnan(a) and np.isnan(b))


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize(("start", "length"), [(0, 5), (1, 4), (3, 2), (0, 2), (2, 1), (5, 0)])
def test_slices_and_nulls(name, start, length):
    column, kind = COLUMNS[name]
    part = column.slice(start, length)
    stamps = pa.array(range(start, start + length), pa.int64()).cast(TIMES)
    batch = pa.record_batch([stamps, stamps, part], ["log_time", "publish_time", "v"])
    integers = part.cast(pa.int64()) if name in ("time", "duration") else part
    want = integers.to_pylist()
    got = [(t, plain(row["v"])) for t, row in _rows.Reader(batch.schema).rows(batch)]
    assert [t for t, _ in got] == list(range(start, start + length))
    assert all(same(a, b) for (_, a), b in zip(got, want)), (got, want)

    array = _columns.one(part, name)
    assert len(array) == length
    if kind == "masked":
        assert np.ma.isMA(array) == (part.null_count > 0)
        if length:
            assert array.tolist() == [v if v is not None or array.ndim == 1 else [None, None] for v in want]
    elif kind == "object":
        if part.null_count:
            assert array.dtype == object
    else:
        assert array.dtype == np.dtype(kind)
        if name == "struct":
            assert array.shape == (length, 2)
        missing = np.isnat(array) if array.dtype.kind in "mM" else np.isnan(array)
        assert missing.reshape(length, 2 if name == "struct" else 1).all(1).tolist() == [
            v is None or v != v for v in want
        ]


def test_lists_of_one_length_are_a_rectangle():
    column = pa.array([[1, 2], [3, 4], [5, 6]], pa.list_(pa.int32()))
    assert _columns.one(column, "v").tolist() == [[1, 2], [3, 4], [5, 6]]
    assert _columns.one(column.slice(1), "v").tolist() == [[3, 4], [5, 6]]
    parts = [column, pa.array([[7, 8, 9]], pa.list_(pa.int32()))]
    assert [r.tolist() for r in _columns.array(parts, "v")] == [[1, 2], [3, 4], [5, 6], [7, 8, 9]]
    assert _columns.array([column, column], "v").shape == (6, 2)


def test_sequences_of_sequences():
    column = pa.array([[[1, 2], []], [], [[3]]], pa.list_(pa.list_(pa.int64())))
    stamps = pa.array([0, 1, 2], pa.int64()).cast(TIMES)
    batch = pa.record_batch([stamps, stamps, column], ["log_time", "publish_time", "v"])
    got = [plain(row.v) for _, row in _rows.Reader(batch.schema).rows(batch)]
    assert got == [[[1, 2], []], [], [[3]]]


def test_columns_of_ours():
    schema = pa.schema([("log_time", TIMES), ("publish_time", TIMES), ("sequence", pa.uint64()), ("x", pa.int8())])
    assert _columns.own(schema) == 3
    assert _columns.own(schema.with_metadata({"bagconv.definition": "uint64 sequence\nint8 x\n"})) == 2
    assert _columns.own(pa.schema([("log_time", TIMES), ("publish_time", TIMES), ("sequence", pa.int32())])) == 2
    names = ["_log_time", "publish_time", "_sequence", "log_time", "sequence"]
    schema = pa.schema(list(zip(names, [TIMES, TIMES, pa.uint64(), TIMES, pa.uint64()])))
    assert _columns.own(schema) == 3
    assert _columns.cheapest(schema) == ["log_time"]
    assert _columns.cheapest(pa.schema([*schema][:3])) == []


def test_fields_with_names_of_python():
    """A hostile definition changes nothing of how a row works."""
    names = ["__del__", "__class__", "_c", "_i", "_asdict", "__iter__", "x", "class", "mro", "a.b"]
    columns = [pa.array([i, i + 100]) for i in range(len(names))]
    stamps = pa.array([7, 8]).cast(TIMES)
    batch = pa.record_batch([stamps, stamps, *columns], ["log_time", "publish_time", *names])
    rows = [row for _, row in _rows.Reader(batch.schema).rows(batch)]
    assert [rows[1][n] for n in names] == [i + 100 for i in range(len(names))]
    assert (rows[0].x, rows[0].mro, getattr(rows[0], "class")) == (6, 8, 7)
    assert rows[0]._asdict() == dict(zip(names, range(len(names))))
    assert rows[0] == rows[0]
    assert rows[0] != rows[1]
    assert repr(rows[0]).startswith("message(__del__=0, ")
    del rows  # nothing is called
