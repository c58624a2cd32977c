/**
 * OpenRLHF in a Python of the tests: GRADUS_PEER_PYTHON with openrlhf 0.11.2, deepspeed, ray, torchdata and datasets. Of vllm and
 * flash_attn, which want a GPU, names stand in where the packages are not there.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { JsonObject } from "../../shared/lib/json.ts";
import { flagLines } from "../../server/frameworks/trainers/openrlhf/project/launchText.ts";
import { temporary } from "../unit/support.ts";

export const python = process.env["GRADUS_PEER_PYTHON"] ?? "";

/** Modules that the import of OpenRLHF asks for, with the names that it takes of them. */
const standIns: Readonly<Record<string, string>> = {
  "vllm/__init__.py":
    '__version__ = "0.29.0"\nclass SamplingParams:\n    def __init__(self, **named):\n        self.__dict__.update(named)\n',
  "vllm/inputs.py": "TokensPrompt = dict\n",
  "vllm/utils.py": "random_uuid = str\n",
  "flash_attn/__init__.py": "",
  "flash_attn/bert_padding.py": "index_first_axis = pad_input = rearrange = unpad_input = None\n",
  "flash_attn/utils/__init__.py": "",
  "flash_attn/utils/distributed.py": "all_gather = None\n",
};
export const scripts = temporary();
for (const [name, text] of Object.entries(standIns)) {
  mkdirSync(dirname(join(scripts, name)), { recursive: true });
  writeFileSync(join(scripts, name), text);
}
/** Behind the packages that are there. */
export const start = `import sys\nsys.path.append(${JSON.stringify(scripts)})\n`;

const has =
  python !== "" &&
  spawnSync(python, ["-c", `${start}import openrlhf.cli.train_ppo_ray, openrlhf.trainer.ppo_trainer`])
    .status === 0;
export const openRlhfPython = {
  skip: has ? false : "GRADUS_PEER_PYTHON names no Python with OpenRLHF and what it imports",
};

/** train_ppo_ray up to where it starts vLLM: its parser, all its checks, and the strategy. */
export const upToVllm = `${start}
import json, math, runpy
import ray, ray.cloudpickle, ray.util.placement_group
import openrlhf.trainer.ray as parts
from openrlhf.models.loss import PolicyLoss

class Stop(BaseException):
    pass

class Placed:
    def ready(self):
        return None

def stop(*_, **__):
    found = sys._getframe(1).f_locals
    raise Stop(found["args"], found["strategy"])

ray.is_initialized = lambda: True
ray.get = lambda value: value
sys.modules["ray.util.placement_group"].placement_group = lambda *_, **__: Placed()
parts.create_vllm_engines = stop

def plain(value):
    if hasattr(value, "__dict__"):
        return {name: plain(one) for name, one in vars(value).items()}
    # What no JSON has.
    return None if value == math.inf else value

def checked(args):
    loss, chosen = args.algo.advantage, args.actor
    PolicyLoss(
        chosen.eps_clip_low_high[0], chosen.eps_clip_low_high[1], chosen.dual_clip, True, chosen.policy_loss_type,
        loss.is_correction_level, loss.is_correction_mode, loss.is_correction_gating, loss.is_correction_threshold,
    )
    return plain(args)
`;

/** Flags as the shell splits them. */
export function wordsOf(settings: JsonObject): string[] {
  const line = `here=/there; printf '%s\\0' ${flagLines(settings).join(" ")}`;
  return spawnSync("sh", ["-c", line], { encoding: "utf8" }).stdout.split("\0").slice(0, -1);
}
