"""Does the tasks of a plan on Dask, and prints their results.

    bagconv plan -O /shared/out /shared/drives -o plan.jsonl
    python deploy/dask_tasks.py tcp://HOST:8786 plan.jsonl > results.jsonl
    bagconv collect plan.jsonl results.jsonl

bagconv is the program of that name on the workers, or $BAGCONV there. Tested with Dask 2026.8.0. What
a worker has done is lost with it: its tasks are done again, and skipped.
"""
import os
import subprocess
import sys

from dask.distributed import Client, as_completed


def work(tasks):
    """Does some tasks; failures that stay are results, all else is for Dask to repeat."""
    program = os.environ.get("BAGCONV", "bagconv")
    run = subprocess.run([program, "work", "-q"], input=tasks, stdout=subprocess.PIPE, text=True)
    if run.returncode not in (0, 3, 5):
        raise RuntimeError("bagconv work: exit status %d" % run.returncode)
    return run.stdout


if __name__ == "__main__":
    client = Client(sys.argv[1])
    with open(sys.argv[2]) as plan:
        futures = client.map(work, list(plan), retries=8, pure=False)
    for future in as_completed(futures):
        print(future.result(), end="")
        future.release()
