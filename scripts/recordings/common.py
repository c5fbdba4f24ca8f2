"""What the makers of testdata/recordings share."""
import hashlib
import json
import pathlib
import struct
import sys

OUT = pathlib.Path(sys.argv[1])
START = 1_700_000_000_000_000_000  # ns since 1970
STEP = 100_000_000


def write(name, data):
    path = OUT / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def save(name, values):
    text = '{\n' + ',\n'.join(f' {json.dumps(k)}: {json.dumps(v, sort_keys=True)}' for k, v in sorted(values.items())) + '\n}\n'
    write(name, text.encode())


def payload_hash(rows):
    """rows of (time, topic, data), in any order: SHA-256 in the order of time."""
    h = hashlib.sha256()
    for time, topic, data in sorted(rows, key=lambda r: r[0]):
        h.update(struct.pack('<Q', time) + topic.encode() + b'\0' + struct.pack('<I', len(data)) + data)
    return h.hexdigest()
