import { divisorsNear } from "../arithmetic.ts";
import { changed, setTo } from "../fixes.ts";
import { found, rollout, verlRule } from "../rule.ts";
import { equation, gpus, product } from "../shape.ts";
import type { RuleModel } from "../../../rules/rule.ts";

const tensor = `${rollout}.tensor_model_parallel_size`;

/** One inference engine's GPUs. */
const engineSize = (model: RuleModel): ReturnType<typeof product> =>
  product(
    model,
    [tensor, `${rollout}.data_parallel_size`, `${rollout}.pipeline_model_parallel_size`].filter(
      (key) => model.fact(key) !== undefined,
    ),
  );

export const rolloutParallel = verlRule({
  id: "verl-rollout-parallel",
  title: "GPUs not divisible into inference engines",
  why: "verl divides the GPUs among inference engines of tensor × data × pipeline parallel size. `ActorRolloutRefWorker.init_model` (verl/workers/engine_workers.py; up to 0.7 `_build_rollout` of fsdp_workers.py) asserts that no GPU is left over. The tensor parallel size is 2 by default.",
  check(model) {
    if (model.flag("actor_rollout_ref.hybrid_engine") === false) return [];
    const [all, engine] = [gpus(model), engineSize(model)];
    if (all === undefined || engine === undefined || all.count % engine.count === 0) return [];
    const size = model.number(tensor) ?? 1;
    const others = engine.count / size;
    const fitting = all.count % others === 0 ? divisorsNear(size, all.count / others) : [];
    const because = (fit: number): string =>
      `${all.count} GPUs = ${all.count / others / fit} engines × ${fit * others}`;
    const fixes =
      model.written(tensor) === undefined
        ? fitting.slice(0, 1).map((fit) => setTo(model, tensor, fit, because(fit)))
        : fitting.map((fit) => changed(model, tensor, fit, because(fit)));
    const message = `An inference engine takes ${equation(engine)} GPUs, but ${equation(all)} GPUs are not a multiple of that.`;
    return found(model, [...engine.keys, ...all.keys], message, { fixes });
  },
});
