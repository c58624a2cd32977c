import type { ForeignFinding, ForeignModel, ForeignRule } from "../../../rule.ts";
import { changes } from "../../../multiples.ts";

export const temperature: ForeignRule = {
  id: "trl-temperature",
  framework: "trl",
  severity: "error",
  title: "Sampling that gives the same answer every time",
  why: "The answers of a group are compared with one another; where sampling has no freedom they are equal, and every advantage is zero. A `temperature` of 0 or below is refused besides: by Transformers' generation, and since TRL 1.14 by `add_fused_lm_head` (trl/trainer/utils.py), because logits are divided by it. With `top_k: 1` nothing is refused.",
  check: (model) => [...frozen(model), ...single(model)],
};

function frozen(model: ForeignModel): ForeignFinding[] {
  const [at, value] = [model.written("temperature"), model.number("temperature")];
  if (at === undefined || value === undefined || value > 0) return [];
  const refused = model.since("1.14.0") || model.flag("use_vllm") === false;
  const ends = refused
    ? "TRL refuses it, as logits are divided by it"
    : "vLLM then answers every time the same, and logits are divided by 0";
  const message = `\`temperature\` is ${value}: ${ends}. A group needs answers that differ: 1 is the default.`;
  return [{ at, message, severity: refused ? "error" : "warning", fixes: changes(at, [1]) }];
}

function single(model: ForeignModel): ForeignFinding[] {
  const at = model.written("top_k");
  if (at === undefined || model.number("top_k") !== 1) return [];
  const message =
    "`top_k` is 1: every answer to a prompt is the same, so rewards within a group are equal and every advantage is zero. 0 switches it off.";
  return [{ at, message, severity: "warning", fixes: changes(at, [0]) }];
}
