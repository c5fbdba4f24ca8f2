"""Columns of Arrow as arrays of numpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._need import need

_DTYPES = {"float": "float32", "double": "float64", "halffloat": "float16"}  # others have numpy's names

OWN = ("log_time", "publish_time", "sequence")  # the first columns; a `_` in front if the message has that name


def own(schema: Any) -> int:
    """Return how many of the first columns are not of the message: the times, and the sequence if it is there."""
    if len(schema) < 3 or schema.names[2] not in ("sequence", "_sequence") or str(schema.types[2]) != "uint64":
        return 2
    if schema.names[2] == "_sequence":
        return 3
    return 2 if "sequence" in _declared(schema) else 3


def cheapest(schema: Any) -> list[str]:
    """Return the path of a number of the message, for those who want the times alone; [] if there is none."""
    for field in list(schema)[own(schema) :]:
        path, kind = [field.name], field.type
        while need("pyarrow", "columns").types.is_struct(kind):
            path.append(kind.field(0).name)
            kind = kind.field(0).type
        if numeric(kind):
            return [".".join(path)]
    return []


def _declared(schema: Any) -> set[str]:
    """Return the names of the fields of the definition, as far as its text has them."""
    text = ((schema.metadata or {}).get(b"bagconv.definition") or b"").decode("utf-8", "replace")
    head = text.partition("\n====")[0]
    return {words[1].partition("=")[0] for words in map(str.split, head.splitlines()) if len(words) > 1}


def times(batch: Any) -> Any:
    """Return the log times of a batch, ns since 1970, int64."""
    return integers(batch.column(0))


def integers(column: Any) -> Any:
    """Return times or durations as int64, ns, without a copy; of what is null whatever is there."""
    return _plain(column, "int64")


def absent(column: Any) -> Any:
    """Return where a column is null, as bools."""
    np = need("numpy", "arrays")
    validity = column.buffers()[0] if column.null_count else None
    return np.zeros(len(column), bool) if validity is None else ~_bits(validity, column.offset, len(column))


def offsets(column: Any) -> Any:
    """Return where the elements of lists begin, and where the last ones end, in the column of all elements."""
    return integers(column.offsets) if str(column.offsets.type) == "int64" else _plain(column.offsets, "int32")


def _plain(column: Any, dtype: str) -> Any:
    """Return the values of a column as its buffer has them.

    pyarrow's own to_numpy imports pandas, which takes a third of a second.
    """
    np = need("numpy", "arrays")
    data = column.buffers()[1]
    if data is None:
        return np.zeros(len(column), dtype)
    return np.frombuffer(data, dtype, len(column), column.offset * np.dtype(dtype).itemsize)


def _bits(data: Any, offset: int, length: int) -> Any:
    np = need("numpy", "arrays")
    first = offset // 8
    some = np.frombuffer(data, np.uint8, (offset + length + 7) // 8 - first, first)
    return np.unpackbits(some, bitorder="little")[offset % 8 : offset % 8 + length].view(bool)


def at(column: Any, path: Sequence[str], whole: str) -> Any:
    """Return the column below a column of structs at a path of names."""
    pa = need("pyarrow", "reading messages")
    for name in path:
        if not pa.types.is_struct(column.type):
            kind = "a list: .arrow() has it" if pa.types.is_nested(column.type) else f"{column.type}"
            raise KeyError(f"{whole}: what {name!r} is to be taken of is {kind}")
        names = [column.type.field(i).name for i in range(column.type.num_fields)]
        if name not in names:
            raise KeyError(f"{whole}: there is no {name!r}, but {', '.join(names)}")
        column = column.flatten()[names.index(name)]  # flatten keeps the nulls of the struct
    return column


def array(columns: Sequence[Any], path: str) -> Any:
    """Return the chunks of a column as one array; docs/python.md has its dtype and shape for each type."""
    np, pa = need("numpy", "arrays"), need("pyarrow", "arrays")
    if len(columns) > 1 and pa.types.is_struct(columns[0].type):
        table = _table([_leaves(column, path) for column in columns])
        if table is not None:
            return table
    parts = [one(column, path) for column in columns]
    if len(parts) == 1:
        return parts[0]
    shapes = {part.shape[1:] for part in parts}
    if any(part.dtype == object for part in parts) or len(shapes) > 1:
        return objects([row for part in parts for row in part])
    return np.ma.concatenate(parts) if any(np.ma.isMA(p) for p in parts) else np.concatenate(parts)


def objects(rows: Sequence[Any]) -> Any:
    """Return a list as an array of objects of one dimension."""
    np = need("numpy", "arrays")
    out = np.empty(len(rows), dtype=object)
    for i, row in enumerate(rows):
        out[i] = row
    return out


def one(column: Any, path: str) -> Any:
    """Return a column as an array."""
    np, pa = need("numpy", "arrays"), need("pyarrow", "arrays")
    kind, t = column.type, pa.types
    if t.is_struct(kind):
        return _struct(column, path)
    if t.is_fixed_size_list(kind) and numeric(kind.value_type):
        return _fixed(column)
    if t.is_fixed_size_binary(kind):
        return _blobs(column, kind.byte_width)
    if t.is_list(kind) and numeric(kind.value_type):
        return _ragged(column)
    if not numeric(kind):
        return objects(column.to_pylist())
    values = numbers(column)
    if column.null_count == 0:
        return values
    gone = absent(column)
    if values.dtype.kind in "mM":
        return np.where(gone, np.array("NaT", dtype=values.dtype), values)
    if values.dtype.kind == "f":
        return np.where(gone, np.array(np.nan, dtype=values.dtype), values)
    return np.ma.masked_array(values, gone)


def numeric(kind: Any) -> bool:
    """Tell whether values of a type are of one size: numbers, bools, times, durations."""
    t = need("pyarrow", "arrays").types
    return bool(
        t.is_integer(kind) or t.is_floating(kind) or t.is_boolean(kind) or t.is_timestamp(kind) or t.is_duration(kind)
    )


def numbers(column: Any) -> Any:
    """Return the values of a column of numbers, whatever a null has; times are datetime64[ns] and timedelta64[ns]."""
    types, kind = need("pyarrow", "arrays").types, column.type
    if types.is_timestamp(kind):
        return integers(column).view("datetime64[ns]")
    if types.is_duration(kind):
        return integers(column).view("timedelta64[ns]")
    if types.is_boolean(kind):
        np, data = need("numpy", "arrays"), column.buffers()[1]
        return np.zeros(len(column), bool) if data is None else _bits(data, column.offset, len(column))
    return _plain(column, _DTYPES.get(str(kind), str(kind)))


def rectangle(column: Any) -> Any:
    """Return a column of lists of k numbers as an array (n, k), a view; of what is null whatever is there."""
    k = column.type.list_size
    return numbers(column.values.slice(column.offset * k, len(column) * k)).reshape(len(column), k)


def _fixed(column: Any) -> Any:
    """Return a column of lists of k numbers as an array (n, k), masked where a list is null."""
    values = rectangle(column)
    if column.null_count == 0:
        return values
    np = need("numpy", "arrays")
    return np.ma.masked_array(values, np.repeat(absent(column)[:, None], column.type.list_size, 1))


def _blobs(column: Any, width: int) -> Any:
    """Return a column of N bytes as an array (n, N) of uint8."""
    np = need("numpy", "arrays")
    if column.null_count:
        return objects(column.to_pylist())
    data = column.buffers()[1] or b""
    flat = np.frombuffer(data, np.uint8, len(column) * width, column.offset * width)
    return flat.reshape(len(column), width)


def _ragged(column: Any) -> Any:
    """Return lists of numbers as an array (n, k) if all have k elements, else as an array of n arrays."""
    np = need("numpy", "arrays")
    ends = offsets(column)
    values = numbers(column.values)
    lengths = np.diff(ends)
    if column.null_count == 0 and len(lengths) and (lengths == lengths[0]).all():
        return values[ends[0] : ends[-1]].reshape(len(column), int(lengths[0]))
    rows = [
        None if gone else values[a:b]
        for gone, a, b in zip(absent(column).tolist(), ends[:-1].tolist(), ends[1:].tolist())
    ]
    return objects(rows)


def _leaves(column: Any, path: str) -> list[Any]:
    """Return the columns of a column of structs whose numbers have one type, in the order of the fields."""
    pa = need("pyarrow", "arrays")
    columns = [column]
    while any(pa.types.is_struct(c.type) for c in columns):
        columns = [leaf for c in columns for leaf in (c.flatten() if pa.types.is_struct(c.type) else [c])]
    kinds = {str(c.type) for c in columns}
    if len(kinds) != 1 or not numeric(columns[0].type):
        raise KeyError(
            f"{path} has fields of several types, or that are no numbers: name one of them, such as {path}.x"
        )
    return columns


def _struct(column: Any, path: str) -> Any:
    """Return a column of structs as an array (n, k)."""
    np = need("numpy", "arrays")
    parts = [one(c, path) for c in _leaves(column, path)]
    return np.ma.stack(parts, 1) if any(np.ma.isMA(p) for p in parts) else np.stack(parts, 1)


def _table(chunks: Sequence[Sequence[Any]]) -> Any:
    """Return chunks of k columns of numbers as one array (n, k), each value copied once; None if they have nulls or
    several types."""
    np = need("numpy", "arrays")
    first = chunks[0]
    if any(len(c) != len(first) or str(c[0].type) != str(first[0].type) for c in chunks):
        return None
    if any(column.null_count for c in chunks for column in c):
        return None
    out, at = np.empty((sum(len(c[0]) for c in chunks), len(first)), numbers(first[0]).dtype), 0
    for c in chunks:
        for k, column in enumerate(c):
            out[at : at + len(column), k] = numbers(column)
        at += len(c[0])
    return out
