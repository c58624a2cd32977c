#!/bin/sh
# Trains in this folder; `sh launch.sh --resume` goes on from the last checkpoint in out/.
# What follows is settings of verl: `sh launch.sh trainer.n_gpus_per_node=8`.
# GRADUS_PYTHON is another Python, GRADUS_LAUNCH what is put before it.
# GRADUS_SERVICE=off trains without the service that MISSING.md names; GRADUS_NODE is another Node for it.
service=no
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
environment=+ray_kwargs.ray_init.runtime_env.env_vars
launch=${GRADUS_LAUNCH:-LAUNCH}
if [ $service = yes ] && [ "$GRADUS_SERVICE" = off ]; then
  set -- data.custom_cls.path=null trainer.v1.sampler.custom_sampler.path=null "$environment.GRADUS_SERVICE='off'" "$@"
elif [ $service = yes ]; then
  # The training loop starts it, perhaps on another machine of the cluster.
  if [ -z "$launch$GRADUS_SERVICE" ] && ! command -v "${GRADUS_NODE:-node}" >/dev/null; then
    echo "service/ draws the tasks, and needs Node 20 or newer: install it, name it in GRADUS_NODE, or train without it: GRADUS_SERVICE=off" >&2
    exit 1
  fi
  case $GRADUS_SERVICE in '' | /*) ;; *) GRADUS_SERVICE=$here/$GRADUS_SERVICE ;; esac
  set -- "$environment.GRADUS_SERVICE='$GRADUS_SERVICE'" "$environment.GRADUS_NODE='$GRADUS_NODE'" "$@"
fi
exec ${launch:+$launch} ${GRADUS_PYTHON:-PYTHON} -m verl.trainer.main_ppo --config-path "$here" --config-name config \
  "project='$here'" "trainer.resume_mode=$mode" \
  "$environment.GRADUS_ROLLOUTS='$GRADUS_ROLLOUTS'" "$environment.VERL_FILE_LOGGER_PATH='$VERL_FILE_LOGGER_PATH'" \
  "$environment.GRADUS_REWARD_URL='$GRADUS_REWARD_URL'" "$@"
