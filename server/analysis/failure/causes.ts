/** What ends trainings, the closest pattern first, with the keys that change it. */
import type { Cause } from "./cause.ts";
import { memoryCauses } from "./memoryCauses.ts";

const batch = {
  verl: "data.train_batch_size",
  trl: "per_device_train_batch_size",
  openrlhf: "train.batch_size",
  gradus: "update.mini_batch",
} as const;
const model = {
  verl: "actor_rollout_ref.model.path",
  trl: "model_name_or_path",
  openrlhf: "actor.model_name_or_path",
  gradus: "model.base",
} as const;

/** Sizes that do not divide each other. */
const divisions: readonly Cause[] = [
  {
    pattern:
      /(?:global (?:train|eval) batch size|generation_batch_size|effective train batch size)[^\n]*(?:divisible|multiple)[^\n]*(?:num_generations|generations per prompt)[^\n]*/,
    says: ([text]) => `The batch does not hold whole groups: ${text.trim()}`,
    keys: { ...batch, trl: "num_generations", gradus: "rollout.group" },
    action: (key) =>
      `Set ${key} to a divisor of the global batch: devices × per_device_train_batch_size × gradient accumulation.`,
    words: "the rollouts of a group",
  },
  {
    pattern: /GRPO requires at least 2 generations per prompt/,
    says: () => "A group has one rollout, so that its advantage is always 0",
    keys: { trl: "num_generations", verl: "actor_rollout_ref.rollout.n", gradus: "rollout.group" },
    action: (key) => `Set ${key} to at least 2.`,
    words: "the rollouts of a group",
  },
  {
    pattern: /real_train_batch_size \(?(\d+)\)? must be divisible by[^\n]*?\(?(\d+)\)?\.?$/m,
    says: ([, size, by]) =>
      `A step's ${size} rollouts cannot be split over the devices: ${size} is no multiple of ${by}`,
    keys: { ...batch, gradus: "rollout.prompts" },
    action: (key, [, , by]) =>
      `Choose ${key} so that it times the rollouts of a prompt is a multiple of ${by}.`,
    words: "the prompts of a step",
  },
  {
    pattern: /only support equal chunk\. Got size of DataProto (\d+) and chunk (\d+)/,
    says: ([, size, by]) => `A batch of ${size} rows cannot be split into ${by} equal parts, one a worker`,
    keys: { ...batch, gradus: "rollout.prompts" },
    action: (key, [, , by]) =>
      `Choose ${key} so that it times the rollouts of a prompt is a multiple of ${by}; the same of data.val_batch_size.`,
    words: "the prompts of a step",
  },
  {
    pattern: /rollout world_size: (\d+) is not divisible by infer_tp: (\d+)/,
    says: ([, devices, parts]) => `${devices} devices cannot be split into engines of ${parts}`,
    keys: {
      verl: "actor_rollout_ref.rollout.tensor_model_parallel_size",
      trl: "vllm_tensor_parallel_size",
      openrlhf: "vllm.tensor_parallel_size",
    },
    action: (key, [, devices]) => `Set ${key} to a divisor of ${devices}.`,
    words: "the devices of an inference engine",
  },
  {
    pattern:
      /[Tt]otal number of attention heads \((\d+)\) must be divisible by (?:the )?tensor parallel size \((\d+)\)/,
    says: ([, heads, parts]) => `${heads} attention heads cannot be split over ${parts} devices`,
    keys: {
      verl: "actor_rollout_ref.rollout.tensor_model_parallel_size",
      trl: "vllm_tensor_parallel_size",
      openrlhf: "vllm.tensor_parallel_size",
    },
    action: (key, [, heads]) => `Set ${key} to a divisor of ${heads}.`,
    words: "the devices of an inference engine",
  },
  {
    pattern:
      /ppo_mini_batch_size (\d+) (?:should be|must be|is not) (?:divisible by|larger than|a multiple of)[^\n]*?(\d+)/,
    says: ([text]) => `Mini-batch and micro-batch do not fit: ${text.trim()}`,
    keys: { verl: "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", gradus: "update.micro_tokens" },
    action: (key) =>
      `Set ${key} to a divisor of the mini-batch of a device: ppo_mini_batch_size × rollout.n / devices.`,
    words: "the micro-batch of the update",
  },
  {
    pattern:
      /train_batch_size is not equal to micro_batch_per_gpu \* gradient_acc_step \* world_size (\d+) != (\d+) \* (\d+) \* (\d+)/,
    says: ([, size, micro, steps, devices]) =>
      `A batch of ${size} is not ${micro} rows × ${steps} accumulation steps × ${devices} devices`,
    keys: batch,
    action: (key, [, , micro, , devices]) =>
      `Set ${key} to a multiple of ${Number(micro) * Number(devices)}.`,
    words: "the batch",
  },
  {
    pattern: /AssertionError[^\n]*: ?([^\n]*(?:divisible|multiple of|evenly)[^\n]*)/,
    says: ([, text]) => `Sizes do not divide each other: ${text?.trim()}`,
    keys: batch,
    action: (key) => `Choose ${key} so that the numbers of the message divide each other.`,
    words: "the batch",
  },
];

