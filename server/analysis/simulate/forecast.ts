/** What a config's curriculum would draw over a run, from one simulated learner: easy, middling and hard tasks. */
import type { StageBody } from "../../core/config/resolved.ts";
import { fingerprint } from "../../core/fingerprint.ts";
import { scenarios } from "./scenarios.ts";
import { simulate } from "./simulate.ts";

export const bands = ["easy", "middling", "hard"] as const;

/** Share of each of `bands`, step by step. */
export type Forecast = readonly (readonly number[])[];

/** Levels of the ladder that a learner solves at the start mostly, now and then, hardly ever. */
const bandOf = (level: number): number => (level < 3 ? 0 : level < 6 ? 1 : 2);

const most = 100;
/** Rollouts beyond these change the picture little and cost the person's patience. */
const [mostPrompts, mostOfGroup] = [32, 16];
/** Forecasts that are remembered. */
const kept = 20;
/** By what a forecast depends on; null: a simulation cannot tell. */
const settled = new Map<string, Forecast | null>();
const running = new Map<string, Running>();

interface Running {
  readonly result: Promise<Forecast | undefined>;
  readonly end: AbortController;
  /** Who waits for it. */
  readonly askers: Set<string>;
}

const keyOf = ({ curriculum, advantage, rollout }: StageBody, steps: number, seed: number): string =>
  fingerprint([curriculum, advantage, rollout.prompts, rollout.group, steps, seed]);

/** What is known already. */
export const forecastNow = (body: StageBody, steps: number, seed: number): Forecast | undefined =>
  settled.get(keyOf(body, steps, seed)) ?? undefined;

/**
 * Kept by what it depends on. The simulation yields between steps, so that whoever waits for something else gets it.
 * @param asker who asks, a file say: what it asked before and no one else waits for is given up
 * @returns undefined where a simulation cannot tell (the curriculum asks a model), and where it was given up
 */
export function forecast(
  body: StageBody,
  steps: number,
  seed: number,
  asker: string,
): Promise<Forecast | undefined> {
  const key = keyOf(body, steps, seed);
  leaveOthers(asker, key);
  const known = settled.get(key);
  if (known !== undefined) return Promise.resolve(known ?? undefined);
  const under =
    running.get(key) ?? begin(key, (signal) => predict(body, Math.min(steps, most), seed, signal));
  under.askers.add(asker);
  return under.result;
}

function leaveOthers(asker: string, wanted: string): void {
  for (const [key, { askers, end }] of running) {
    if (key === wanted || !askers.delete(asker) || askers.size > 0) continue;
    running.delete(key);
    end.abort();
  }
}

function begin(key: string, work: (signal: AbortSignal) => Promise<Forecast>): Running {
  const end = new AbortController();
  const settle = (forecast: Forecast | null): Forecast | undefined => {
    if (end.signal.aborted) return undefined;
    running.delete(key);
    settled.set(key, forecast);
    for (const old of [...settled.keys()].slice(0, -kept)) settled.delete(old);
    return forecast ?? undefined;
  };
  const result = work(end.signal).then(settle, () => settle(null));
  const started = { result, end, askers: new Set<string>() };
  running.set(key, started);
  return started;
}

async function predict(body: StageBody, steps: number, seed: number, signal: AbortSignal): Promise<Forecast> {
  const [ladder] = scenarios;
  const { prompts, group } = body.rollout;
  const rollout = {
    ...body.rollout,
    prompts: Math.min(prompts, mostPrompts),
    group: Math.min(group, mostOfGroup),
  };
  const done = await simulate({ ...body, rollout }, ladder!, seed, steps, signal);
  return done.map(({ mix }) =>
    bands.map((_, band) =>
      mix.reduce((sum, share, level) => (bandOf(level) === band ? sum + share : sum), 0),
    ),
  );
}
