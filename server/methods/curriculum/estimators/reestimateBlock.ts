import { z } from "zod";
import { estimator, param } from "../../../core/declaration.ts";
import type { Saved } from "../../../core/basics.ts";
import { ranked } from "../../../lib/ordering.ts";
import type { FastEstimates } from "../../../core/slots/arms.ts";
import type { Estimator, EstimatorExtensions, Observation } from "../../../core/slots/curriculum.ts";
import { MeasuredRates, measuring, type Measuring } from "./measuredRates.ts";

/** Larger than the difference of any two rates, so that blocks do not overlap. */
const apart = 2;

class ReestimateBlock implements Estimator, EstimatorExtensions {
  readonly fast: FastEstimates = { changes: "observed" };
  /** Measures all arms first, then each block before it is entered. */
  readonly pilots: NonNullable<EstimatorExtensions["pilots"]> = {
    next: (arms) => {
      this.size = arms.size;
      return this.measured.next(arms);
    },
    observe: (observations) => {
      this.measured.observe(observations);
      if (this.block.length === 0 && this.measured.done(this.size)) this.divide(this.size);
    },
  };
  private readonly measured: MeasuredRates;
  /** By arm; empty until all arms have been measured. */
  private block = new Int32Array(0);
  private current = 0;
  private size = 0;
  /** Arms of the current block that have not been observed yet. */
  private left = new Set<number>();
  /** Arms observed in this step. */
  private readonly observed = new Set<number>();

  constructor(
    how: Measuring,
    private readonly blocks: number,
  ) {
    this.measured = new MeasuredRates(how);
  }

  /** Divides the arms into blocks of equal size, easy before hard. */
  private divide(size: number): void {
    const order = ranked(this.measured.rates.view(size).map((rate) => -rate));
    this.block = new Int32Array(size);
    order.forEach((arm, rank) => (this.block[arm] = Math.floor((rank * this.blocks) / size)));
    this.left = new Set(this.members(0));
  }
  private members(block: number): number[] {
    return [...this.block.keys()].filter((arm) => this.block[arm] === block);
  }

  observe({ arm }: Observation): void {
    this.observed.add(arm);
  }
  /** A block ends when all of it has been observed, or when the next is drawn from: some tasks may yield no observation. */
  endStep(): void {
    const ahead = [...this.observed].some((arm) => this.block[arm] !== this.current);
    for (const arm of this.observed) this.left.delete(arm);
    if (this.block.length > 0 && (ahead || this.left.size === 0)) {
      this.current = (this.current + 1) % this.blocks;
      this.left = new Set(this.members(this.current).filter((arm) => !this.observed.has(arm)));
      this.measured.forget([...this.left]);
    }
    this.observed.clear();
  }
  estimate(arm: number): number {
    return this.measured.rates.get(arm) - apart * (this.block[arm] ?? 0);
  }

  save(): Saved {
    return {
      json: this.current,
      arrays: { ...this.measured.save(), block: this.block, left: Int32Array.from(this.left) },
    };
  }
  load({ json, arrays }: Saved): void {
    this.measured.load(arrays);
    this.current = Number(json);
    this.block = Int32Array.from(arrays?.["block"] ?? []);
    this.left = new Set(arrays?.["left"]);
    this.observed.clear();
  }
}

export const reestimateBlock = estimator({
  name: "reestimate_block",
  summary:
    "Divides the arms into blocks from easy to hard, and measures each block again before entering it. `sampler: sorted` goes through them.",
  formula:
    "block b = the b-th part of the arms by p̂ under the first policy; Q = p̂ − 2b, p̂ measured again when b is entered",
  sources: [
    "Learning Like Humans: Advancing LLM Reasoning Capabilities via Adaptive Difficulty Curriculum Learning and Expert-Guided Self-Reformulation",
  ],
  gives: ["estimate"],
  takes: ["tasks"],
  params: z.object({ blocks: param(z.number().int().min(2).default(4), "K."), ...measuring }),
  create: ({ blocks, ...how }) => new ReestimateBlock(how, blocks),
});
