#!/bin/sh
# Trains in this folder; `sh launch.sh --resume` goes on from the last checkpoint in out/.
# Other words are settings of SkyRL: `sh launch.sh trainer.placement.policy_num_gpus_per_node=8`.
# GRADUS_PYTHON is another Python, GRADUS_LAUNCH what is put before it: `ray job submit --`.
# A file out/stop asks it to save and to end after the present step.
cd "$(dirname "$0")" || exit 1
here=$(pwd)
mkdir -p out
rm -f out/stop
rollouts=${GRADUS_ROLLOUTS:-out/gradus-rollouts}
# Ray's workers may run in other folders.
case $rollouts in off | /*) ;; *) rollouts=$here/$rollouts ;; esac
GRADUS_ROLLOUTS=$rollouts
export GRADUS_ROLLOUTS
launch=${GRADUS_LAUNCH:-LAUNCH}
exec ${launch:+$launch} ${GRADUS_PYTHON:-PYTHON} "$here/train.py" "$@"
