import type { Setting } from "../../../../text/document.ts";
import type { RuleModel } from "../../../../rules/rule.ts";
import { allWritten } from "../../../../rules/placed.ts";
import { isObject } from "../../../../text/values.ts";
import type { Json } from "../../../../../../shared/lib/json.ts";
import { batchKeys, batchOf } from "../../batch.ts";
import { trainerOf } from "../../python.ts";
import { rewarded } from "../../../../releases/programs/trl.ts";
import { trlRule } from "../../trlRule.ts";

export const fewPrompts = trlRule({
  id: "trl-few-prompts",
  trees: rewarded,
  severity: "warning",
  title: "Fewer prompts than one generation",
  why: "One generation takes its completions / `num_generations` prompts. `RepeatSampler` in trl/trainer/utils.py drops what remains of a dataset after the last whole batch, so a dataset with fewer prompts gives no batch at all, and training ends without a step. Gradus knows the number of prompts from a slice of a split (`train[:64]`).",
  check(model) {
    const rows = rowsOf(model);
    const batch = batchOf(model);
    const group = model.number("num_generations");
    if (rows === undefined || batch === undefined || group === undefined || group < 1) return [];
    const size = batch.whole ?? batch.perDevice * (batch.slices ?? 0) * (batch.processes ?? 1);
    const prompts = size / group;
    if (!Number.isInteger(prompts) || rows.count >= prompts) return [];
    const message = `The dataset is cut to ${rows.count} prompts, and one generation takes ${size} completions / ${group} = ${prompts} prompts: no batch is ever full, so nothing trains.`;
    return [{ at: rows.at, message, related: allWritten(model, ...batchKeys, "num_generations") }];
  },
});

interface CutDataset {
  readonly at: Setting;
  readonly count: number;
}

function rowsOf(model: RuleModel): CutDataset | undefined {
  if (model.document.form === "python") return rowsInPython(model);
  const at = model.written("datasets");
  if (at === undefined || !Array.isArray(at.value) || at.value.length === 0) return undefined;
  const counts = at.value.map((one: Json) => (isObject(one) ? sliced(one["split"]) : undefined));
  const known = counts.flatMap((count) => count ?? []);
  return known.length === counts.length ? { at, count: known.reduce((a, b) => a + b, 0) } : undefined;
}

function rowsInPython(model: RuleModel): CutDataset | undefined {
  const trainer = trainerOf(model);
  const data = trainer?.get("train_dataset");
  if (trainer === undefined || data?.kind !== "call" || !data.callee.endsWith("load_dataset"))
    return undefined;
  const split = data.keywords.find(({ name }) => name === "split")?.value;
  const count = split?.kind === "value" ? sliced(split.value) : undefined;
  return count === undefined || split === undefined
    ? undefined
    : { at: trainer.place(split, "split"), count };
}

/** `train[:64]` and `train[100:164]`, not `train[:10%]`. */
function sliced(split: Json | undefined): number | undefined {
  const [, from = "", to = ""] =
    (typeof split === "string" ? /^\w+\[(\d*):(\d+)\]$/.exec(split) : null) ?? [];
  return to === "" ? undefined : Math.max(0, Number(to) - Number(from || 0));
}