/** What the config itself has wrong. */
const configs: readonly Cause[] = [
  {
    pattern: /Could not override '([^']+)'/,
    says: ([, key]) => `The config has no key ${key}`,
    keys: {},
    named: ([, key]) => key,
    action: (key) =>
      `Correct the spelling of ${key}, or add a key that the config has not: +${key}=…; gradus validate names the nearest key.`,
    words: "the override",
  },
  {
    pattern: /Key '([^']+)' is not in struct(?:[^]*?full_key: (\S+))?/,
    says: ([, key, full]) => `The config has no key ${full ?? key}`,
    keys: {},
    named: ([, key, full]) => full ?? key,
    action: (key) =>
      `Add ${key} to the config, or use the release of the trainer that the script was written for.`,
    words: "the config",
  },
  {
    pattern: /Missing mandatory value: (\S+)/,
    says: ([, key]) => `The config has no value of ${key}`,
    keys: {},
    named: ([, key]) => key,
    action: (key) => `Set ${key}.`,
    words: "the value that is missing",
  },
  {
    pattern: /Interpolation key '([^']+)' not found/,
    says: ([, key]) => `The config refers to ${key}, which it has not`,
    keys: {},
    named: ([, key]) => key,
    action: (key) => `Set ${key}, or correct the \${…} that names it.`,
    words: "the key that is referred to",
  },
  {
    pattern: /(\w+(?:Config|Arguments))\.__init__\(\) got an unexpected keyword argument '([^']+)'/,
    says: ([, type, key]) => `${type} has no argument ${key}`,
    keys: {},
    named: ([, , key]) => key,
    action: (key) =>
      `Remove ${key}, or install the release that has it: gradus validate says since when and until when.`,
    words: "the argument",
  },
  {
    pattern:
      /error: unrecognized arguments: (--\S+)|Some specified arguments are not used by the HfArgumentParser: \['?(--[\w.-]+)/,
    says: ([, one, other]) => `The program has no argument ${one ?? other}`,
    keys: {},
    named: ([, one, other]) => (one ?? other)?.replace(/^--|=.*$/g, ""),
    action: (key) => `Remove ${key}, or correct its spelling: gradus validate names the nearest.`,
    words: "the argument",
  },
];

