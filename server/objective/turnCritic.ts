import { z } from "zod";
import { objective } from "../config/declaration.ts";
import type { Channel, Objective, ObjectiveInput, Weighed } from "../seams.ts";
import { column } from "./column.ts";
import { checkFinite } from "./finite.ts";
import { firstTrained, lastTrained, spanMass, spansOf } from "./spans.ts";
import { tokenRewards } from "./tokenRewards.ts";
import { headChannel } from "./valueParams.ts";

const names = (usual: readonly string[], what: string) =>
  z
    .array(z.string().min(1))
    .min(1)
    .default([...usual])
    .describe(`Heads of ${what}; several are trained alike, and the least of them is the target.`);
const params = z.object({
  q: names(["q1", "q2"], "Q(s, turn), read at the turn's last trained token"),
  v: names(["v1", "v2"], "V(s), read at the turn's first trained token"),
  gamma: z.number().min(0).max(1).default(0.9).describe("Discount γ from turn to turn."),
  level: z
    .enum(["turn", "step"])
    .default("turn")
    .describe("What one action is; where none is recorded, the response."),
  target: z
    .enum(["now", "before"])
    .default("now")
    .describe(
      "Which values are the targets: the present ones, or those from the start of the step's updates.",
    ),
});
type Params = z.output<typeof params>;

interface Heads {
  readonly names: readonly Channel[];
  readonly now: readonly Float64Array[];
  readonly target: readonly Float64Array[];
}
const headsOf = ({ now, old }: ObjectiveInput, heads: readonly string[], target: Params["target"]): Heads => {
  const channels = heads.map(headChannel);
  return {
    names: channels,
    now: channels.map((name) => column(now, name, "the turn critic")),
    target: channels.map((name) => column(target === "now" ? now : old, name, "the turn critic")),
  };
};
const least = (columns: readonly Float64Array[], t: number): number =>
  columns.reduce((low, values) => Math.min(low, values[t]!), Number.POSITIVE_INFINITY);

/** Trained spans of all rows in order, with the first and last trained token, their share and whether one follows. */
function actions(input: ObjectiveInput, level: Params["level"]) {
  const spans = spansOf(input.batch, level);
  const mass = spanMass(spans, level, input);
  const found = Array.from(spans.starts, (start, k) => ({
    row: spans.rows[k]!,
    first: firstTrained(input.weights, start, spans.ends[k]!),
    last: lastTrained(input.weights, start, spans.ends[k]!),
    start,
    end: spans.ends[k]!,
    mass: mass[k]!,
  })).filter(({ first }) => first >= 0);
  return found.map((action, k) => ({
    ...action,
    next: found[k + 1]?.row === action.row ? found[k + 1]!.first : -1,
  }));
}

function loss(input: ObjectiveInput, options: Params): Weighed {
  const { weights, batch } = input;
  const q = headsOf(input, options.q, options.target);
  const v = headsOf(input, options.v, options.target);
  const rewards = tokenRewards(input);
  const gradients = Object.fromEntries(
    [...q.names, ...v.names].map((name): [string, Float64Array] => [name, new Float64Array(weights.length)]),
  );
  let total = 0;
  const regress = (heads: Heads, at: number, target: number, mass: number): void =>
    heads.names.forEach((name, i) => {
      const error = heads.now[i]![at]! - target;
      total += (mass * error * error) / heads.names.length;
      gradients[name]![at]! += (2 * mass * error) / heads.names.length;
    });
  for (const { first, last, start, end, mass, next } of actions(input, options.level)) {
    let paid = 0;
    for (let t = start; t < end; t++) paid += rewards[t]!;
    regress(q, last, paid + (next < 0 ? 0 : options.gamma * least(v.target, next)), mass);
    regress(v, first, least(q.target, last), mass);
  }
  if (!Number.isFinite(total))
    for (const heads of [q, v])
      heads.names.forEach((name, i) => checkFinite(`the value of ${name}`, heads.now[i]!, weights, batch));
  return { loss: total, gradients };
}

export const turnCritic = objective({
  name: "turn_critic",
  aliases: ["archer"],
  summary:
    "Fits twin Q and V heads from turn to turn, each to the least of the others: the utterance critic of ArCHer.",
  formula: "ℓ = (Q(s,a) − [r + γ V̄(s′)])² + (V(s) − Q̄(s,a))², targets held constant; the mean over turns",
  sources: ["ArCHer: Training Language Model Agents via Hierarchical Multi-Turn RL"],
  params,
  create: (options): Objective => {
    const heads = [...options.q, ...options.v].map(headChannel);
    return {
      channels: heads,
      before: options.target === "before" ? heads : [],
      unit: "sequence",
      loss: (input) => loss(input, options),
    };
  },
});
