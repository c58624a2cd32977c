import type { Severity } from "../../../../../config/check/diagnostic.ts";
import { divisorsNear, lcm, multiplesNear } from "../../arithmetic.ts";
import { changed } from "../../fixes.ts";
import { actor, found, size, verlRule } from "../../rule.ts";
import {
  batchOf,
  dataParallel,
  hasEngineWorkers,
  isV1,
  trainBatch,
  trainerMode,
  type StepBatch,
} from "../../shape.ts";
import type { RuleModel } from "../../../../rules/rule.ts";
import { rolloutsPerGpu } from "./rolloutsPerGpu.ts";

const key = `${actor}.ppo_mini_batch_size`;

/** What each trainer does with the remaining prompts. */
function consequence(model: RuleModel, { prompts, n }: StepBatch, mini: number): [Severity, string] {
  const rest = prompts % mini;
  if (isV1(model)) {
    const multiple = lcm(mini * n, dataParallel(model)?.count ?? 1);
    const whole = Math.ceil((prompts * n) / multiple) * multiple;
    const share = Math.round((100 * (whole - prompts * n)) / whole);
    return [
      "warning",
      `verl pads ${prompts} × ${n} = ${prompts * n} rollouts to ${whole} with empty samples, so ${share} % of the batch is padding`,
    ];
  }
  if (hasEngineWorkers(model))
    return ["error", `the workers refuse ${prompts * n} rollouts, which are not a multiple of ${mini * n}`];
  return [
    "warning",
    `the last of ${Math.ceil(prompts / mini)} updates has only ${rest} prompts but counts as much as a whole one`,
  ];
}

export const miniBatchRemainder = verlRule({
  id: "verl-mini-batch-remainder",
  title: "Batch not divisible into mini-batches",
  why: "verl does not check this at the start. Since 0.9 `_balance_batch` (verl/trainer/ppo/v1/trainer_base.py) pads the batch with empty samples. The trainer before it fails in `make_iterator` (verl/utils/tensordict_utils.py) after the first generation. Up to 0.7 the last mini-batch is smaller.",
  severity: "warning",
  check(model) {
    const [batch, mini] = [batchOf(model), size(model, key)];
    if (batch === undefined || mini === undefined || batch.prompts <= mini || batch.prompts % mini === 0)
      return [];
    if (isV1(model) && trainerMode(model) !== "sync") return [];
    // Another rule refuses it first, and its fix considers mini-batches too.
    if (rolloutsPerGpu.check(model).length > 0) return [];
    const [severity, what] = consequence(model, batch, mini);
    const fixes = [
      ...divisorsNear(mini, batch.prompts).map((size) =>
        changed(model, key, size, `${batch.prompts} = ${size} × ${batch.prompts / size}`),
      ),
      ...multiplesNear(batch.prompts, mini).map((size) =>
        changed(model, trainBatch, size, `${mini} × ${size / mini}`),
      ),
    ];
    const message = `${batch.prompts} prompts (\`${trainBatch}\`) = ${Math.floor(batch.prompts / mini)} × \`ppo_mini_batch_size\` ${mini} + ${batch.prompts % mini}: ${what}.`;
    return found(model, [key, trainBatch], message, { fixes, severity });
  },
});
