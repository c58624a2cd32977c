/** One optimiser step's loss: objective and KL terms on one stretch of rows after the other, while its columns are near. */
import {
  cut,
  everything,
  factorsInto,
  Gradients,
  spreadInto,
  stretchesOf,
  type Stretch,
} from "../../core/rows/batchParts.ts";
import type { Channel, Weighed } from "../../core/policy.ts";
import type { Objective, ObjectiveInput, RunningLoss, WholeInput } from "../../core/loss.ts";
import type { KlLoss } from "./klLoss.ts";
import { PerRow } from "../perRow.ts";
import { columnOn, tokensOf, type TokenColumn } from "../advantages/tokenColumn.ts";
import type { Space } from "../space.ts";

/** What an optimiser step's objective is computed from, the masks of the loss and the corrections applied. */
export interface Prepared {
  /** Of the tokens that train. */
  readonly weights: TokenColumn;
  /** What the normaliser multiplies those of each row by. */
  readonly byRow: Float64Array;
  /** Per token: 0 where the objective does not move it though the normaliser counts it; undefined: nowhere. */
  readonly kept: Uint8Array | undefined;
  /** Per token, what the corrections multiply the objective by; undefined: 1. */
  readonly correction: Float64Array | undefined;
}

/** What an objective's input is made of. */
export interface Ground extends Omit<WholeInput, "weights" | "advantages"> {
  readonly advantages: TokenColumn;
}

/** What the objective moves of the tokens that the normaliser counts; `counted` itself where that is all of them. */
function movedOf(
  counted: Float64Array,
  { kept, correction }: Pick<Prepared, "kept" | "correction">,
  from: number,
  into: Float64Array,
): Float64Array {
  if (kept === undefined && correction === undefined) return counted;
  for (let i = 0; i < counted.length; i++)
    into[i] = counted[i] === 0 || kept?.[from + i] === 0 ? 0 : counted[i]! * (correction?.[from + i] ?? 1);
  return into;
}

/** Factors of all tokens that the objective moves, for what looks at the whole batch. */
export function wholeFactors(
  { batch }: Pick<Ground, "batch">,
  { weights, byRow, ...rest }: Prepared,
  into: Float64Array,
): Float64Array {
  return movedOf(factorsInto(into, tokensOf(weights), byRow, batch, everything(batch)), rest, 0, into);
}

/** The loss so far, and its derivatives. */
export class Weighing {
  loss = 0;
  readonly gradients: Gradients;
  private about: Pick<Weighed, "metrics" | "touched"> = {};

  constructor(
    private readonly ground: Ground,
    private readonly ready: Prepared,
    private readonly space: Space,
    /** Whether derivatives may be written to the place of the last step's. */
    private readonly reuse: boolean,
  ) {
    const size = ground.batch.tokens.length;
    this.gradients = new Gradients((channel) => this.place(channel, size));
  }

  get result(): Weighed {
    return { loss: this.loss, gradients: this.gradients.columns, ...this.about };
  }

  /** The objective, then the KL terms, on every stretch. */
  add(objective: Objective, kl: KlLoss): void {
    const ready =
      objective.needs?.correction === true ? { ...this.ready, correction: undefined } : this.ready;
    const whole = wholeInput(this.ground, ready, this.space, (...of) => this.place(...of).fill(0));
    const running = objective.start?.(whole);
    if (running === undefined) this.whole(objective, whole);
    if (running !== undefined || !kl.idle) this.inStretches(running, kl, ready);
    if (running !== undefined) this.about = running.result();
  }

  /** For derivatives; its contents are undefined. */
  private place(channel: Channel, size: number): Float64Array {
    return this.reuse ? this.space.column(`by ${channel}`, size) : new Float64Array(size);
  }

  private whole(objective: Objective, input: ObjectiveInput): void {
    const { loss, gradients, ...about } = objective.loss(input);
    this.loss += loss;
    this.gradients.take(gradients);
    this.about = about;
  }

  private inStretches(running: RunningLoss | undefined, kl: KlLoss, ready: Prepared): void {
    const { ground, space, gradients } = this;
    const scratch =
      (name: string) =>
      (size: number): Float64Array =>
        space.column(name, size);
    let own = 0;
    let klTerms = 0;
    for (const at of stretchesOf(ground.batch)) {
      const weights = columnOn(ready.weights, at, scratch("weights"));
      const size = weights.length;
      const alike = alikeOn(ready, at);
      const place = space.column("counted", size);
      const counted =
        alike === undefined
          ? factorsInto(place, weights, ready.byRow, ground.batch, at)
          : spreadInto(place, alike, ground.batch, at);
      const seen = { ...cut(ground, at), weights };
      const gradientOf = (channel: Channel): Float64Array => gradients.on(channel, at);
      if (running !== undefined) {
        const factors = movedOf(counted, ready, at.from, space.column("moved", size));
        const advantages = columnOn(ground.advantages, at, scratch("advantages"));
        own += running.add({ ...seen, factors, advantages, gradientOf, ...(alike && { alike }) });
      }
      klTerms += kl.add({ ...seen, at, counted }, gradientOf);
    }
    this.loss += own + klTerms;
  }
}

/** Factors of the stretch's rows, where each is that of all the row's tokens, and all of them train. */
function alikeOn(
  { weights, byRow, kept, correction }: Prepared,
  { first, last }: Stretch,
): Float64Array | undefined {
  if (!(weights instanceof PerRow) || kept !== undefined || correction !== undefined) return undefined;
  const factors = new Float64Array(last - first);
  for (let row = first; row < last; row++) {
    const weight = weights.rows[row]!;
    if (weight === 0 || Number.isNaN(weight)) return undefined;
    factors[row - first] = weight * byRow[row]!;
  }
  return factors;
}

/** What an objective sees of all rows; columns of tokens are made where it looks at them. */
function wholeInput(
  ground: Ground,
  ready: Prepared,
  space: Space,
  cleared: (channel: Channel, size: number) => Float64Array,
): ObjectiveInput {
  const size = ground.batch.tokens.length;
  const made = new Map<string, Float64Array>();
  const once = (name: string, make: () => Float64Array): Float64Array => {
    const column = made.get(name) ?? make();
    made.set(name, column);
    return column;
  };
  const column = (name: string, of: TokenColumn): Float64Array =>
    once(name, () => columnOn(of, everything(ground.batch), () => space.column(name, size)));
  return {
    ...ground,
    get advantages() {
      return column("all advantages", ground.advantages);
    },
    get weights() {
      return column("all weights", ready.weights);
    },
    get factors() {
      return once("factors", () => wholeFactors(ground, ready, space.column("factors", size)));
    },
    get gradient() {
      return once("gradient", () => cleared("logp", size));
    },
  };
}
