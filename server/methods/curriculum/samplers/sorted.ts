import { z } from "zod";
import { sampler, param } from "../../../core/declaration.ts";
import type { Saved } from "../../../core/basics.ts";
import type { ArmPool, ClassRule, DrawReplay, FastSampler } from "../../../core/slots/fastArms.ts";
import { Column } from "../column.ts";
import { byClass } from "../fast/armClasses.ts";
import { classColumns, type Columns } from "../fast/columns.ts";
import { certain, cheapestArms, firstOf } from "../fast/top.ts";
import { least } from "../numbers.ts";

/** Passes over the arms, each arm once a pass, in the order of their estimates. */
class Sorted implements FastSampler {
  /** Passes in which an arm was drawn. */
  private readonly passes = new Column(0);
  readonly classes: ClassRule;
  readonly replay: DrawReplay = { take: (arms) => this.count(arms) };

  constructor(private readonly sign: 1 | -1) {
    this.classes = {
      reads: ["own", "estimate"],
      rank: (estimate) => this.rank(estimate),
      own: (arm) => this.passes.get(arm),
    };
  }

  /** Unknown estimates come last. */
  private rank(estimate: number): number {
    return Number.isNaN(estimate) ? Number.POSITIVE_INFINITY : this.sign * estimate;
  }

  /** The first `n` open arms of the earliest pass after `after` that has arms left, in order. */
  private next(columns: Columns, n: number, after: number): { arms: number[]; pass: number } {
    const { classes, estimates } = columns;
    const passes = byClass(classes, (arm) => this.passes.get(arm));
    const pass = least(passes.map((of, i) => (classes.open[i] === 0 || of <= after ? Number.NaN : of)));
    const cost = estimates.map((estimate, of) => (passes[of] === pass ? this.rank(estimate) : Number.NaN));
    return { arms: cheapestArms(classes, cost, n), pass };
  }

  probabilities(pool: ArmPool): Float64Array {
    return certain(pool, this.next(classColumns(pool), 1, Number.NEGATIVE_INFINITY).arms[0]);
  }

  draw(pool: ArmPool, n: number): number[] {
    const ordered = pool.inOrder?.();
    const drawn = ordered === undefined ? this.byPass(pool, n) : firstOf(ordered, n);
    if (pool.once) this.count(drawn);
    return drawn;
  }
  private count(arms: readonly number[]): void {
    for (const arm of arms) this.passes.add(arm, 1);
  }

  private byPass(pool: ArmPool, n: number): number[] {
    const drawn: number[] = [];
    const columns = classColumns(pool);
    for (let after = Number.NEGATIVE_INFINITY; drawn.length < n;) {
      const { arms, pass } = this.next(columns, n - drawn.length, after);
      if (arms.length === 0) break;
      drawn.push(...arms);
      // Where arms come at most once, this draw goes on with other arms of the next pass; else a new pass may start.
      if (pool.once) after = pass;
      else this.count(arms);
    }
    return drawn;
  }

  save(): Saved {
    return { json: null, arrays: { passes: this.passes.saveCopy() } };
  }
  load({ arrays }: Saved): void {
    this.passes.load(arrays?.["passes"]);
  }
}

export const sorted = sampler({
  name: "sorted",
  summary: "Goes through the arms in the order of their estimates, each arm once a pass.",
  formula: "the n arms of largest (`descending`) or smallest (`ascending`) Q that the pass has not drawn yet",
  sources: [
    "SARI: Structured Audio Reasoning via Curriculum-Guided Reinforcement Learning",
    "Learning Like Humans: Advancing LLM Reasoning Capabilities via Adaptive Difficulty Curriculum Learning and Expert-Guided Self-Reformulation",
  ],
  takes: ["estimate"],
  failing: () => "even",
  params: z.object({
    order: param(
      z.enum(["descending", "ascending"]).default("descending"),
      "With success rates `descending` goes from easy to hard; with difficulties, `ascending`.",
    ),
  }),
  create: ({ order }) => new Sorted(order === "ascending" ? 1 : -1),
});
