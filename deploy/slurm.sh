#!/bin/sh
# 8 shares as an array job of Slurm. First: bagconv plan -O /shared/out /shared/drives -o /shared/plan.jsonl
# Then: sbatch deploy/slurm.sh /shared/plan.jsonl; at the end: bagconv collect /shared/plan.jsonl
# All three may be in a store, as s3://fleet/plan.jsonl: sbatch passes the variables of credentials on.
# To repeat single shares, submit with their numbers and --shard: an array with gaps is refused.
#SBATCH --job-name=bagconv
#SBATCH --array=0-7
#SBATCH --cpus-per-task=2
#SBATCH --mem=1G
#SBATCH --requeue
set -u
${BAGCONV:-bagconv} work -q --losses-ok --task "$1"
status=$?
if [ "$status" = 75 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 4 ] && command -v scontrol >/dev/null; then
  scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID" # a reason that may pass
fi
exit "$status"
