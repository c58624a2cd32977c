import { z } from "zod";
import { admission, param } from "../../../core/declaration.ts";
import type { Clock, Saved } from "../../../core/basics.ts";
import type { Group } from "../../../core/rollouts.ts";
import type { Admission, Verdict } from "../../../core/slots/curriculum.ts";
import { unscored, yes } from "./verdicts.ts";

const perPhase = z.union([z.number().int().positive(), z.array(z.number().int().positive()).min(1)]);
const params = z.object({
  keep: param(
    perPhase.default(64),
    "Arms that stay, or a list of how many after each phase; at least `rollout.prompts` with `arms: prompt`.",
  ),
  every: param(perPhase.default(16), "Steps of a phase, or a list of them."),
});
type Options = z.output<typeof params>;

/** The entry of a list for a phase; the last one is kept after its end. */
const inPhase = (of: number | readonly number[], phase: number): number =>
  typeof of === "number" ? of : of[Math.min(phase, of.length - 1)]!;

interface Tally {
  readonly successes: number;
  readonly rollouts: number;
}

class RetainHardest implements Admission {
  /** Outcomes of the current phase, by arm. */
  private readonly tallies = new Map<number, Tally>();
  /** Arms that may still be drawn; undefined: all. */
  private kept: Set<number> | undefined;
  private steps = 0;

  constructor(private readonly options: Options) {}

  admit({ rewards }: Group): Verdict {
    return rewards.length === 0 ? unscored : yes;
  }
  left(): ReadonlySet<number> | undefined {
    return this.kept;
  }

  remember(groups: readonly Group[], arms: readonly number[], _clock: Clock): void {
    groups.forEach(({ successes, rewards }, i) => {
      if (arms[i]! < 0) return;
      const before = this.tallies.get(arms[i]!);
      this.tallies.set(arms[i]!, {
        successes: (before?.successes ?? 0) + successes,
        rollouts: (before?.rollouts ?? 0) + rewards.length,
      });
    });
    this.steps += 1;
    let [phase, end] = [0, inPhase(this.options.every, 0)];
    while (end < this.steps) end += inPhase(this.options.every, ++phase);
    if (end === this.steps) this.narrow(inPhase(this.options.keep, phase));
  }

  /** Only arms drawn in the phase are ranked; if there are fewer than `keep`, none is removed. */
  private narrow(keep: number): void {
    const rates = [...this.tallies]
      .filter(([, { rollouts }]) => rollouts > 0)
      .map(([arm, { successes, rollouts }]) => ({ arm, rate: successes / rollouts }));
    if (rates.length < keep) return;
    const hardest = rates
      .filter(({ arm }) => this.kept?.has(arm) ?? true)
      .sort((a, b) => a.rate - b.rate || a.arm - b.arm);
    this.kept = new Set(hardest.slice(0, keep).map(({ arm }) => arm));
    this.tallies.clear();
  }

  save(): Saved {
    return {
      json: { steps: this.steps, all: this.kept === undefined },
      arrays: {
        kept: Int32Array.from(this.kept ?? []),
        tried: Float64Array.from(
          [...this.tallies].flatMap(([arm, { successes, rollouts }]) => [arm, successes, rollouts]),
        ),
      },
    };
  }
  load({ json, arrays }: Saved): void {
    const state = saved.safeParse(json).data;
    this.steps = state?.steps ?? 0;
    this.kept = (state?.all ?? true) ? undefined : new Set(arrays?.["kept"]);
    this.tallies.clear();
    const tried = arrays?.["tried"] ?? [];
    for (let i = 0; i + 2 < tried.length; i += 3)
      this.tallies.set(tried[i]!, { successes: tried[i + 1]!, rollouts: tried[i + 2]! });
  }
}
const saved = z.object({ steps: z.number(), all: z.boolean() });

export const retainHardest = admission({
  name: "retain_hardest",
  summary: "After every phase only the arms of the lowest success rates can still be drawn.",
  formula:
    "every `every` steps: the `keep` arms of least successes/rollouts, of those that the phase has drawn",
  sources: [
    "DRIVE: Data Curation Best Practices for Reinforcement Learning with Verifiable Reward in Competitive Code Generation",
  ],
  failing: () => ({ kept: "keeps the arms of the lowest success rates, and so every one that always fails" }),
  params,
  create: (options) => new RetainHardest(options),
});
