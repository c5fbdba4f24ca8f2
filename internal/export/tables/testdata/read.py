"""Reads tables with several readers and compares their values with the truth.

usage: read.py FOLDER. In it NAME.json has a line for each row: the time of the log, and the message as
internal/testing/typetree writes it; NAME.parquet, NAME.arrow, NAME.arrows and NAME.csv are the table.
Prints a line for each difference, and "N tables" at the end.
"""
import base64
import csv
import glob
import json
import math
import os
import struct
import sys

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

NANOS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


class Coarse(int):
    """A time in ns of a reader that has fewer digits."""


def plain(a):
    """Returns the values of an array of Arrow as lists, dicts, ints, floats, strings and bytes."""
    t = a.type
    if isinstance(a, pa.ExtensionArray):
        return plain(a.storage)
    if pa.types.is_dictionary(t):
        return plain(a.cast(t.value_type))
    if pa.types.is_timestamp(t) or pa.types.is_duration(t):
        make = int if t.unit == "ns" else Coarse
        return [None if v is None else make(v * NANOS[t.unit]) for v in a.cast(pa.int64()).to_pylist()]
    if pa.types.is_struct(t):
        names = [t.field(i).name for i in range(t.num_fields)]
        parts = [plain(part) for part in a.flatten()]
        rows = [dict(zip(names, row)) for row in zip(*parts)]
        return [row if ok else None for row, ok in zip(rows, a.is_valid().to_pylist())]
    if pa.types.is_map(t):
        pairs = [{"key": k, "value": v} for k, v in zip(plain(a.keys), plain(a.items))]
        at = a.offsets.to_pylist()
        base = at[0] if at else 0
        return [None if not ok else pairs[i - base:j - base] for i, j, ok in zip(at, at[1:], a.is_valid().to_pylist())]
    if pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_fixed_size_list(t):
        values = plain(a.flatten())
        rows, at = [], 0
        for n in pa.compute.list_value_length(a).to_pylist():
            rows.append(None if n is None else values[at:at + n])
            at += n or 0
        return rows
    return a.to_pylist()


def table(t):
    """Returns the rows of a table."""
    columns = {n: plain(c.combine_chunks()) if c.num_chunks else [] for n, c in zip(t.column_names, t.columns)}
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def wrong(have, want, path):
    """Returns where a value is not the true one, or None."""
    if want is None:
        return None if have is None or have == "" else f"{path}: {have!r}, not null"
    if isinstance(want, dict):
        if not want:
            return None if have in (True, "true") or not path else f"{path}: {have!r} for a struct without fields"
        if not isinstance(have, dict):
            return f"{path}: {have!r}, not a struct"
        for name, value in want.items():
            if isinstance(have, Cells):
                if name == "seq" and (path + ".seq")[1:] not in have:
                    continue
                if isinstance(value, dict) and value:
                    w = wrong(have, value, f"{path}.{name}")
                else:
                    w = wrong(have.get(f"{path}.{name}"[1:]), value, f"{path}.{name}")
                if w is not None:
                    return w
                continue
            if name == "seq" and name not in have:
                continue  # of Header, which ROS 2 does not have
            if name not in have:
                return f"{path}.{name} is missing"
            if (w := wrong(have[name], value, f"{path}.{name}")) is not None:
                return w
        return None
    have = unquoted(have, want)
    if isinstance(want, list):
        if isinstance(have, bytes):
            want, have = [int(w[1:]) % 256 for w in want], list(have)
            return None if have == want else f"{path}: {have}, not {want}"
        if not isinstance(have, list) or len(have) != len(want):
            return f"{path}: {have!r}, not {want!r}"
        for i, (h, w) in enumerate(zip(have, want)):
            if (w := wrong(h, w, f"{path}[{i}]")) is not None:
                return w
        return None
    if isinstance(want, bool):
        return None if have is want else f"{path}: {have!r}, not {want!r}"
    kind, text = want[0], want[1:]
    if kind == "f":
        ok = isinstance(have, float) and (math.isnan(have) if text == "nan" else struct.pack(">d", have).hex() == text)
        if not ok and isinstance(have, Digits):
            ok = struct.pack(">d", have.narrow()).hex() == text
    elif kind == "t" and isinstance(have, Coarse):
        ok = have == int(text) // 1000 * 1000
    elif kind in "it":
        ok = type(have) is int and have == int(text)
    else:
        ok = have == text
    return None if ok else f"{path}: {have!r}, not {want!r}"


def cells(f):
    """Returns the rows of a file of CSV: texts, with lists read from their JSON, and the members of structs in them."""
    with open(f, newline="", encoding="utf-8") as text:
        return [Cells(row) for row in csv.DictReader(text)]


