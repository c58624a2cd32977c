import { z } from "zod";
import { sampler, param } from "../../../core/declaration.ts";
import type { Saved } from "../../../core/basics.ts";
import type { ArmBeliefs } from "../../../core/slots/arms.ts";
import type { Outcome, Sampler } from "../../../core/slots/curriculum.ts";

const params = z.object({
  window: param(z.number().int().positive().default(4), "Levels of an environment that are drawn."),
  start: param(z.number().int().min(0).default(0), "The first hardest level, from 0."),
  above: param(z.number().min(0).max(1).default(0.9), "Success rate at the hardest level that moves it on."),
  groups: param(z.number().int().positive().default(8), "Groups at the hardest level between two looks."),
});
type Options = z.output<typeof params>;

/** Arms of one environment, from easy to hard. */
type Levels = ReadonlyMap<string, readonly number[]>;

/** What an environment's hardest level has shown since the last look. */
interface Progress {
  top: number;
  groups: number;
  rollouts: number;
  successes: number;
}
const saved = z.record(
  z.string(),
  z.strictObject({ top: z.number(), groups: z.number(), rollouts: z.number(), successes: z.number() }),
);

/** What is before an arm's last `/`: its source, where arms are a source's difficulties. */
const environmentOf = (name: string): string => name.slice(0, Math.max(0, name.lastIndexOf("/")));

function levelsOf({ arms, size, estimates }: ArmBeliefs): Levels {
  const found = new Map<string, number[]>();
  for (let arm = 0; arm < size; arm++) {
    const environment = environmentOf(arms.name(arm));
    found.set(environment, [...(found.get(environment) ?? []), arm]);
  }
  for (const own of found.values()) own.sort((a, b) => estimates[a]! - estimates[b]! || a - b);
  return found;
}

class SlidingLevels implements Sampler {
  private readonly progress = new Map<string, Progress>();

  constructor(private readonly options: Options) {}

  private of(environment: string): Progress {
    const begun = { top: this.options.start, groups: 0, rollouts: 0, successes: 0 };
    const known = this.progress.get(environment) ?? begun;
    this.progress.set(environment, known);
    return known;
  }

  probabilities(beliefs: ArmBeliefs): Float64Array {
    const found = new Float64Array(beliefs.size);
    const levels = levelsOf(beliefs);
    for (const [environment, own] of levels) {
      const top = Math.min(this.of(environment).top, own.length - 1);
      const drawn = own.slice(Math.max(0, top - this.options.window + 1), top + 1);
      for (const arm of drawn) found[arm] = 1 / levels.size / drawn.length;
    }
    return found;
  }

  learn(outcomes: readonly Outcome[], beliefs: ArmBeliefs): void {
    for (const [environment, own] of levelsOf(beliefs)) {
      const now = this.of(environment);
      const hardest = own[Math.min(now.top, own.length - 1)];
      for (const { group } of outcomes.filter(({ arm }) => arm === hardest)) {
        now.groups += 1;
        now.rollouts += group.rewards.length;
        now.successes += group.successes;
      }
      if (now.groups < this.options.groups || now.rollouts === 0) continue;
      const moves = now.successes / now.rollouts >= this.options.above;
      const top = Math.min(own.length - 1, now.top + Number(moves));
      this.progress.set(environment, { top, groups: 0, rollouts: 0, successes: 0 });
    }
  }

  save(): Saved {
    return { json: Object.fromEntries([...this.progress].map(([name, own]) => [name, { ...own }])) };
  }
  load({ json }: Saved): void {
    this.progress.clear();
    for (const [name, own] of Object.entries(saved.parse(json))) this.progress.set(name, { ...own });
  }
}

export const slidingLevels = sampler({
  name: "sliding_levels",
  aliases: ["rlve"],
  summary:
    "Draws each environment alike, and of it the few hardest levels reached so far; the next level opens once the hardest is mastered.",
  formula:
    "levels h − w + 1 … h of an environment alike; every `groups` groups at h: h ← h + 1 where their success rate ≥ above",
  sources: [
    "RLVE: Scaling Up Reinforcement Learning for Language Models with Adaptive Verifiable Environments",
  ],
  takes: ["estimate"],
  failing: () => "even",
  params,
  create: (options) => new SlidingLevels(options),
});
