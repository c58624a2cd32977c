#!/bin/sh
# Trains in this folder; `sh launch.sh --resume` goes on from the last checkpoint in out/.
# What follows is settings of prime-rl: `sh launch.sh --deployment.num-train-gpus 4`.
# GRADUS_PYTHON is the Python that has prime-rl, GRADUS_LAUNCH what is put before it: `uv run --project ~/prime-rl`.
cd "$(dirname "$0")" || exit 1
here=$(pwd)
last=0
# Trainer and orchestrator save apart: a checkpoint is whole when both have.
for one in out/checkpoints/step_*; do
  if [ -e "$one/trainer/.metadata" ] && [ -e "$one/orchestrator/progress.pt" ] && [ "${one##*_}" -gt "$last" ]; then
    last=${one##*_}
  fi
done
from=
if [ "$1" = --resume ]; then
  shift
  from=--clean
  [ "$last" -gt 0 ] && from="--resume.step $last"
elif [ "$last" -gt 0 ]; then
  echo "out/ has checkpoints of an earlier start: add --resume to go on from them, or remove out/" >&2
  exit 1
fi
python=${GRADUS_PYTHON:-PYTHON}
# prime-rl starts its parts by their names.
case $python in */*) PATH=$(dirname "$python"):$PATH ;; esac
PYTHONPATH=$here${PYTHONPATH:+:$PYTHONPATH}
export PATH PYTHONPATH
launch=${GRADUS_LAUNCH:-LAUNCH}
exec ${launch:+$launch} $python -m prime_rl.entrypoints.rl @ rl.toml $from "$@"
