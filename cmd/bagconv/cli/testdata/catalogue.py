# Runs SQL from standard input, a list in JSON, on a catalogue as Parquet by DuckDB and as SQLite by sqlite3, and
# prints the number of rows of each. Both must answer the same.
import json
import sqlite3
import sys

import duckdb

parquet, database = sys.argv[1:]
duck = duckdb.connect()
duck.execute("CREATE VIEW catalogue AS FROM '%s'" % parquet)
lite = sqlite3.connect("file:%s?mode=ro" % database, uri=True)
lite.execute("PRAGMA integrity_check").fetchall() == [("ok",)] or sys.exit("the database is broken")


def plain(rows):
    return [tuple(float("%.6g" % v) if isinstance(v, float) else int(v) if isinstance(v, bool) else
                  int(v) if v is not None and not isinstance(v, str) else v for v in row) for row in rows]


counts = []
for n, sql in enumerate(json.load(sys.stdin), 1):
    a, b = plain(duck.execute(sql).fetchall()), plain(lite.execute(sql).fetchall())
    if [[float(v) if isinstance(v, (int, float)) else v for v in r] for r in a] != \
       [[float(v) if isinstance(v, (int, float)) else v for v in r] for r in b]:
        sys.exit("question %d: DuckDB has\n%s\nand SQLite\n%s" % (n, a[:5], b[:5]))
    counts.append(len(a))
print(json.dumps(counts))
