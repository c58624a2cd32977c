import { z } from "zod";
import { estimator } from "../../../core/declaration.ts";
import type { Saved } from "../../../core/basics.ts";
import { ranked } from "../../../lib/ordering.ts";
import type { ArmSet, Estimator, Observation, Probe } from "../../../core/slots/curriculum.ts";
import { TriedRates, type Tries } from "./tried.ts";
import { tries } from "./tries.ts";

/** Lies between any two rates of neighbouring blocks. */
const apart = 2;

class ReestimateBlock implements Estimator {
  private readonly tried: TriedRates;
  /** By arm; empty until every arm was tried once. */
  private block = new Int32Array(0);
  private current = 0;
  private size = 0;
  /** Arms of the current block that no step has shown yet. */
  private left = new Set<number>();
  private readonly seen = new Set<number>();

  constructor(
    how: Tries,
    private readonly blocks: number,
  ) {
    this.tried = new TriedRates(how);
  }

  /** Everything at first; then each block before it is entered. */
  probe({ size }: ArmSet): Probe | undefined {
    this.size = size;
    return this.tried.probe(size);
  }
  probed(seen: readonly Observation[]): "all" | [] {
    this.tried.probed(seen);
    if (this.block.length > 0 || !this.tried.done(this.size)) return [];
    this.divide(this.size);
    return "all";
  }

  /** Blocks of equal size, easy before hard. */
  private divide(size: number): void {
    const order = ranked(this.tried.rates.view(size).map((rate) => -rate));
    this.block = new Int32Array(size);
    order.forEach((arm, rank) => (this.block[arm] = Math.floor((rank * this.blocks) / size)));
    this.left = new Set(this.members(0));
  }
  private members(block: number): number[] {
    return [...this.block.keys()].filter((arm) => this.block[arm] === block);
  }

  observe({ arm }: Observation): void {
    this.seen.add(arm);
  }
  /** A block is over when all of it was shown, or when the next is drawn from: some tasks may show nothing. */
  advance(): [] {
    const ahead = [...this.seen].some((arm) => this.block[arm] !== this.current);
    for (const arm of this.seen) this.left.delete(arm);
    if (this.block.length > 0 && (ahead || this.left.size === 0)) {
      this.current = (this.current + 1) % this.blocks;
      this.left = new Set(this.members(this.current).filter((arm) => !this.seen.has(arm)));
      this.tried.forget([...this.left]);
    }
    this.seen.clear();
    return [];
  }
  estimate(arm: number): number {
    return this.tried.rates.get(arm) - apart * (this.block[arm] ?? 0);
  }

  save(): Saved {
    return {
      json: this.current,
      arrays: { ...this.tried.save(), block: this.block, left: Int32Array.from(this.left) },
    };
  }
  load({ json, arrays }: Saved): void {
    this.tried.load(arrays);
    this.current = Number(json);
    this.block = Int32Array.from(arrays?.["block"] ?? []);
    this.left = new Set(arrays?.["left"]);
    this.seen.clear();
  }
}

export const reestimateBlock = estimator({
  name: "reestimate_block",
  summary:
    "Divides the arms into blocks from easy to hard, and before each next block tries the arms of that block again. `sampler: sorted` walks through them.",
  formula:
    "block b = the b-th part of the arms by p̂ under the first policy; Q = p̂ − 2b, p̂ measured anew when b is entered",
  sources: [
    "Learning Like Humans: Advancing LLM Reasoning Capabilities via Adaptive Difficulty Curriculum Learning and Expert-Guided Self-Reformulation",
  ],
  gives: ["estimate"],
  takes: ["tasks"],
  params: z.object({
    blocks: z.number().int().min(2).default(4).describe("K."),
    ...tries,
  }),
  create: ({ blocks, ...how }) => new ReestimateBlock(how, blocks),
});
