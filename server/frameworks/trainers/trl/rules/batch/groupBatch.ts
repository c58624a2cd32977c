import type { Fix } from "../../../../../config/check/diagnostic.ts";
import { changes, divisorsAround, gcd, lcm, multiplesAround } from "../../../../rules/multiples.ts";
import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";
import { placed } from "../../../../rules/placed.ts";
import { batchKeys, batchOf, equation, remainder, type CompletionBatch } from "../../batch.ts";
import { rewarded } from "../../../../releases/programs/trl.ts";
import { trlRule } from "../../trlRule.ts";

export const groupBatch = trlRule({
  id: "trl-group-batch",
  trees: rewarded,
  title: "Generation without whole groups",
  why: "Each prompt gets `num_generations` completions, whose rewards are compared, so the completions of one generation must be a multiple of the group: `GRPOConfig.__post_init__` in trl/trainer/grpo_config.py. Their number is `generation_batch_size` or, if that is not set, `per_device_train_batch_size` × processes × `steps_per_generation`, which is `gradient_accumulation_steps` by default. If the file does not give the number of processes, an info says which numbers TRL accepts.",
  check(model) {
    const batch = batchOf(model);
    const group = model.number("num_generations");
    if (batch === undefined || group === undefined || group < 1) return [];
    if (batch.whole !== undefined) return batch.whole % group === 0 ? [] : [whole(model, batch, group)];
    const slices = batch.slices ?? 0;
    if (batch.perDevice <= 0 || slices <= 0) return [];
    const size = batch.perDevice * slices * (batch.processes ?? 1);
    return size % group === 0 ? [] : [sliced(model, { ...batch, slices }, group, size)];
  },
});

const keys = ["num_generations", ...batchKeys] as const;

function whole(
  model: RuleModel,
  { whole: size = 0, perDevice, processes = 1 }: CompletionBatch,
  group: number,
): RuleDiagnostic {
  const slice = Math.max(1, perDevice * processes);
  const step = lcm(slice, group);
  const fixes = [
    ...changes(
      model.written("generation_batch_size"),
      multiplesAround(size, step),
      (value) => `${value / group} prompts × ${group}`,
    ),
    ...changes(
      model.written("num_generations"),
      divisorsAround(group, size, 2),
      (value) => `${size / value} prompts × ${value}`,
    ),
  ];
  const message = `\`generation_batch_size\` is ${size}, not a multiple of the ${group} completions of each prompt (\`num_generations\`): ${remainder(size, group)}.`;
  return { message, ...placed(model, ...keys), fixes: fixes.map(chosen) };
}

function sliced(
  model: RuleModel,
  batch: CompletionBatch & { readonly slices: number },
  group: number,
  size: number,
): RuleDiagnostic {
  const { perDevice, slices, processes } = batch;
  const place = placed(model, ...keys);
  const named =
    model.written("steps_per_generation") === undefined
      ? "gradient_accumulation_steps"
      : "steps_per_generation";
  if (processes === undefined) {
    const need = group / gcd(group, perDevice * slices);
    const message = `One process makes ${equation(perDevice, slices)} completions in one generation, not a multiple of \`num_generations\`, ${group}: TRL accepts this only with a multiple of ${need} processes.`;
    return { message, ...place, severity: "info" };
  }
  const message = `One generation makes ${equation(perDevice, processes, slices)} completions (\`per_device_train_batch_size\` × processes × \`${named}\`), not a multiple of \`num_generations\`, ${group}: ${remainder(size, group)}.`;
  return { message, ...place, fixes: fixesOf(model, { ...batch, processes }, group, named).map(chosen) };
}

function fixesOf(
  model: RuleModel,
  { perDevice, slices, processes }: CompletionBatch & { readonly slices: number; readonly processes: number },
  group: number,
  named: string,
): Fix[] {
  const size = perDevice * slices * processes;
  const forDevice = group / gcd(group, slices * processes);
  const forSlices = group / gcd(group, perDevice * processes);
  const quotient = (value: number): string => `${value} / ${group} = ${value / group} prompts`;
  return [
    ...changes(
      model.written("num_generations"),
      divisorsAround(group, size, 2),
      (value) => `${size} = ${size / value} prompts × ${value}`,
    ),
    ...changes(model.written("per_device_train_batch_size"), multiplesAround(perDevice, forDevice), (value) =>
      quotient(value * slices * processes),
    ),
    ...changes(model.written(named), multiplesAround(slices, forSlices), (value) =>
      quotient(perDevice * value * processes),
    ),
  ];
}

/** One of several possible fixes: none is preferred. */
const chosen = ({ title, edits }: Fix): Fix => ({ title, edits });
