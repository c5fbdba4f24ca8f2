"""Values against rosbags, mcap-ros1-support, mcap-ros2-support and cyber_record, over all recordings."""

import io
import os
import pickle
import subprocess
import warnings
from pathlib import Path

import pytest
from conftest import LONG, recordings
from referees import difference

import bagconv

pytestmark = [
    pytest.mark.filterwarnings("ignore::bagconv.Loss"),  # recordings are damaged
]

# Recordings that a referee reads otherwise, and why that is right.
ODD = {
    "channel-redefined.mcap": "mcap keeps the first definition of a channel that is redefined",
    "chunk-index-twice.mcap": "mcap reads a chunk as often as the index names it",
    "folder-zstd-message/f_0.mcap": "mcap decodes a compressed message as if it were none",
}

MOST = 10**9 if LONG else 20  # messages of a topic


def ours(path, topic, wanted):
    """Return the messages with the times that are wanted, by time and number, and whether something is lost."""
    found = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for t, message in bagconv.open(path)[topic]:
            if t in wanted:
                put(found, t, message)
    assert all(issubclass(w.category, bagconv.Loss) for w in caught)
    return found, bool(caught)


def put(found, t, message):
    """Add a message; of messages of one time, the n-th has the key (t, n)."""
    n = 0
    while (t, n) in found:
        n += 1
    found[t, n] = message


def compare(path, topics):
    """Compare topics: a dict of lists of log time and message. Return how many messages were equal, and what is not."""
    compared, wrong = 0, []
    for topic, messages in topics.items():
        theirs = {}
        for t, message in messages:
            put(theirs, t, message)
        mine, lost = ours(path, topic, {t for t, _ in messages})
        for key, message in theirs.items():
            if key not in mine:
                wrong += [] if lost else [(str(path), topic, key, "missing")]
                continue
            at = difference(mine[key], message)
            wrong += [(str(path), topic, key, at)] if at else []
            compared += 1
    return compared, wrong


def gathered(messages):
    """Sort messages by topic: topic, time, value."""
    topics = {}
    for topic, t, value in messages:
        topics.setdefault(topic, []).append((t, value))
    return topics


def referee(name, paths):
    """Yield the paths that a referee reads, and its messages."""
    python = os.environ.get(f"BAGCONV_{name.upper()}_PYTHON")
    if python is None:
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing(f"BAGCONV_{name.upper()}_PYTHON names no Python with {name}")
    script = Path(__file__).with_name("referee_values.py")
    lines = "".join(f"{path}\n" for path in paths).encode()
    done = subprocess.run([python, str(script), name, str(MOST)], input=lines, stdout=subprocess.PIPE, check=True)
    answers = io.BytesIO(done.stdout)
    for path in paths:
        messages = pickle.load(answers)
        if messages is not None:
            yield path, gathered(messages)


def total(name, paths):
    """Compare the recordings that a referee reads, and return how many messages and recordings that were."""
    messages, files, wrong = 0, 0, []
    for path, topics in referee(name, [p for p in paths if not str(p).endswith(tuple(ODD))]):
        n, differences = compare(path, {t: m for t, m in topics.items() if single(path, t)})
        wrong += differences[:3]
        messages, files = messages + n, files + (n > 0)
    assert not wrong
    return messages, files


def single(path, topic):
    """Tell whether all messages under the name of a topic are of one type."""
    return f"{topic}~2" not in bagconv.open(path)


def test_bags_against_rosbags():
    messages, files = total("rosbags", recordings("ros1", "*.bag"))
    assert messages >= 100
    assert files >= 5


def test_folders_against_rosbags():
    paths = [p.parent for p in recordings("rosbag2", "metadata.yaml")]
    messages, files = total("rosbags", paths)
    assert messages >= 50
    assert files >= 3


def test_mcap_against_mcap_support():
    messages, files = total("mcap", recordings("mcap", "*.mcap"))
    assert messages >= 100
    assert files >= 5


def test_records_against_cyber_record():
    messages, files = total("cyber", recordings("cyber", "*.record"))
    assert messages >= 50
    assert files >= 2