def others(rows):
    return [Cells({name: "" if v is None else v for name, v in row.items()}) for row in rows]


def with_columns(sql, f):
    with open(f, newline="", encoding="utf-8") as text:
        names = next(csv.reader(text))
    return sql.replace("columns={}", "columns={" + ", ".join(f"'{n}': 'VARCHAR'" for n in names) + "}")


class Cells(dict):
    """The cells of a row, by their names with points."""


def unquoted(have, want):
    """Returns a value of a cell, or of JSON in one, as the truth has it: a number if that is one."""
    kind = want[0] if isinstance(want, str) else ""
    if isinstance(want, bool):
        return {"true": True, "false": False}.get(have, have)
    if isinstance(want, list) and isinstance(have, str):
        if want and isinstance(want[0], str) and want[0][0] == "i" and not have.startswith("["):
            return base64.b64decode(have)
        return json.loads(have) if have else b""
    if not have and kind != "s" or not isinstance(have, (str, int, float)) or isinstance(have, bool):
        return have
    if kind in ("i", "t"):
        return int(have)
    return Digits(have) if kind == "f" else have


class Digits(float):
    """A number as text, which for a float32 has no more digits than that needs."""

    def narrow(self):
        if math.isinf(self) or abs(self) > 3.4028235677973366e38:
            return self
        return struct.unpack(">f", struct.pack(">f", self))[0]


def readers(name):
    """Yields what each reader makes of each file of a table."""
    for end in [".parquet", ".arrow", ".arrows", ".csv"]:
        f = name + end
        if not os.path.exists(f):
            continue
        if end == ".parquet":
            yield "pyarrow", f, lambda f=f: pq.ParquetFile(f).read()
            yield "polars", f, lambda f=f: pl.read_parquet(f).to_arrow()
            yield "duckdb", f, lambda f=f: duckdb.sql(f"select * from '{f}'").to_arrow_table()
        elif end == ".arrow":
            yield "pyarrow", f, lambda f=f: pa.ipc.open_file(f).read_all()
            yield "polars", f, lambda f=f: pl.read_ipc(f).to_arrow()
        elif end == ".arrows":
            yield "pyarrow", f, lambda f=f: pa.ipc.open_stream(f).read_all()
            yield "polars", f, lambda f=f: pl.read_ipc_stream(f).to_arrow()
        else:
            yield "csv", f, lambda f=f: cells(f)
            yield "polars", f, lambda f=f: others(pl.read_csv(f, infer_schema=False).to_dicts())
            sql = f"select * from read_csv('{f}', all_varchar=true, header=true, auto_detect=false, delim=',', quote='\"', escape='\"', columns={{}})"
            yield "duckdb", f, lambda f=f, sql=sql: others(pl.DataFrame(duckdb.sql(with_columns(sql, f)).to_arrow_table()).to_dicts())


def footer(f):
    """Returns what is wrong with the bounds and the order that the footer of a file of Parquet has."""
    file = pq.ParquetFile(f)
    for g in range(file.num_row_groups):
        group = file.metadata.row_group(g)
        flat = flatten(file.read_row_group(g))
        if group.sorting_columns and flat["log_time"] != sorted(flat["log_time"]):
            return "rows are not sorted"
        for i in range(group.num_columns):
            c = group.column(i)
            if not c.has_offset_index:
                return f"{c.path_in_schema} has no index"
            values = [v for v in flat[c.path_in_schema] if v is not None]
            s = c.statistics
            if s.null_count != len(flat[c.path_in_schema]) - len(values):
                return f"{c.path_in_schema}: {s.null_count} nulls, not {len(flat[c.path_in_schema]) - len(values)}"
            numbers = [v for v in values if v == v]
            bounds = ()
            if s.has_min_max:
                bounds = (s.min_raw, s.max_raw) if s.logical_type.type == "TIMESTAMP" else (s.min, s.max)
            if bounds and bounds != (min(numbers), max(numbers)):
                return f"{c.path_in_schema}: bounds {bounds}, not {min(numbers)!r} to {max(numbers)!r}"
            if not s.has_min_max and numbers and isinstance(numbers[0], (int, float)):
                return f"{c.path_in_schema} has no bounds"
    return None


