"""Counts the messages of MCAP files, as PyPI's mcap reads them by the index and as a stream."""
import json
import sys

from mcap.reader import NonSeekingReader, SeekingReader

for path in sys.argv[1:]:
    answer = {"path": path, "messages": 0, "error": ""}
    try:
        counts = []
        for reader in (SeekingReader, NonSeekingReader):
            with open(path, "rb") as f:
                counts.append(sum(1 for _ in reader(f, validate_crcs=True).iter_messages(log_time_order=False)))
        answer["messages"] = counts[0]
        if counts[0] != counts[1]:
            answer["error"] = f"{counts[0]} messages by the index, {counts[1]} as a stream"
    except Exception as e:  # any is a failure
        answer["error"] = repr(e)
    print(json.dumps(answer))