const others: readonly Cause[] = [
  {
    pattern: /srcIndex < srcSelectDimSize|indexSelect\w*Index|CUDA error: device-side assert triggered/,
    says: () =>
      "A kernel was given an index that does not exist: most often a token id beyond the model's vocabulary",
    keys: model,
    action: (key) =>
      `Check that ${key} and its tokenizer belong together and that the embedding was resized; CUDA_LAUNCH_BLOCKING=1 names the line.`,
    words: "the model",
  },
  {
    pattern: /probability tensor contains either `inf`, `nan` or element < 0/,
    says: () =>
      "The model's probabilities are not finite: the weights have diverged, or their 16 bits overflow",
    keys: {
      verl: "actor_rollout_ref.actor.optim.lr",
      trl: "learning_rate",
      openrlhf: "actor.adam.lr",
      gradus: "update.optimizer.lr",
    },
    action: (key) => `Lower ${key}, clip the gradient, and use bfloat16 instead of float16.`,
    words: "the learning rate",
  },
  {
    pattern:
      /sequence_length=(\d+) is larger than max_length=(\d+)|prompt \(length (\d+)\) is longer than the maximum model length of (\d+)/,
    says: ([, size, most, tokens, room]) =>
      `A prompt of ${size ?? tokens} tokens is longer than ${most ?? room}`,
    keys: {
      verl: "data.max_prompt_length",
      trl: "vllm_max_model_length",
      openrlhf: "data.max_len",
      gradus: "rollout.max_tokens",
    },
    action: (key, [, size, , tokens]) =>
      `Raise ${key} to at least ${size ?? tokens}, or leave such prompts out (verl: data.filter_overlong_prompts=True).`,
    words: "the longest prompt",
  },
  {
    pattern: /No space left on device/,
    says: () => "A disk is full",
    keys: {
      verl: "trainer.default_local_dir",
      trl: "output_dir",
      openrlhf: "ckpt.output_dir",
      gradus: "checkpoint.keep",
    },
    action: (key) =>
      `Free space, keep fewer checkpoints, or set ${key} to another disk; of /dev/shm or /tmp, point Ray elsewhere (_temp_dir).`,
    words: "the folder of checkpoints",
  },
  {
    pattern:
      /is not a local folder and is not a valid model identifier|GatedRepoError|RepositoryNotFoundError|401 Client Error/,
    says: () => "The model or the data set is not there, or may not be read with this token",
    keys: model,
    action: (key) => `Correct ${key}, accept the model's licence, or log in: hf auth login.`,
    words: "the model's name",
  },
  {
    pattern: /model type `?([\w.-]+)`? but Transformers does not recognize/,
    says: ([, type]) => `The installed transformers knows no model of type ${type}`,
    keys: model,
    action: (key) => `Install a newer transformers, or choose another model with ${key}.`,
    words: "the model",
  },
  {
    pattern: /(?:ModuleNotFoundError|ImportError): ?(?:No module named '([\w.]+)'|([^\n]+))/,
    says: ([, name, text]) =>
      name === undefined ? `A package cannot be imported: ${text}` : `The package ${name} is not installed`,
    keys: {},
    action: (_, [, name]) =>
      name === undefined
        ? "Install releases that fit each other: the trainer's requirements name them."
        : `Install it in the Python that trains: pip install ${name.split(".")[0]?.replaceAll("_", "-")}.`,
    words: "",
    caught: true,
  },
  {
    pattern:
      /Watchdog caught collective operation timeout: WorkNCCL\(SeqNum=(\d+), OpType=(\w+).*?Timeout\(ms\)=(\d+)/,
    says: ([, , operation, milliseconds]) =>
      `Ranks waited ${Number(milliseconds) / 1000} s for each other in ${operation}: one of them was slow, or had failed`,
    keys: { verl: "actor_rollout_ref.nccl_timeout", trl: "ddp_timeout" },
    action: (key) =>
      `Look in the log of each rank for an earlier error; if a step only takes long, raise ${key}.`,
    words: "the time-out of the process group",
    late: true,
  },
  {
    pattern: /(?:ActorDiedError|RayActorError|ActorUnavailableError|WorkerCrashedError)/,
    says: () => "A worker of Ray has died, and the log does not say why",
    keys: { verl: "actor_rollout_ref.actor.fsdp_config.optimizer_offload" },
    action: () =>
      "Look into the worker's own log (session_latest/logs of Ray) and into dmesg: most often the machine had no memory left.",
    words: "",
    late: true,
  },
];

export const causes: readonly Cause[] = [...memoryCauses, ...divisions, ...configs, ...others];
