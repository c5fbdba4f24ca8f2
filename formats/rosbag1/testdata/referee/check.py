"""Reads bags with the reference library, Debian's python3-rosbag, for TestReferees.

For each file one line of JSON: messages, connections with messages as [topic, type, md5sum,
callerid, latching, definition], compression of the chunks, least and greatest time.
"""
import json
import sys

import rosbag

for path in sys.argv[1:]:
    with rosbag.Bag(path) as bag:
        n, first, last, total = 0, None, None, 0
        for topic, raw, time in bag.read_messages(raw=True):
            n += 1
            first = min(first or time.to_nsec(), time.to_nsec())
            last = max(last or 0, time.to_nsec())
            total += len(raw[1])
        text = lambda v: v.decode() if isinstance(v, bytes) else v
        conns = [[c.topic, c.datatype, c.md5sum, text(c.header.get('callerid', '')), text(c.header.get('latching', '')), c.msg_def]
                 for c in bag._get_connections()]
        chunks = {}
        for h in bag._chunk_headers.values():
            chunks[h.compression] = chunks.get(h.compression, 0) + 1
        print(json.dumps(dict(messages=n, bytes=total, first=first, last=last, connections=conns, chunks=chunks)))
