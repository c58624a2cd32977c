#!/bin/sh
# Trains in this folder; `sh launch.sh --resume` goes on from the last checkpoint in out/.
# GRADUS_PYTHON is another Python, GRADUS_LAUNCH what is put before train.py: `accelerate launch --num_processes 8`.
# A file out/stop asks it to save and to end after the present step.
cd "$(dirname "$0")" || exit 1
mkdir -p out
rm -f out/stop
GRADUS_ROLLOUTS=${GRADUS_ROLLOUTS:-out/gradus-rollouts}
export GRADUS_ROLLOUTS
launch=${GRADUS_LAUNCH:-LAUNCH}
exec ${launch:-${GRADUS_PYTHON:-PYTHON}} train.py "$@"
