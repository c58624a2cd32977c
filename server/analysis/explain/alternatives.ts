/** What every other baseline and scale would have given one rollout, by the config's other choices. */
import { UserError } from "../../../shared/lib/errors.ts";
import { toWire } from "../../../shared/rollouts/rollouts.ts";
import type { Alternative } from "../../../shared/rollouts/why.ts";
import { baselines, scales } from "../../methods/advantage/index.ts";
import type { Declaration, SlotName, Choice } from "../../core/declaration.ts";
import type { SolvedStep } from "./explain.ts";
import type { Remember } from "./memory.ts";
import { algorithmOf, type RecordedStep } from "./recordedStep.ts";
import { rowAdvantage } from "./rowAdvantage.ts";

/** A method with its defaults; undefined where it has parameters that have none. */
function byDefault<Slot extends SlotName>(
  declaration: Declaration<Slot>,
  folder: string,
): Choice<Slot> | undefined {
  const params = declaration.params.safeParse({});
  return params.success ? { use: declaration.name, declaration, params: params.data, folder } : undefined;
}

/** Recorded advantages are no baseline to compare with, and a scale that makes everything 0 teaches nothing. */
const leftOut = ["given", "zero"];

/** The config's choice, then every other method of the slot by its defaults. */
function choices<Slot extends SlotName>(
  chosen: Choice<Slot>,
  declared: readonly Declaration<Slot>[],
): Choice<Slot>[] {
  const others = declared.filter(({ name }) => name !== chosen.declaration.name && !leftOut.includes(name));
  return [chosen, ...others.flatMap((one) => byDefault(one, chosen.folder) ?? [])];
}

/** @param row of the step; the group's siblings and, for scales over the batch, all others are in the step */
export function alternatives(
  step: RecordedStep,
  row: number,
  { scored, old }: Pick<SolvedStep, "scored" | "old">,
  remember: Remember,
): Alternative[] {
  const none = Number.isNaN(scored.combined.total[row]!) || scored.combined.errored[row] === 1;
  if (step.algorithm.takesRecorded || none) return [];
  const { baseline, scale } = step.body.advantage;
  return choices(baseline, baselines).flatMap((one) =>
    choices(scale, scales).map((other) => {
      const names = { baseline: one.declaration.name, scale: other.declaration.name };
      return {
        ...names,
        chosen: one === baseline && other === scale,
        ...tried(step, row, { scored, old, remember }, one, other),
      };
    }),
  );
}

function tried(
  { body, batch, clock }: RecordedStep,
  row: number,
  { scored: { combined }, old, remember }: Pick<SolvedStep, "scored" | "old"> & { remember: Remember },
  baseline: Choice<"baseline">,
  scale: Choice<"scale">,
): Pick<Alternative, "advantage" | "reason"> {
  try {
    const algorithm = algorithmOf({ ...body, advantage: { ...body.advantage, baseline, scale } });
    remember(algorithm);
    const value = rowAdvantage(algorithm.advantages(combined, batch, old, clock), batch, row);
    return Number.isFinite(value)
      ? { advantage: toWire(value), reason: null }
      : { advantage: null, reason: "gives this rollout none" };
  } catch (error) {
    if (error instanceof UserError) return { advantage: null, reason: error.message };
    throw error;
  }
}
