#!/bin/sh
# Trains in this folder; `sh launch.sh --resume` goes on from the last checkpoint in out/.
# What follows is flags of OpenRLHF: `sh launch.sh --train.seed 2`. Of a flag that is there twice the last one counts.
# GRADUS_PYTHON is another Python, GRADUS_LAUNCH what is put before it.
cd "$(dirname "$0")" || exit 1
here=$(pwd)
case $here in
*,* | *@*)
  echo "OpenRLHF splits paths at , and @: move the project to a folder whose path has neither" >&2
  exit 1
  ;;
esac
if [ "$1" = --resume ]; then
  shift
  set -- --ckpt.load_enable "$@"
elif [ -e out/checkpoints/_actor/latest ]; then
  echo "out/ has checkpoints of an earlier start: add --resume to go on from them, or remove out/" >&2
  exit 1
fi
GRADUS_ROLLOUTS=${GRADUS_ROLLOUTS:-out/gradus-rollouts}
# Ray's workers may run in other folders.
case $GRADUS_ROLLOUTS in off | /*) ;; *) GRADUS_ROLLOUTS=$here/$GRADUS_ROLLOUTS ;; esac
export GRADUS_ROLLOUTS
mkdir -p out/gradus-rollouts
launch=${GRADUS_LAUNCH:-LAUNCH}
exec ${launch:+$launch} ${GRADUS_PYTHON:-PYTHON} "$here/train.py" -m openrlhf.cli.train_ppo_ray \
  FLAGS
  "$@"
