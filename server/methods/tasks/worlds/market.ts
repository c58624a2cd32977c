import { z } from "zod";
import { template } from "../../../core/references.ts";
import { taskSource, param } from "../../../core/declaration.ts";
import { fill } from "../../../core/templates.ts";
import { randomStream, type Random } from "../../../lib/random.ts";
import type { Task } from "../../../core/task.ts";
import { generated } from "../generated.ts";
import { actionText, played, worldParams, type Turned, type World } from "./world.ts";

const kinds = ["trend", "revert", "noise"] as const;
type Kind = (typeof kinds)[number];
/** φ of r_t = φ·r_(t−1) + ε. */
const persistence: Readonly<Record<Kind, number>> = { trend: 0.8, revert: -0.8, noise: 0 };

const { limit: _limit, pace: _pace, ...shared } = worldParams;
const params = z.object({
  kinds: param(
    z.array(z.enum(kinds)).min(1).default(["trend", "revert"]),
    "How prices move, one arm each: a return goes on (trend), is taken back (revert), or says nothing of the next (noise).",
  ),
  days: param(z.number().int().min(2).max(500).default(12), "Days that are traded: the turns of an episode."),
  history: param(z.number().int().min(1).max(50).default(3), "Days before them, and how many are shown."),
  volatility: param(z.number().positive().max(0.2).default(0.02), "Standard deviation of a day's shock."),
  cost: param(z.number().min(0).max(0.1).default(0), "Share of the price that buying or selling costs."),
  short: param(z.boolean().default(false), "Whether selling what is not held bets on a fall."),
  ...shared,
  prompt: param(
    template("changes", "price", "days").default("Changes: {changes}\nbuy, hold or sell?"),
    "Template of the prompt: `{changes}` (of the last days, in percent), `{price}`, `{days}`.",
  ),
});
type Params = z.output<typeof params>;

const place = z.object({ kind: z.enum(kinds), seed: z.number(), returns: z.array(z.number()) });
type Place = z.output<typeof place>;
const state = z.object({
  day: z.number(),
  held: z.number(),
  /** Returns of what was held, by day. */
  earned: z.array(z.number()),
});
type State = z.output<typeof state>;

/** Mean over sample standard deviation of returns; 0 where there are fewer than two, or they are all alike. */
export function sharpe(returns: readonly number[]): number {
  const n = returns.length;
  if (n < 2) return 0;
  const mean = returns.reduce((sum, one) => sum + one, 0) / n;
  const variance = returns.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (n - 1);
  return variance > 1e-18 ? mean / Math.sqrt(variance) : 0;
}

const signed = (change: number): string => `${change < 0 ? "" : "+"}${(100 * change).toFixed(1)}`;

function shown(chosen: Params, { returns }: Place, day: number, held: number): string {
  const past = returns.slice(day, day + chosen.history).map(signed);
  return `${past.join(" ")}${held === 0 ? "" : held > 0 ? " held" : " short"}`;
}

/** What is held after an action; undefined: it is none. */
function heldAfter(action: string, held: number, short: boolean): number | undefined {
  if (action === "hold") return held;
  if (action === "buy") return Math.min(1, held + 1);
  return action === "sell" ? Math.max(short ? -1 : 0, held - 1) : undefined;
}

function turn(chosen: Params, where: Place, now: State, text: string): Turned<State> {
  const after = heldAfter(actionText(text), now.held, chosen.short);
  const held = after ?? now.held;
  const change = where.returns[now.day + chosen.history] ?? 0;
  const earned = [...now.earned, held * change - chosen.cost * Math.abs(held - now.held)];
  const day = now.day + 1;
  return {
    state: { day, held, earned },
    text: shown(chosen, where, day, held),
    reward: sharpe(earned) - sharpe(now.earned),
    done: day >= chosen.days,
    invalid: after === undefined,
    components: { sharpe: sharpe(earned), profit: earned.reduce((sum, one) => sum + one, 0) },
  };
}

const world = (chosen: Params): World<Place, State> => ({
  place,
  state,
  begin: () => ({ day: 0, held: 0, earned: [] }),
  actions: () => ["buy", "hold", "sell"],
  turn: (where, now, text) => turn(chosen, where, now, text),
  limit: () => chosen.days,
});

/** Normal, from two uniform numbers (Box and Muller). */
const normal = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());

function make(name: string, chosen: Params, kind: Kind, seed: number): Task {
  const random = randomStream("market", kind, seed);
  const returns: number[] = [];
  for (let day = 0; day < chosen.history + chosen.days; day++)
    returns.push(persistence[kind] * (returns.at(-1) ?? 0) + chosen.volatility * normal(random));
  const where: Place = { kind, seed, returns: returns.map((one) => Math.round(one * 1e6) / 1e6) };
  const price = where.returns.slice(0, chosen.history).reduce((at, one) => at * (1 + one), 100);
  const texts = {
    changes: shown(chosen, where, 0, 0),
    price: price.toFixed(2),
    days: String(chosen.days),
  };
  return {
    id: `market:${kind}:${seed}:${chosen.history}+${chosen.days}:${chosen.volatility}`,
    source: name,
    env: "market",
    prompt: fill(chosen.prompt, texts),
    data: where,
  };
}

const isKind = (text: string): text is Kind => kinds.some((kind) => kind === text);

export const market = taskSource({
  name: "market",
  summary:
    "Buy, hold or sell over some days of made prices. Played over turns, with `rollout.shape: environment`.",
  formula: "r_t = Sharpe(returns to t) − Sharpe(returns to t − 1), Sharpe = mean / standard deviation",
  sources: ["FLAG-Trader: Fusion LLM-Agent with Gradient-based Reinforcement Learning for Financial Trading"],
  status: "approximate",
  params,
  create: (chosen, context) => {
    const name = context.name ?? "market";
    return {
      ...generated({
        env: "market",
        name,
        values: [...new Set(chosen.kinds)],
        make: (value, random) =>
          isKind(value) ? make(name, chosen, value, random.integer(1_000_000)) : null,
        valueOf: ({ data }) => place.safeParse(data).data?.kind,
      }),
      play: played(world(chosen), { invalid: chosen.invalid, pace: 0 }),
    };
  },
});
