/** The stage's objective, and beside it the loss of a value head where the config has one: one update moves both. */
import { valueAt } from "../config/declaration.ts";
import type { CreateContext, StageBody } from "../config/resolved.ts";
import type { Channel, Clock, Objective, ObjectiveInput, Weighed } from "../seams.ts";
import { create } from "./create.ts";

const units = ["sequence", "pair", "group"] as const;
const wider = (a: Objective["unit"], b: Objective["unit"]): Objective["unit"] =>
  units[Math.max(units.indexOf(a), units.indexOf(b))]!;
const union = <Item>(a: readonly Item[] = [], b: readonly Item[] = []): Item[] => [...new Set([...a, ...b])];

/** Gradients of both by channel, the second's times a coefficient. */
function summed(a: Weighed["gradients"], b: Weighed["gradients"], coefficient: number): Weighed["gradients"] {
  const sum: Partial<Record<Channel, Float64Array>> = { ...a };
  for (const [name, column] of Object.entries(b) as [Channel, Float64Array | undefined][]) {
    if (column === undefined) continue;
    const known = sum[name];
    sum[name] = column.map((value, t) => (known?.[t] ?? 0) + coefficient * value);
  }
  return sum;
}

/** Corrections for tokens that another distribution drew are the policy's own: a value is right for whoever acts. */
const corrected = (input: ObjectiveInput): ObjectiveInput => {
  const { correction, ...rest } = input;
  return correction === undefined
    ? input
    : { ...rest, factors: input.factors.map((factor, t) => factor * correction[t]!) };
};

/** An objective and the loss of a value head, in one update. */
export function withValue(
  main: Objective,
  value: Objective,
  coefficient: (clock: Clock) => number,
): Objective {
  return {
    channels: union(main.channels, value.channels),
    unit: wider(main.unit, value.unit),
    models: union(main.models, value.models),
    before: union(main.before, value.before),
    corrects: true,
    loss(input) {
      const own = main.loss(main.corrects === true ? input : corrected(input));
      const beside = value.loss(input);
      const factor = coefficient(input.clock ?? { step: 0, stageStep: 0 });
      return {
        ...own,
        loss: own.loss + factor * beside.loss,
        gradients: summed(own.gradients, beside.gradients, factor),
        metrics: { ...own.metrics, "value/loss": beside.loss, ...beside.metrics },
      };
    },
  };
}

export function objectiveOf({ loss, value }: StageBody["objective"], context: CreateContext): Objective {
  const main = create(loss, context);
  return value === undefined
    ? main
    : withValue(main, create(value.loss, context), (clock) => valueAt(value.coefficient, clock));
}
