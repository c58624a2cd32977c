/** The curriculum's step: draw → (rollouts) → admit, refill → observe → estimate → draw. */
import { valueAt } from "../config/declaration.ts";
import type { CreateContext, StageBody, TaskConfig } from "../config/resolved.ts";
import type { Json } from "../../shared/json.ts";
import type {
  Admission,
  Arm,
  Arms,
  Clock,
  Estimates,
  Estimator,
  Group,
  Random,
  Refill,
  Sampler,
  Saved,
  Signal,
  Stateful,
  Task,
  TaskSource,
  Verdict,
} from "../seams.ts";
import { create } from "./create.ts";

/** A task source with what the config says of it. */
export interface SourceOf {
  readonly config: TaskConfig;
  readonly source: TaskSource;
}
export interface DrawnTask {
  readonly arm: Arm;
  readonly task: Task;
}

/** Where an arm's tasks come from: undefined stands for any value of the source. */
interface Member extends SourceOf {
  readonly value: string | undefined;
}

const isRecord = (value: Json | undefined): value is { readonly [key: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Opens the task sources of a body, in the order of the config. */
export const openSources = (tasks: readonly TaskConfig[], context: CreateContext): SourceOf[] =>
  tasks.map((config) => ({ config, source: create(config.source, context, config.name) }));

/** What an arm method needs to name a value's arm without a task of it. */
const stand = (source: TaskSource): Task => ({ id: "", source: source.name, env: "", prompt: "", data: {} });

/** Every arm with its members: one per value of a source, unless the method does not divide it. */
function membersOf(arms: Arms, sources: readonly SourceOf[]): Map<Arm, Member[]> {
  const members = new Map<Arm, Member[]>();
  for (const { config, source } of sources) {
    const values: readonly (string | undefined)[] = source.values.length === 0 ? [undefined] : source.values;
    const named = values.map((value) => ({
      value,
      arm: arms(stand(source), { ...bound(source), valueOf: () => value }),
    }));
    const whole = new Set(named.map(({ arm }) => arm)).size === 1;
    for (const { arm, value } of whole ? named.slice(0, 1) : named) {
      members.set(arm, [
        ...(members.get(arm) ?? []),
        { config, source, value: whole && values.length > 1 ? undefined : value },
      ]);
    }
  }
  return members;
}

/** A source's methods as a plain object, so that one of them can be replaced. */
const bound = (source: TaskSource): TaskSource => ({
  name: source.name,
  values: source.values,
  draw: (split, value, random) => source.draw(split, value, random),
  valueOf: (task) => source.valueOf(task),
  save: () => source.save(),
  load: (saved) => source.load(saved),
});

export class Curriculum implements Stateful {
  private readonly armsOf: Arms;
  private readonly signal: Signal;
  private readonly estimator: Estimator;
  private readonly sampler: Sampler;
  private readonly admission: Admission;
  private readonly refill: Refill;
  private readonly members: ReadonlyMap<Arm, readonly Member[]>;
  private readonly weighted: boolean;

  constructor(
    config: StageBody["curriculum"],
    readonly sources: readonly SourceOf[],
    context: CreateContext,
  ) {
    this.armsOf = create(config.arms, context);
    this.signal = create(config.signal, context);
    this.estimator = create(config.estimator, context);
    this.sampler = create(config.sampler, context);
    this.admission = create(config.admission, context);
    this.refill = create(config.refill, context);
    this.members = membersOf(this.armsOf, sources);
    // Task weights are the uniform sampler's prior; samplers that follow estimates ignore them.
    this.weighted = config.sampler.declaration.name === "uniform";
  }

  /** All arms of the config, in its order. */
  get arms(): Arm[] {
    return [...this.members.keys()];
  }

  armOf(task: Task): Arm {
    const found = this.sources.find(({ source }) => source.name === task.source);
    return found === undefined ? task.source : this.armsOf(task, found.source);
  }

  estimates(): Estimates {
    return new Map(this.arms.map((arm) => [arm, this.estimator.estimate(arm)]));
  }

  probabilities(clock: Clock, over: Estimates = this.estimates()): Map<Arm, number> {
    const p = this.sampler.probabilities(over, clock);
    if (!this.weighted) return p;
    const prior = [...p].map(([arm, share]): [Arm, number] => [arm, share * this.weight(arm, clock)]);
    const sum = prior.reduce((total, [, share]) => total + share, 0);
    return new Map(prior.map(([arm, share]) => [arm, sum > 0 ? share / sum : 1 / prior.length]));
  }

  /** Tasks to roll out. Fewer than `n` only when every arm's source is used up. */
  draw(n: number, random: Random, clock: Clock): DrawnTask[] {
    const drawn: DrawnTask[] = [];
    const left = new Map(this.estimates());
    for (let i = 0; drawn.length < n && left.size > 0; i++) {
      const [arm] = this.drawArms(left, 1, random.fork("arm", i), clock);
      if (arm === undefined) break;
      const task = this.drawTask(arm, random.fork("task", i), clock);
      if (task === null) left.delete(arm);
      else drawn.push({ arm, task });
    }
    return drawn;
  }

  admit(group: Group): Verdict {
    return this.admission(group);
  }

  /** How many more groups to roll out; 0 ends the refill. */
  more(state: Parameters<Refill["more"]>[0]): number {
    return this.refill.more(state);
  }

  /** What each group says of its arm; NaN: nothing. */
  signals(groups: readonly Group[]): Float64Array {
    return this.signal(groups);
  }

  /** One observation per arm: the mean over all its rollouts of the step, rejected groups included. */
  observe(groups: readonly Group[], step: number): void {
    const signals = this.signal(groups);
    const sums = new Map<Arm, { sum: number; count: number }>();
    groups.forEach((group, i) => {
      const size = group.rewards.length;
      if (Number.isNaN(signals[i]!) || size === 0) return;
      const known = sums.get(group.arm) ?? { sum: 0, count: 0 };
      sums.set(group.arm, { sum: known.sum + signals[i]! * size, count: known.count + size });
    });
    for (const [arm, { sum, count }] of sums) this.estimator.observe(arm, sum / count, step);
    this.estimator.advance?.(this.arms, step);
  }

  save(): Saved {
    return {
      json: {
        estimator: this.estimator.save().json,
        sampler: this.sampler.save?.().json ?? null,
        refill: this.refill.save?.().json ?? null,
        sources: Object.fromEntries(this.sources.map(({ source }) => [source.name, source.save().json])),
      },
    };
  }

  load({ json }: Saved): void {
    if (!isRecord(json)) return;
    this.estimator.load({ json: json["estimator"] ?? null });
    this.sampler.load?.({ json: json["sampler"] ?? null });
    this.refill.load?.({ json: json["refill"] ?? null });
    const sources = json["sources"];
    if (isRecord(sources))
      for (const { source } of this.sources) source.load({ json: sources[source.name] ?? null });
  }

  private weight(arm: Arm, clock: Clock): number {
    return (this.members.get(arm) ?? []).reduce((sum, { config }) => sum + valueAt(config.weight, clock), 0);
  }

  private drawArms(over: Estimates, n: number, random: Random, clock: Clock): Arm[] {
    if (!this.weighted) return this.sampler.draw(over, n, random, clock);
    const p = this.probabilities(clock, over);
    return Array.from({ length: n }, () => pick([...p], random));
  }

  /** Within an arm a source is drawn by weight; one that is used up gives its turn to the others. */
  private drawTask(arm: Arm, random: Random, clock: Clock): Task | null {
    let left = [...(this.members.get(arm) ?? [])];
    while (left.length > 0) {
      const chosen =
        left.length === 1
          ? left[0]!
          : pick(
              left.map((member): [Member, number] => [member, valueAt(member.config.weight, clock)]),
              random,
            );
      const task = chosen.source.draw("train", chosen.value, random);
      if (task !== null) return task;
      left = left.filter((member) => member !== chosen);
    }
    return null;
  }
}

/** One of the keys, in proportion to the weights; all zero: uniformly. */
function pick<T>(weighted: readonly (readonly [T, number])[], random: Random): T {
  const sum = weighted.reduce((total, [, weight]) => total + weight, 0);
  let left = random.next() * (sum > 0 ? sum : weighted.length);
  for (const [key, weight] of weighted) {
    left -= sum > 0 ? weight : 1;
    if (left < 0) return key;
  }
  return (weighted.findLast(([, weight]) => weight > 0) ?? weighted.at(-1)!)[0];
}

const rounded = (value: number): string => String(Math.round(value * 1000) / 1000);

/** What to tell a person when a refill ended with fewer groups than wanted; null when it did not. */
export function starvation(
  groups: readonly Group[],
  verdicts: readonly Verdict[],
  wanted: number,
): { readonly message: string; readonly action: string } | null {
  const admitted = verdicts.filter((verdict) => verdict.admitted).length;
  if (admitted >= wanted) return null;
  if (admitted === groups.length) {
    return {
      message: `the task sources gave ${groups.length} groups, ${wanted} were wanted`,
      action: "Raise `epochs`, add tasks, or lower rollout.prompts.",
    };
  }
  const rates = groups
    .filter(({ rewards }) => rewards.length > 0)
    .map(({ successes, rewards }) => successes / rewards.length);
  const counts = [...new Set(rates)]
    .sort((a, b) => a - b)
    .map((rate) => `${rounded(rate)} (${rates.filter((other) => other === rate).length}×)`);
  return {
    message: `admission kept ${admitted} of ${groups.length} groups, ${wanted} were wanted; success rates seen: ${counts.join(", ") || "none"}`,
    action:
      "Widen the band, draw tasks that fit the policy (easier or harder arms), raise rollout.group, or choose another admission.",
  };
}
