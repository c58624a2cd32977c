import { z } from "zod";
import { refers } from "../../../core/references.ts";
import { objective, param } from "../../../core/declaration.ts";
import type { Channel, Stats, Weighed } from "../../../core/policy.ts";
import type { HeadOf, Objective, ObjectiveInput } from "../../../core/loss.ts";
import { column } from "../column.ts";
import { checkFinite } from "../finite.ts";
import { drawnHead, otherHead } from "./otherHeads.ts";
import { firstTrained, lastTrained, spansOf } from "../../../core/rows/spans.ts";
import { spanMass } from "../spans.ts";
import { tokenRewards } from "./tokenRewards.ts";
import { headChannel } from "./valueParams.ts";

const names = (usual: readonly string[], what: string) =>
  param(
    z
      .array(refers({ to: "head" }).min(1))
      .min(1)
      .default([...usual]),
    `Heads of ${what}; with several, \`twins\` says what each is fitted to.`,
  );
/** Targets that are the policy's own values. */
const words: readonly string[] = ["now", "before"];

const params = z
  .object({
    q: names(["q1", "q2"], "Q(s, turn), read at the turn's last trained token"),
    v: names(["v1", "v2"], "V(s), read at the turn's first trained token"),
    twins: param(
      z.enum(["own", "least"]).default("own"),
      "What several heads are fitted to: each to its own twin, the first Q to the first V and so on (a head without a twin to the smallest of the others), or all to the smallest.",
    ),
    gamma: param(z.number().min(0).max(1).default(0.9), "Discount γ from turn to turn."),
    level: param(
      z.enum(["turn", "step"]).default("turn"),
      "The unit of an action; the response, if none is recorded.",
    ),
    target: param(
      refers({ to: "model", also: ["now", "before"] })
        .min(1)
        .default("now"),
      "Whose values are the targets: the current model's (`now`), those from before the step's updates (`before`), or those of a model with the same heads, such as a slow copy (`polyak`) in `models`.",
    ),
    actions: param(
      z.enum(["recorded", "drawn"]).default("recorded"),
      "Which action's Q is V's target: the recorded action's, or that of an action that the current policy draws in its place. `drawn` needs an `auxiliary` learner and a model as `target`.",
    ),
  })
  .refine(({ actions, target }) => actions === "recorded" || !words.includes(target), {
    path: ["actions"],
    message: "`drawn` needs `target` to name a model, whose heads value the drawn action",
  });
type Params = z.output<typeof params>;

interface Heads {
  readonly names: readonly Channel[];
  readonly now: readonly Float64Array[];
  readonly target: readonly Float64Array[];
}
const slow = (heads: readonly string[], model: string): HeadOf[] => heads.map((head) => ({ head, model }));

function headsOf({ now, old }: ObjectiveInput, heads: readonly string[], target: string): Heads {
  const names = heads.map(headChannel);
  const others = words.includes(target) ? names : slow(heads, target).map(otherHead);
  const read = (stats: Stats, channels: readonly Channel[]): Float64Array[] =>
    channels.map((name) => column(stats, name, "the turn critic"));
  return { names, now: read(now, names), target: read(target === "now" ? now : old, others) };
}
/** Of several heads the one that an estimate is fitted to. */
const valueFor = (
  twins: Params["twins"],
  columns: readonly Float64Array[],
  head: number,
  t: number,
): number => (twins === "own" ? columns[head]?.[t] : undefined) ?? least(columns, t);
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
  const drawn =
    options.actions === "recorded"
      ? undefined
      : slow(options.q, options.target).map((of) => column(input.old, drawnHead(of), "the turn critic"));
  const rewards = tokenRewards(input);
  const gradients = Object.fromEntries(
    [...q.names, ...v.names].map((name): [string, Float64Array] => [name, new Float64Array(weights.length)]),
  );
  let total = 0;
  const regress = (heads: Heads, at: number, target: (head: number) => number, mass: number): void =>
    heads.names.forEach((name, i) => {
      const error = heads.now[i]![at]! - target(i);
      total += (mass * error * error) / heads.names.length;
      gradients[name]![at]! += (2 * mass * error) / heads.names.length;
    });
  for (const { first, last, start, end, mass, next } of actions(input, options.level)) {
    const reward = rewards.subarray(start, end).reduce((sum, value) => sum + value, 0);
    regress(
      q,
      last,
      (i) => reward + (next < 0 ? 0 : options.gamma * valueFor(options.twins, v.target, i, next)),
      mass,
    );
    const [taken, at] = drawn === undefined ? [q.target, last] : [drawn, first];
    regress(v, first, (i) => valueFor(options.twins, taken, i, at), mass);
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
    "Fits twin Q and V heads from turn to turn, each Q to the V of its own twin and each V to its Q: the utterance critic of ArCHer.",
  formula:
    "ℓ = (Q(s,a) − [r + γ V̄(s′)])² + (V(s) − Q̄(s,a))² for each twin, targets held constant, a recorded or drawn now; the mean over turns",
  sources: ["ArCHer: Training Language Model Agents via Hierarchical Multi-Turn RL"],
  params,
  create: (options): Objective => {
    const { q, v, target, actions, level } = options;
    const heads = [...q, ...v].map(headChannel);
    return {
      channels: heads,
      needs: {
        before: target === "before" ? heads : [],
        heads: words.includes(target) ? [] : slow([...q, ...v], target),
        ...(actions === "drawn" && { redrawn: { level, heads: slow(q, target) } }),
      },
      unit: "sequence",
      loss: (input) => loss(input, options),
    };
  },
});
