#!/bin/sh
# Trains in this folder; `sh launch.sh --resume` goes on from the last checkpoint in out/.
# What follows is settings of verl: `sh launch.sh trainer.n_gpus_per_node=8`.
# GRADUS_PYTHON is another Python, GRADUS_LAUNCH what is put before it.
cd "$(dirname "$0")" || exit 1
here=$(pwd)
mode=disable
if [ "$1" = --resume ]; then
  mode=auto
  shift
elif [ -e out/checkpoints/latest_checkpointed_iteration.txt ]; then
  echo "out/ has checkpoints of an earlier start: add --resume to go on from them, or remove out/" >&2
  exit 1
fi
rollouts=${GRADUS_ROLLOUTS:-out/gradus-rollouts}
# Ray's workers may run in other folders.
case $rollouts in off | /*) ;; *) rollouts=$here/$rollouts ;; esac
metrics=$here/out/gradus-rollouts
mkdir -p "$metrics"
# verl empties the file that it logs to: each start has its own.
metrics=$metrics/metrics-verl-$(date +%s)000.jsonl
GRADUS_ROLLOUTS=$rollouts VERL_FILE_LOGGER_PATH=$metrics
export GRADUS_ROLLOUTS VERL_FILE_LOGGER_PATH
launch=${GRADUS_LAUNCH:-LAUNCH}
environment=+ray_kwargs.ray_init.runtime_env.env_vars
exec ${launch:+$launch} ${GRADUS_PYTHON:-PYTHON} -m verl.trainer.main_ppo --config-path "$here" --config-name config \
  "project='$here'" "trainer.resume_mode=$mode" \
  "$environment.GRADUS_ROLLOUTS='$GRADUS_ROLLOUTS'" "$environment.VERL_FILE_LOGGER_PATH='$VERL_FILE_LOGGER_PATH'" \
  "$environment.GRADUS_REWARD_URL='$GRADUS_REWARD_URL'" "$@"
