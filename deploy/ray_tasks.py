"""Does the tasks of a plan on Ray, and prints their results.

    bagconv plan -O /shared/out /shared/drives -o plan.jsonl
    RAY_ADDRESS=HOST:6379 python deploy/ray_tasks.py plan.jsonl > results.jsonl
    bagconv collect plan.jsonl results.jsonl

bagconv is the program of that name on the nodes, or $BAGCONV there. Tested with Ray 2.60.0.
"""
import os
import subprocess
import sys

import ray


@ray.remote(max_retries=8, retry_exceptions=True)
def work(tasks):
    """Does some tasks; failures that stay are results, all else is for Ray to repeat."""
    program = os.environ.get("BAGCONV", "bagconv")
    run = subprocess.run([program, "work", "-q"], input=tasks, stdout=subprocess.PIPE, text=True)
    if run.returncode not in (0, 3, 5):
        raise RuntimeError("bagconv work: exit status %d" % run.returncode)
    return run.stdout


ray.init(log_to_driver=False)
waiting = []
with open(sys.argv[1]) as plan:
    for line in plan:
        waiting.append(work.remote(line))
        if len(waiting) >= 1000:  # no more at a time than Ray keeps well
            done, waiting = ray.wait(waiting)
            print(*ray.get(done), sep="", end="")
for result in waiting:
    print(ray.get(result), end="")
