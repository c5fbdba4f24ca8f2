"""Writes one table in every way in which pyarrow and polars write it, as files in the folder of the first argument."""
import datetime
import os
import sys

import polars
import pyarrow
import pyarrow.ipc
import pyarrow.parquet

folder = sys.argv[1]
rows = 1000
table = pyarrow.table({
    "time": pyarrow.array([1700000000000000000 + i * 10**7 for i in range(rows)], pyarrow.timestamp("ns")),
    "latitude": [52 + i * 1e-6 for i in range(rows)],
    "longitude": pyarrow.array([8.0] * rows, pyarrow.float32()),
    "header": [{"frame_id": f"gps{i % 3}", "stamp": datetime.datetime(2023, 11, 14, 22, 13, 20, i)} for i in range(rows)],
    "status": [{"status": -1, "service": 1}] * rows,
    "position_covariance": [[float(k) for k in range(9)]] * rows,
    "extra": pyarrow.array([None] * rows, pyarrow.string()),
})


def path(name):
    return os.path.join(folder, name)


def ipc(name, new, step, **options):
    with new(path(name), table.schema, options=pyarrow.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=step)


ipc("stream.arrow", pyarrow.ipc.new_stream, 100)
ipc("lz4.arrow", pyarrow.ipc.new_stream, 1000, compression="lz4")
ipc("file.arrow", pyarrow.ipc.new_file, 300, compression="zstd")
ipc("legacy.arrow", pyarrow.ipc.new_stream, 100, use_legacy_format=True)
pyarrow.parquet.write_table(table, path("snappy.parquet"), row_group_size=250)
pyarrow.parquet.write_table(table, path("v2.parquet"), compression="zstd", data_page_version="2.0", use_dictionary=False)
pyarrow.parquet.write_table(table, path("us.parquet"), compression="none", version="1.0", coerce_timestamps="us", allow_truncated_timestamps=True)
pyarrow.parquet.write_table(table, path("delta.parquet"), use_dictionary=False, column_encoding={"time": "DELTA_BINARY_PACKED"}, compression="none")
frame = polars.from_arrow(table)
frame.write_ipc_stream(path("polars_stream.arrow"))
frame.write_ipc(path("polars_file.arrow"), compression="lz4")
frame.write_parquet(path("polars.parquet"), compression="zstd")
flat = frame.unnest("status").rename({"status": "status.status", "service": "status.service"})
flat = flat.with_columns(polars.col("header").struct.field("frame_id").cast(polars.Categorical).alias("header.frame_id"),
                         polars.col("header").struct.field("stamp").alias("header.stamp")).drop("header")
flat.write_ipc_stream(path("flat.arrow"))
