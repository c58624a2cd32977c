import { z } from "zod";
import { sampler, param } from "../../../core/declaration.ts";
import type { Saved } from "../../../core/basics.ts";
import type { ArmPool, DrawReplay, FastSampler } from "../../../core/slots/fastArms.ts";
import type { Random } from "../../../lib/random.ts";
import { Column } from "../column.ts";
import { drawFrom } from "../fast/lifted.ts";
import { raised, scaled, scoreWeights, transforms, type Transform } from "./replay/scoreWeights.ts";

const params = z.object({
  transform: param(
    z.enum(transforms).default("rank"),
    "How a score becomes a weight: (1/rank)^(1/β), s^(1/β), exp(s/β), or the largest score's arm alone.",
  ),
  temperature: param(z.number().positive().default(0.1), "β; 0.1 in the source's example."),
  epsilon: param(z.number().min(0).max(1).default(0.05), "With `eps_greedy`: the part spread evenly."),
  staleness: param(
    z.number().min(0).max(1).default(0.1),
    "ρ: the part of replay that goes to arms by how many draws ago each was drawn.",
  ),
  staleness_temperature: param(z.number().positive().default(1), "Of that part's weights, age^(1/β)."),
  schedule: param(
    z.enum(["proportionate", "fixed"]).default("proportionate"),
    "The chance of a replay: the share of arms seen so far, or 1 − `fresh`.",
  ),
  fresh: param(z.number().min(0).max(1).default(0.5), "With `schedule: fixed`: the chance of a new arm."),
  least_seen: param(
    z.number().min(0).max(1).default(0),
    "Share of the arms that is seen before any is replayed; 1 by default in the source's code.",
  ),
});
type Options = z.output<typeof params> & { readonly transform: Transform };

/** Arms that have been seen and those that have not, as a step begins. */
interface Divided {
  /** All that have an estimate. */
  readonly seen: readonly number[];
  /** Their shares by score. */
  readonly byScore: Float64Array;
  /** Open arms without an estimate. */
  readonly fresh: number[];
  /** The chance of a replay. */
  readonly replays: number;
}

class LevelReplay implements FastSampler {
  /** The number of each arm's last draw, from 1; 0: never. */
  private readonly last = new Column(0);
  private draws = 0;
  readonly replay: DrawReplay = { take: (arms) => this.count(arms) };

  constructor(private readonly options: Options) {}

  private count(arms: readonly number[]): void {
    for (const arm of arms) this.last.set(arm, ++this.draws);
  }

  private divide(pool: ArmPool): Divided {
    const [seen, fresh]: [number[], number[]] = [[], []];
    for (let arm = 0; arm < pool.size; arm++)
      if (!Number.isNaN(pool.estimate(arm))) seen.push(arm);
      else if (pool.isOpen(arm)) fresh.push(arm);
    const scores = Float64Array.from(seen, (arm) => pool.estimate(arm));
    const weights = scoreWeights(scores, pool.size, this.options);
    return { seen, byScore: scaled(weights), fresh, replays: this.replays(seen.length / pool.size) };
  }
  private replays(share: number): number {
    const { schedule, fresh, least_seen } = this.options;
    if (share < least_seen) return 0;
    if (share === 1) return 1;
    return schedule === "fixed" ? 1 - fresh : share;
  }

  /** Shares of the seen arms in a replay; those that may not be drawn have none. */
  private shares({ seen, byScore }: Divided, isOpen: (arm: number) => boolean): Float64Array {
    const { staleness, staleness_temperature } = this.options;
    const ages = Float64Array.from(seen, (arm) => this.draws - this.last.get(arm));
    const byAge = scaled(raised(ages, 1 / staleness_temperature));
    const all = byScore.map((share, i) => (1 - staleness) * share + staleness * byAge[i]!);
    const open = scaled(all.map((share, i) => (isOpen(seen[i]!) ? share : 0)));
    if (open.some((share) => share > 0)) return open;
    return scaled(Float64Array.from(seen, (arm) => Number(isOpen(arm))));
  }

  probabilities(pool: ArmPool): Float64Array {
    const divided = this.divide(pool);
    const { seen, fresh } = divided;
    const shares = this.shares(divided, pool.isOpen);
    const replays = this.chance(divided, shares);
    const found = new Float64Array(pool.size);
    seen.forEach((arm, i) => (found[arm] = replays * shares[i]!));
    for (const arm of fresh) found[arm] = (1 - replays) / fresh.length;
    return found;
  }
  /** Where one kind of arms is used up, all draws are of the other. */
  private chance({ fresh, replays }: Divided, shares: Float64Array): number {
    if (fresh.length === 0) return 1;
    return shares.some((share) => share > 0) ? replays : 0;
  }

  draw(pool: ArmPool, n: number, random: Random): number[] {
    const divided = this.divide(pool);
    const drawn: number[] = [];
    const taken = new Set<number>();
    const isOpen = (arm: number): boolean => pool.isOpen(arm) && !taken.has(arm);
    for (let i = 0; i < n; i++) {
      const arm = this.next(divided, isOpen, random.fork(i), pool.once);
      if (arm === undefined) break;
      drawn.push(arm);
      this.count([arm]);
      if (pool.once) taken.add(arm);
    }
    return drawn;
  }
  private next(
    divided: Divided,
    isOpen: (arm: number) => boolean,
    random: Random,
    once: boolean,
  ): number | undefined {
    const { seen, fresh } = divided;
    const shares = this.shares(divided, isOpen);
    if (random.next() < this.chance(divided, shares)) {
      const [of] = drawFrom(shares, 1, random.fork("seen"));
      return of === undefined ? undefined : seen[of];
    }
    const at = random.fork("fresh").integer(fresh.length);
    const arm = fresh[at];
    if (once) fresh.splice(at, 1);
    return arm;
  }

  save(): Saved {
    return { json: this.draws, arrays: { last: this.last.saveCopy() } };
  }
  load({ json, arrays }: Saved): void {
    this.draws = Number(json);
    this.last.load(arrays?.["last"]);
  }
}

export const levelReplay = sampler({
  name: "level_replay",
  aliases: ["plr"],
  summary:
    "Either draws an arm that was never seen, or replays a seen one: mostly by the rank of its score, a part by how long ago it was drawn.",
  formula:
    "replay with chance seen/n: p(a) = (1 − ρ) h(S_a)^(1/β)/Σ h^(1/β) + ρ (c − c_a)/Σ(c − c_b), h = 1/rank(S), c the draws so far and c_a the arm's last; else any unseen arm alike",
  sources: ["Prioritized Level Replay", "Replay-Guided Adversarial Environment Design"],
  takes: ["estimate"],
  params,
  create: (options) => new LevelReplay(options),
});
