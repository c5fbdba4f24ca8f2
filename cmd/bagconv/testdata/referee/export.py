"""export.py BAGCONV RECORDING [RECORDING ...]: hold the tables of `bagconv export` against `bagconv cat`, value by value.

Each recording is exported to Parquet and to Arrow. pyarrow reads both, polars and duckdb count the rows of Parquet, and each
value must be that which cat prints, which other tests hold against the readers of others. One JSON object per recording:
{"recording", "messages", "problem"}.
"""
import base64, json, math, os, shutil, struct, subprocess, sys, tempfile
import duckdb, polars
import pyarrow as pa
import pyarrow.parquet as pq


class Single(float):
    """a float of 32 bits"""


def values(a):
    """the values of an array, times as ns"""
    t = a.type
    if isinstance(a, pa.ChunkedArray):
        return [v for c in a.chunks for v in values(c)]
    if pa.types.is_struct(t):
        fields = [(t.field(i).name, values(f)) for i, f in enumerate(a.flatten())]
        return [{n: v[i] for n, v in fields} if ok else None for i, ok in enumerate(a.is_valid().to_pylist())]
    if pa.types.is_map(t):
        inner, o = list(zip(values(a.keys), values(a.items))), a.offsets.to_pylist()
        return [[{'key': k, 'value': v} for k, v in inner[o[i]:o[i + 1]]] for i in range(len(a))]
    if pa.types.is_fixed_size_list(t):
        inner, n = values(a.flatten()), t.list_size
        return [inner[i * n:(i + 1) * n] for i in range(len(a))]
    if pa.types.is_list(t) or pa.types.is_large_list(t):
        inner, o = values(a.values), a.offsets.to_pylist()
        return [inner[o[i]:o[i + 1]] for i in range(len(a))]
    if pa.types.is_timestamp(t) or pa.types.is_duration(t):
        assert t.unit == 'ns' and getattr(t, 'tz', 'UTC') == 'UTC', t
        return a.cast(pa.int64()).to_pylist()
    if pa.types.is_dictionary(t):
        return values(a.dictionary_decode())
    if pa.types.is_float32(t):
        return [Single(x) if x is not None else None for x in a.to_pylist()]
    return a.to_pylist()


def same(v, j, path):
    """v is from a table, j from JSON"""
    if v is None or j is None:
        assert v is None and j is None, (path, v, j)
    elif isinstance(j, dict) and not isinstance(v, dict):  # a time, or a struct without fields
        if v is True and not j:
            return
        n = list(j.values())
        assert len(n) == 2 and int(n[0]) * 10**9 + int(n[1]) == v, (path, v, j)
    elif isinstance(v, dict):
        assert set(v) == set(j), (path, set(v) ^ set(j))
        for name in v:
            same(v[name], j[name], path + '.' + name)
    elif isinstance(v, bytes):
        raw = bytes(int(x) & 255 for x in j) if isinstance(j, list) else base64.b64decode(j)
        assert raw == v, (path, v[:20], str(j)[:40])
    elif isinstance(v, list) and isinstance(j, dict):  # a map
        assert len(v) == len(j), path
        for item in v:
            same(item['value'], j[str(item['key']).lower() if isinstance(item['key'], bool) else str(item['key'])], path)
    elif isinstance(v, list):
        assert len(v) == len(j), (path, len(v), len(j))
        for i, x in enumerate(v):
            same(x, j[i], '%s[%d]' % (path, i))
    elif isinstance(v, bool):
        assert j is v, (path, v, j)
    elif isinstance(v, Single):
        assert math.isnan(v) and math.isnan(float(j)) or struct.pack('<f', float(j)) == struct.pack('<f', v), (path, v, j)
    elif isinstance(v, float):
        assert float(j) == v or math.isnan(v) and math.isnan(float(j)), (path, v, j)
    elif isinstance(v, int):
        assert int(j) == v, (path, v, j)
    else:
        assert v == str(j), (path, v, j)


def rows(table, fields):
    """the rows of a table as times and fields of the message"""
    names = table.column_names
    own = [n for n in names if n.lstrip('_') in ('log_time', 'publish_time', 'sequence')]
    own = own[:3 if len(own) > 2 and own[2].lstrip('_') == 'sequence' else 2]
    cols = {n: values(table.column(i)) for i, n in enumerate(names)}
    for i in range(table.num_rows):
        yield cols[own[0]][i], {n: cols[n][i] for n in names[len(own):]}


def check(exe, path, work):
    out = dict(recording=path, messages=0, problem='')
    p = subprocess.run([exe, 'cat', path, '--bytes', '--arrays'], capture_output=True)
    lines = {}
    for line in p.stdout.decode().split('\n')[:-1]:
        o = json.loads(line)
        lines.setdefault((o['topic'], int(o['time'])), []).append(o['fields'])
    for kind in ('parquet', 'arrow'):
        dir = os.path.join(work, kind)
        shutil.rmtree(dir, ignore_errors=True)
        e = subprocess.run([exe, 'export', path, dir, '--format', kind, '--no-sync'], capture_output=True)
        if not os.path.isdir(dir):
            if lines:
                out['problem'] = 'export: exit status %d: %s' % (e.returncode, e.stderr.decode()[:400])
            return out
        left = {k: list(v) for k, v in lines.items()}
        for topic in json.load(open(os.path.join(dir, 'export.json')))['topics']:
            for file in topic['files']:
                name = os.path.join(dir, file['path'])
                table = pq.read_table(name, partitioning=None) if kind == 'parquet' else pa.ipc.open_file(name).read_all()
                assert table.num_rows == file['rows'], (name, table.num_rows, file['rows'])
                if kind == 'parquet':
                    assert polars.read_parquet(name, hive_partitioning=False).height == file['rows'], name
                    assert duckdb.sql("select count(*) from read_parquet('%s', hive_partitioning=false)" % name.replace("'", "''")).fetchall() == [(file['rows'],)], name
                for time, fields in rows(table, None):
                    found, why = left.get((topic['name'], time), []), 'cat has no line for it'
                    for i, want in enumerate(found):
                        try:
                            same(fields, want, topic['name'])
                            found.pop(i)
                            why = ''
                            out['messages'] += kind == 'parquet'
                            break
                        except AssertionError as x:
                            why = repr(x)
                    if why and not out['problem']:
                        out['problem'] = '%s: %s of %s at %d: %s' % (kind, topic['name'], topic['type'], time, why[:600])
        rest = sum(map(len, left.values()))
        if rest and not out['problem']:
            out['problem'] = '%s: %d lines of cat have no row; %s' % (kind, rest, e.stderr.decode()[:300])
    return out


with tempfile.TemporaryDirectory() as work:
    for path in sys.argv[2:]:
        try:
            print(json.dumps(check(sys.argv[1], path, work)), flush=True)
        except Exception as e:
            print(json.dumps(dict(recording=path, messages=0, problem=repr(e)[:600])), flush=True)
