import { changes, divisorsAround, gcd, multiplesAround } from "../../../../rules/multiples.ts";
import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";
import { placed } from "../../../../rules/placed.ts";
import { equation, evaluates, processesOf, remainder } from "../../batch.ts";
import { rewarded } from "../../../../releases/programs/trl.ts";
import { trlRule } from "../../trlRule.ts";

export const evaluationBatch = trlRule({
  id: "trl-evaluation-batch",
  trees: rewarded,
  title: "Evaluation batch without whole groups",
  why: "With `eval_strategy` on, evaluation repeats each prompt `num_generations_eval` times, else `num_generations` times, and one batch over all processes must hold whole groups: `GRPOConfig.__post_init__` in trl/trainer/grpo_config.py, since TRL 0.22.",
  check(model) {
    const device = model.number("per_device_eval_batch_size");
    const group = groupOf(model);
    if (!model.since("0.22.0") || evaluates(model) !== true || device === undefined || group === undefined)
      return [];
    const processes = processesOf(model);
    return (device * (processes ?? 1)) % group === 0 ? [] : [diagnosticOf(model, device, group, processes)];
  },
});

function groupOf(model: RuleModel): number | undefined {
  const own = model.since("0.26.0") ? model.number("num_generations_eval") : undefined;
  const group = own === undefined || own === 0 ? model.number("num_generations") : own;
  return group === undefined || group < 1 ? undefined : group;
}

function diagnosticOf(
  model: RuleModel,
  device: number,
  group: number,
  processes: number | undefined,
): RuleDiagnostic {
  const own =
    model.written("num_generations_eval") === undefined ? "num_generations" : "num_generations_eval";
  const place = placed(model, "per_device_eval_batch_size", own, "eval_strategy");
  if (processes === undefined) {
    const need = group / gcd(group, device);
    const message = `One process evaluates ${device} completions at once, not a multiple of the ${group} of each prompt (\`${own}\`): TRL accepts this only with a multiple of ${need} processes.`;
    return { message, ...place, severity: "info" };
  }
  const size = device * processes;
  const step = group / gcd(group, processes);
  const message = `An evaluation batch is ${equation(device, processes)} completions (\`per_device_eval_batch_size\` × processes), not a multiple of the ${group} of each prompt (\`${own}\`): ${remainder(size, group)}.`;
  const fixes = [
    ...changes(
      model.written("per_device_eval_batch_size"),
      multiplesAround(device, step),
      (value) => `${value * processes} = ${(value * processes) / group} prompts × ${group}`,
    ),
    ...changes(
      model.written("num_generations_eval"),
      divisorsAround(group, size),
      (value) => `${size} = ${size / value} prompts × ${value}`,
    ),
  ].map(({ title, edits }) => ({ title, edits }));
  return { message, ...place, fixes };
}
