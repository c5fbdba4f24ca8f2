"""Messages as views of the rows of a batch: a field is looked up when it is asked for.

A view keeps its batch in memory. Values are what Python and numpy users expect:

    numbers, bool            int, float, bool
    time, duration           int, ns
    string, enum             str
    struct                   a view; None if it is absent
    T[N], T[] of numbers     numpy array, a read-only view; times as int64, ns
    T[] of structs           a sequence of views
    T[] of all else          list
    uint8[], uint8[N]        memoryview, read-only
    map                      dict
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Callable

from . import _columns, _files
from ._need import need
from ._row import Row, RowList, row_class

Values = Any  # what gives the value of a row by its number


class Reader:
    """Makes rows of the batches of one schema."""

    def __init__(self, schema: Any) -> None:
        need("numpy", "rows")
        metadata = schema.metadata or {}
        self.topic: str = metadata.get(b"bagconv.topic", b"").decode()
        self._name: str = metadata.get(b"bagconv.type", b"").decode() or "message"
        self._struct = _Struct(self._name, schema.names, [f.type for f in schema], _columns.own(schema))

    def rows(self, batch: Any) -> Iterator[tuple[int, Row]]:
        """Yield the log time of each row, ns since 1970, and the row."""
        columns = _Columns(self._struct, batch.columns)
        times = _columns.times(batch).tolist()
        return zip(times, map(self._struct.row, itertools.repeat(columns), range(len(times))))

    def row(self, batch: Any) -> Callable[[int], Row]:
        """Return what makes a row of a batch by its number."""
        columns, row = _Columns(self._struct, batch.columns), self._struct.row
        return lambda i: row(columns, i)


class _Struct:
    """How the columns of a struct become values; it is made once for a schema."""

    def __init__(self, name: str, names: Sequence[str], types: Sequence[Any], hidden: int = 0) -> None:
        self.row = row_class(name, names, hidden)
        self.makers = [_maker(f"{name}.{n}", kind) for n, kind in zip(names, types)]


class _Columns(dict):  # type: ignore[type-arg]
    """The values of columns by the number of the column, made when they are asked for."""

    def __init__(self, struct: _Struct, arrays: Sequence[Any]) -> None:
        super().__init__()
        self._struct = struct
        self.arrays = arrays

    def __missing__(self, i: int) -> Values:
        values = self[i] = self._struct.makers[i](self.arrays[i])
        return values


def _maker(name: str, kind: Any) -> Callable[[Any], Values]:
    """Return the function from a column to its values."""
    t = need("pyarrow", "rows").types
    if t.is_struct(kind) and _files.is_placed(kind):
        files = _files.Files()
        return _nullable(lambda column: _Placed(column, files))
    if t.is_struct(kind):
        fields = [kind.field(i) for i in range(kind.num_fields)]
        struct = _Struct(name, [f.name for f in fields], [f.type for f in fields])
        return _nullable(lambda column: _Structs(struct, column))
    if t.is_fixed_size_list(kind) and _columns.numeric(kind.value_type):
        return _nullable(lambda column: _timeless(_columns.rectangle(column)))
    if t.is_map(kind):
        keys, items = _maker(name, kind.key_type), _maker(name, kind.item_type)
        return _nullable(lambda column: _Maps(keys(column.keys), items(column.items), column))
    if t.is_list(kind) or t.is_fixed_size_list(kind):
        if t.is_list(kind) and _columns.numeric(kind.value_type):
            return _nullable(lambda column: _Arrays(_timeless(_columns.numbers(column.values)), column))
        inner = _maker(name, kind.value_type)
        return _nullable(lambda column: _Lists(inner(column.values), column))
    if t.is_binary(kind) or t.is_large_binary(kind) or t.is_fixed_size_binary(kind):
        return _nullable(_Blobs)
    if t.is_timestamp(kind) or t.is_duration(kind):
        return _nullable(lambda column: _columns.integers(column).tolist())
    if _columns.numeric(kind):
        return _nullable(lambda column: _columns.numbers(column).tolist())
    return lambda column: column.to_pylist()


def _nullable(make: Callable[[Any], Values]) -> Callable[[Any], Values]:
    """Return a maker whose values are None where the column is null."""

    def maker(column: Any) -> Values:
        if column.null_count == 0:
            return make(column)
        return _Optional(make(column), (~_columns.absent(column)).tolist())

    return maker


def _timeless(values: Any) -> Any:
    return values.view("int64") if values.dtype.kind in "mM" else values


class _Optional:
    __slots__ = ("_valid", "_values")

    def __init__(self, values: Values, valid: list[bool]) -> None:
        self._values = values
        self._valid = valid

    def __getitem__(self, i: int) -> Any:
        return self._values[i] if self._valid[i] else None


class _Structs:
    __slots__ = ("_columns", "_row")

    def __init__(self, struct: _Struct, column: Any) -> None:
        self._columns = _Columns(struct, [column.field(i) for i in range(column.type.num_fields)])
        self._row = struct.row

    def __getitem__(self, i: int) -> Row:
        return self._row(self._columns, i)

    def arrays(self) -> Iterator[tuple[str, Any]]:
        """Yield the names and columns of the fields."""
        return zip(self._row._fields, self._columns.arrays)


class _Arrays:
    """Lists of numbers."""

    __slots__ = ("_ends", "_values")

    def __init__(self, values: Any, column: Any) -> None:
        self._values = values
        self._ends: list[int] = _columns.offsets(column).tolist()

    def __getitem__(self, i: int) -> Any:
        return self._values[self._ends[i] : self._ends[i + 1]]


class _Lists:
    """Lists of all else."""

    __slots__ = ("_ends", "_values")

    def __init__(self, values: Values, column: Any) -> None:
        self._values = values
        if hasattr(column, "offsets"):
            self._ends: Any = _columns.offsets(column).tolist()
        else:
            k = column.type.list_size
            self._ends = (
                range(column.offset * k, (column.offset + len(column) + 1) * k, max(k, 1))
                if k
                else [0] * (len(column) + 1)
            )

    def __getitem__(self, i: int) -> Sequence[Any]:
        start, end = self._ends[i], self._ends[i + 1]
        if isinstance(self._values, _Structs):  # structs are many: points, transforms
            return RowList(self._values, start, end)
        return [self._values[j] for j in range(start, end)]


class _Maps:
    __slots__ = ("_ends", "_items", "_keys")

    def __init__(self, keys: Values, items: Values, column: Any) -> None:
        self._keys, self._items = keys, items
        self._ends: list[int] = _columns.offsets(column).tolist()

    def __getitem__(self, i: int) -> dict[Any, Any]:
        return {self._keys[j]: self._items[j] for j in range(self._ends[i], self._ends[i + 1])}


class _Blobs:
    """Bytes."""

    __slots__ = ("_data", "_ends")

    def __init__(self, column: Any) -> None:
        np, t = need("numpy", "rows"), need("pyarrow", "rows").types
        buffers = column.buffers()
        self._data = memoryview(buffers[-1] if buffers[-1] is not None else b"").toreadonly()
        if t.is_fixed_size_binary(column.type):
            k = column.type.byte_width
            self._ends: Any = [i * k for i in range(column.offset, column.offset + len(column) + 1)]
        elif buffers[1] is None:
            self._ends = [0] * (len(column) + 1)
        else:
            dtype = np.dtype("int64" if t.is_large_binary(column.type) else "int32")
            self._ends = np.frombuffer(buffers[1], dtype, len(column) + 1, column.offset * dtype.itemsize).tolist()

    def __getitem__(self, i: int) -> memoryview:
        return self._data[self._ends[i] : self._ends[i + 1]]


class _Placed:
    """Bytes that came, or have their place in a file."""

    __slots__ = ("_blobs", "_files", "_offsets", "_paths", "_sizes")

    def __init__(self, column: Any, files: _files.Files) -> None:
        self._blobs = _Blobs(column.field(0))
        self._paths: list[str] = column.field(1).to_pylist()
        self._offsets: list[int] = _columns.numbers(column.field(2)).tolist()
        self._sizes: list[int] = _columns.numbers(column.field(3)).tolist()
        self._files = files

    def __getitem__(self, i: int) -> memoryview:
        if self._offsets[i] < 0:
            return self._blobs[i]
        return self._files.get(self._paths[i], self._offsets[i], self._sizes[i])
