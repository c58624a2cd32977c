import type { Setting } from "../../../text/document.ts";
import type { RuleModel } from "../../../rules/rule.ts";
import { rewarded } from "../../../releases/programs/trl.ts";
import { trlRule } from "../trlRule.ts";

export const sequenceParallel = trlRule({
  id: "trl-sequence-parallel",
  trees: rewarded,
  title: "Sequence parallelism not supported",
  why: "GRPO makes the model's inputs inside the trainer, where neither context parallelism nor Ulysses can split them: `GRPOConfig.__post_init__` (trl/trainer/grpo_config.py) refuses `cp_size` or `sp_size` above 1 since TRL 1.4.",
  check(model) {
    const found = model.since("1.4.0") ? wider(model) : undefined;
    if (found === undefined) return [];
    const message = `\`${found.name}\` is ${found.size}: ${(model.document.tree ?? "grpo").toUpperCase()} cannot spread one sequence over several GPUs, and TRL refuses it. Set \`cp_size\` and \`sp_size\` to 1.`;
    return [{ at: found.at, message }];
  },
});

interface Wider {
  readonly at: Setting | undefined;
  readonly name: string;
  readonly size: number;
}

/** `ParallelismConfig(cp_size=2)` in Python, `--parallelism_config_cp_size 2` for `accelerate launch`. */
function wider(model: RuleModel): Wider | undefined {
  const at = model.written("parallelism_config");
  const { form, text } = model.document;
  const [where, pattern] =
    at !== undefined
      ? [at.text, /\b((?:cp|sp)_size)["']?\s*[:=]\s*(\d+)/g]
      : [text, /^[^#\n]*--parallelism_config_((?:cp|sp)_size)[ =]+(\d+)/gm];
  if (at === undefined && form !== "script") return undefined;
  const sizes = [...where.matchAll(pattern)].map(([, name = "", size]) => ({ at, name, size: Number(size) }));
  return sizes.find(({ size }) => size > 1);
}
