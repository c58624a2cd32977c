import { divisorsNear } from "../arithmetic.ts";
import { changed } from "../fixes.ts";
import { actor, found, verlRule } from "../rule.ts";
import { engineOf, equation, gpus, modelParallel } from "../shape.ts";

export const megatronParallel = verlRule({
  id: "verl-megatron-parallel",
  title: "GPUs not divisible by Megatron's parallel sizes",
  why: "`validate_config` (verl/utils/config.py) asserts that the number of GPUs is divisible by tensor × pipeline × context parallel size, and Megatron's own initialisation refuses anything else.",
  check(model) {
    if (engineOf(model)?.kind !== "megatron") return [];
    const [all, split] = [gpus(model), modelParallel(model)];
    if (all === undefined || split === undefined || all.count % split.count === 0) return [];
    const key = `${actor}.megatron.tensor_model_parallel_size`;
    const tensor = model.number(key) ?? 1;
    const others = split.count / tensor;
    const fitting = all.count % others === 0 ? divisorsNear(tensor, all.count / others) : [];
    const fixes = fitting.map((size) =>
      changed(model, key, size, `${size} × ${others} divides ${all.count} GPUs`),
    );
    const message = `One copy of the model takes ${equation(split)} GPUs, but ${equation(all)} GPUs are not a multiple of that.`;
    return found(model, [...split.keys, ...all.keys], message, { fixes });
  },
});
