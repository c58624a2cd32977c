import { z } from "zod";
import { sampler } from "../../../core/declaration.ts";
import type { Saved } from "../../../core/basics.ts";
import { Column } from "../../../core/arms/column.ts";
import { byClass } from "../../../core/arms/classes.ts";
import { least } from "../numbers.ts";
import type { Known, Sampler, Classes } from "../../../core/slots/curriculum.ts";
import { classesOf, Columns } from "./columns.ts";
import { cheapestArms, firstOf } from "./top.ts";

/** Passes over the arms, each arm once a pass; of those a pass has left the first in the order comes next. */
class Sorted implements Sampler {
  readonly reads = ["own", "value"] as const;
  /** Passes in which an arm was drawn. */
  private readonly passes = new Column(0);

  constructor(private readonly sign: 1 | -1) {}

  /** Those of which nothing is known come last. */
  rank(value: number): number {
    return Number.isNaN(value) ? Number.POSITIVE_INFINITY : this.sign * value;
  }
  own(arm: number): number {
    return this.passes.get(arm);
  }

  /** The first `n` open arms of the pass that has some left, in order. */
  private next(known: Known, classes: Classes, n: number, after: number): { arms: number[]; pass: number } {
    const passes = byClass(classes, (arm) => this.passes.get(arm));
    const pass = least(passes.map((of, i) => (classes.open[i] === 0 || of <= after ? Number.NaN : of)));
    const cost = new Columns(known, classes).value.map((value, of) =>
      passes[of] === pass ? this.rank(value) : Number.NaN,
    );
    return { arms: cheapestArms(classes, cost, n), pass };
  }

  probabilities(known: Known): Float64Array {
    const shares = new Float64Array(known.size);
    const [first] = this.next(known, classesOf(known), 1, Number.NEGATIVE_INFINITY).arms;
    if (first !== undefined) shares[first] = 1;
    return shares;
  }

  draw(known: Known, n: number): number[] {
    const ordered = known.inOrder?.();
    const drawn = ordered === undefined ? this.byPass(known, n) : firstOf(ordered, n);
    if (known.once) this.drew(drawn);
    return drawn;
  }
  drew(arms: readonly number[]): void {
    for (const arm of arms) this.passes.add(arm, 1);
  }

  private byPass(known: Known, n: number): number[] {
    const drawn: number[] = [];
    const classes = classesOf(known);
    for (let after = Number.NEGATIVE_INFINITY; drawn.length < n;) {
      const { arms, pass } = this.next(known, classes, n - drawn.length, after);
      if (arms.length === 0) break;
      drawn.push(...arms);
      // What comes once is not in the next pass that this draw goes on to; else the same pass may have begun anew.
      if (known.once) after = pass;
      else this.drew(arms);
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
  summary: "Walks through the arms in the order of their estimates, each once a pass.",
  formula: "the n arms of largest (`descending`) or smallest (`ascending`) Q that the pass has not drawn yet",
  sources: [
    "SARI: Structured Audio Reasoning via Curriculum-Guided Reinforcement Learning",
    "Learning Like Humans: Advancing LLM Reasoning Capabilities via Adaptive Difficulty Curriculum Learning and Expert-Guided Self-Reformulation",
  ],
  takes: ["estimate"],
  failing: () => "even",
  params: z.object({
    order: z
      .enum(["descending", "ascending"])
      .default("descending")
      .describe("With success rates `descending` goes from easy to hard; with difficulties, `ascending`."),
  }),
  create: ({ order }) => new Sorted(order === "ascending" ? 1 : -1),
});
