"""Rows of all recordings, written again, are the recordings."""

import warnings

import pytest
from conftest import LONG, recordings

import bagconv
from bagconv import Writer

# Whose messages cannot all be read as rows, because of damage or their definitions.
ODD = (
    "no-desc-and-undeclared",
    "test_bad_schema",
    "bit-flip",
    "test_unsupported_encoding",
    "cdr-with-ros1msg",
    "idl-and-no",
)
ENDINGS = {".bag": "out.bag", ".record": "out.record", ".mcap": "out.mcap", ".yaml": "out"}


@pytest.mark.parametrize(
    ("folder", "pattern"), [("ros1", "*.bag"), ("cyber", "*.record"), ("mcap", "*.mcap"), ("rosbag2", "metadata.yaml")]
)
def test_rows_of_recordings(tmp_path, folder, pattern):
    equal, wrong = 0, []
    paths = [p for p in recordings(folder, pattern) if "conformance" not in p.parts and p.stat().st_size < 3_000_000]
    for path in paths if LONG else paths[::3]:
        if any(name in str(path) for name in ODD):
            continue
        source, out = path.parent if path.suffix == ".yaml" else path, tmp_path / ENDINGS[path.suffix]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bagconv.Loss)
            try:
                rec = bagconv.open(source)
                rows = list(rec.messages()) if sum(t.messages for t in rec.topics.values()) < 3000 else []
            except bagconv.BagconvError:  # it cannot be read
                continue
            if not rows:
                continue
            with Writer(out, like=rec, force=True) as w:
                for topic, t, row in rows:
                    w.write(topic, t, row)
            if bagconv.verify(source, out, ignore=["extras", "unconvertible"]):
                equal += 1
            else:
                wrong.append(str(path))
    assert not wrong
    assert equal >= 2