def flatten(t):
    """Returns all values of the leaves of a table, by their paths in Parquet."""
    out = {}

    def walk(path, a):
        if pa.types.is_struct(a.type):
            for i, part in enumerate(a.flatten()):
                walk(path + "." + a.type.field(i).name, part)
        elif pa.types.is_map(a.type):
            walk(path + ".key_value.key", a.keys)
            walk(path + ".key_value.value", a.items)
            empty(path, a, ".key_value.")
        elif pa.types.is_list(a.type) or pa.types.is_fixed_size_list(a.type):
            walk(path + ".list.element", a.flatten())
            empty(path, a, ".list.element")
        else:
            out[path] = plain(a)

    def empty(path, a, below):  # lists without elements count as nulls of the leaves in them
        n = sum(1 for v in pa.compute.list_value_length(a).to_pylist() if not v) if not pa.types.is_map(a.type) else \
            sum(1 for v in a.to_pylist() if not v)
        for leaf in out:
            if leaf.startswith(path + below):
                out[leaf] += [None] * n

    for name, c in zip(t.column_names, t.columns):
        walk(name, c.combine_chunks())
    return out


def schema(f):
    """Returns where the schema of a file of Parquet is not that of the stream of Arrow beside it."""
    have, want = pq.read_schema(f), pa.ipc.open_stream(f[:-len(".parquet")] + ".arrows").schema
    for h, w in zip(have, want):
        if not h.equals(w) or (h.metadata or {}).get(b"constants") != (w.metadata or {}).get(b"constants"):
            return f"{h} {h.metadata}, not {w} {w.metadata}"
    if have.names != want.names or have.metadata[b"bagconv.topic"] != b"/t" or have.metadata.get(b"constants") != want.metadata.get(b"constants"):
        return f"{have.names} {have.metadata}, not {want.names} {want.metadata}"
    return None


def coarse(v):
    """Returns a value with its integers, of which some are times in ns, without their last digits."""
    if isinstance(v, dict):
        return {n: coarse(x) for n, x in v.items()}
    if isinstance(v, list):
        return [coarse(x) for x in v]
    return v // 1000 if isinstance(v, int) and not isinstance(v, bool) else v


def alike(name):
    """Returns where the files of a table without a truth differ from its stream of Arrow."""
    want = pa.ipc.open_stream(name + ".arrows").read_all()
    for reader, f, read in readers(name):
        if f.endswith(".csv"):
            if len(read()) != len(want):
                return f"{f} by {reader}: {len(read())} rows, not {len(want)}"
            continue
        have = table(read())
        if repr(have) != repr(table(want)) and not (reader == "duckdb" and repr(coarse(have)) == repr(coarse(table(want)))):
            return f"{f} by {reader} differs"  # by repr NaN is equal to itself
    if not name.endswith("large"):
        return None
    at = want["t"][len(want) // 2].value
    for sql, n in [(f"epoch_ns(t) >= {at}", len(want) // 2), ("counter = 300", 7), ("flag", len(want) // 2), ("constant = 'b'", 0)]:
        found = duckdb.sql(f"select count(*) from '{name}.parquet' where {sql}").fetchall()[0][0]
        if found != n:
            return f"{sql}: {found} rows, not {n}"
    if pl.scan_parquet(name + ".parquet").filter(pl.col("counter") == 300).collect().height != 7:
        return "polars finds other rows"
    return None


def main(folder):
    csv.field_size_limit(1 << 30)
    duckdb.sql("set threads to 1")
    duckdb.sql("set timezone to 'UTC'")
    count = 0
    for f in sorted(glob.glob(os.path.join(folder, "*.parquet"))):
        if (found := footer(f) or schema(f)) is not None:
            print(f"{os.path.basename(f)}: {found}")
        if not os.path.exists(f[:-len(".parquet")] + ".json"):
            try:
                found = alike(f[:-len(".parquet")])
            except Exception as e:
                found = f"{f}: {type(e).__name__}: {str(e)[:300]}"
            count += 1
            if found is not None:
                print(found)
    for truth in sorted(glob.glob(os.path.join(folder, "*.json"))):
        want = [json.loads(line) for line in open(truth, encoding="utf-8")]
        for reader, f, read in readers(truth[:-len(".json")]):
            where = f"{os.path.basename(f)} by {reader}"
            try:
                rows = read()
                rows = rows if isinstance(rows, list) else table(rows)
            except Exception as e:  # whatever a reader raises is a finding
                print(f"{where}: {type(e).__name__}: {str(e)[:300]}")
                continue
            count += 1
            if len(rows) != len(want):
                print(f"{where}: {len(rows)} rows, not {len(want)}")
                continue
            for i, (row, w) in enumerate(zip(rows, want)):
                found = wrong(row[w["names"][0]], w["time"], w["names"][0]) or wrong(row, w["message"], "")
                if found:
                    print(f"{where}: row {i}: {found}")
                    break
    print(count, "tables")


main(sys.argv[1])
