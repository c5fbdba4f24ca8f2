"""Memory is bounded, whatever the size of a recording."""

import os
import subprocess
import sys

import pytest
from bags import IMAGE, STD_HEADER, bag, image
from conftest import LONG

N = 400 if LONG else 100  # pictures of 1 MB

PROGRAM = """
import resource, sys
import numpy, pyarrow
import bagconv

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

before = peak()
rec = bagconv.open(sys.argv[1])
n = {loop}
assert n == int(sys.argv[2]), n
print(peak() - before)
"""


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """A bag of pictures; as lz4, so that their bytes come through the pipe."""
    import bagconv

    folder = tmp_path_factory.mktemp("memory")
    data = os.urandom(1 << 20)
    messages = [(10**18 + i * 10**7, image("mono8", 1024, 1024, 1024, data)) for i in range(N)]
    plain = bag(
        folder / "plain.bag", [(f"/cam{i}", "sensor_msgs/Image", IMAGE + STD_HEADER, messages[i::2]) for i in range(2)]
    )
    bagconv.convert(plain, folder / "in.bag", compression="lz4")
    plain.unlink()
    return folder / "in.bag"


@pytest.mark.parametrize(
    ("loop", "count"),
    [
        ("sum(1 for _ in rec.messages())", N),
        ("sum(1 for _ in rec['/cam0'])", N // 2),
        ("sum(1 for _ in rec['/cam0'].images())", N // 2),
        ("sum(b.num_rows for b in rec['/cam0'].batches())", N // 2),
        ("sum(1 for _ in bagconv.open([sys.argv[1]] * 2).messages('/cam0'))", N),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="maxrss has other units")
def test_loops(pictures, loop, count):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(loop=loop), str(pictures), str(count)], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    assert int(done.stdout) < 80  # MB, of 100 and 400
