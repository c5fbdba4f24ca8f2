"""All recordings, damaged ones too: one way of reading has what another one has, and nothing but our errors comes."""

import collections
import warnings

import pytest
from conftest import TOP, recordings

import bagconv

FORMATS = {"ros1": ("*.bag", "*.active"), "rosbag2": ("metadata.yaml",), "mcap": ("*.mcap",), "cyber": ("*.record*",)}


def messages(rec):
    """Count the messages of each topic, by time."""
    counts, last = collections.Counter(), None
    for topic, t, message in rec.messages():
        assert last is None or t >= last
        last = t
        counts[topic] += 1
        assert message._fields is not None
    return counts


def topics(rec):
    counts = collections.Counter()
    for topic in rec.topics.values():
        counts[topic.name] += sum(1 for _ in topic)
    return counts


@pytest.mark.parametrize("folder", FORMATS)
def test_messages_and_topics_are_the_same(folder):
    paths = [p for pattern in FORMATS[folder] for p in recordings(folder, pattern)]
    read = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bagconv.Loss)
        for path in paths:
            rec = bagconv.open(path.parent if path.name == "metadata.yaml" else path)
            try:
                counts = messages(rec)
            except bagconv.BagconvError:
                continue  # it is none, or encrypted
            assert +counts == +topics(rec), path
            assert repr(rec).startswith("<bagconv.Recording ")
            read += 1
    assert read >= 3


def test_encrypted():
    path = TOP.parent / "shared/data/ros1/generated/encrypted-lz4.bag"
    if not path.exists():
        path = TOP / "testdata/recordings/ros1/generated/encrypted-lz4.bag"
    if not path.exists():
        pytest.skip("the recording is not here")
    key = path.with_suffix(".key")
    with pytest.raises(bagconv.BagconvError, match="key"):
        list(bagconv.open(path).messages())
    assert len(list(bagconv.open(path, bag_key=f"@{key}").messages())) > 0
