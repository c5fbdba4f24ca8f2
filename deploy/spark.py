"""Does the tasks of a plan on Spark, and prints their results.

    bagconv plan -O /shared/out /shared/drives -o plan.jsonl
    spark-submit --master spark://HOST:7077 deploy/spark.py plan.jsonl > results.jsonl
    bagconv collect plan.jsonl results.jsonl

bagconv is the program of that name on the workers, or $BAGCONV there. Tested with PySpark 3.5.1 and
Java 17. A worker that dies costs the task at hand: Spark gives it to another.
"""
import os
import subprocess
import sys

from pyspark.sql import SparkSession


def work(tasks):
    """Does some tasks; failures that stay are results, all else is for Spark to repeat."""
    program = os.environ.get("BAGCONV", "bagconv")
    run = subprocess.run([program, "work", "-q"], input="\n".join(tasks), stdout=subprocess.PIPE, text=True)
    if run.returncode not in (0, 3, 5):
        raise RuntimeError("bagconv work: exit status %d" % run.returncode)
    return run.stdout.splitlines()


spark = SparkSession.builder.appName("bagconv").config("spark.task.maxFailures", 8).getOrCreate()
with open(sys.argv[1]) as plan:
    lines = plan.read().splitlines()
# One task each, as far as Spark is at ease with the number.
partitions = max(1, min(len(lines), 10_000))
for result in spark.sparkContext.parallelize(lines, partitions).mapPartitions(work).toLocalIterator(prefetchPartitions=True):
    print(result)
