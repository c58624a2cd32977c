/** The mask slot: what is left out of the batch as it was generated, and what of the loss by the weights as they are now. */
import type { Choice, CreateContext } from "../config/resolved.ts";
import {
  origin,
  type Batch,
  type BatchMask,
  type Channel,
  type LossMask,
  type ObjectiveInput,
  type Stats,
} from "../seams.ts";
import { create } from "./create.ts";

interface Named<Mask> {
  /** What a report calls it: `mask: <method>`, numbered where a config has one twice. */
  readonly name: string;
  readonly mask: Mask;
}

/** What the masks of the loss leave of it. */
export interface LossMasked {
  /** Weights that the normaliser counts. */
  readonly weights: Float64Array;
  /** Per token: 0 where the objective does not move it though the normaliser counts it; undefined: nowhere. */
  readonly kept: Uint8Array | undefined;
  readonly touched: Readonly<Record<string, Uint8Array>>;
}

function namesOf(choices: readonly Choice<"mask">[]): string[] {
  const seen = new Map<string, number>();
  return choices.map(({ declaration: { name } }) => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? `mask: ${name}` : `mask: ${name} (${count})`;
  });
}

export class MaskChain {
  private readonly ofBatch: readonly Named<BatchMask>[];
  private readonly ofLoss: readonly Named<LossMask>[];

  constructor(choices: readonly Choice<"mask">[], context: CreateContext) {
    const names = namesOf(choices);
    const made = choices.map((choice, i) => ({ name: names[i]!, mask: create(choice, context) }));
    this.ofBatch = made.flatMap(({ name, mask }) => (typeof mask === "function" ? [{ name, mask }] : []));
    this.ofLoss = made.flatMap(({ name, mask }) => (typeof mask === "function" ? [] : [{ name, mask }]));
  }

  /** Channels that the masks of the loss look at. */
  get channels(): Channel[] {
    return this.ofLoss.flatMap(({ mask }) => [...mask.channels]);
  }

  /** The batch with what is left of its mask. Tokens that were observed never train. */
  masked(batch: Batch, stats: Stats): Batch {
    return this.ofBatch.reduce(
      (now, { mask }) => unobserved({ ...now, mask: mask(now, stats) }),
      unobserved(batch),
    );
  }

  /** Tokens that each mask of the batch took away, by its name: what `explain` says. */
  takenFrom(batch: Batch, stats: Stats): Record<string, Uint8Array> {
    const taken: Record<string, Uint8Array> = {};
    let now = unobserved(batch);
    for (const { name, mask } of this.ofBatch) {
      const next = unobserved({ ...now, mask: mask(now, stats) });
      taken[name] = now.mask.map((before, i) => (before === 1 && next.mask[i] === 0 ? 1 : 0));
      now = next;
    }
    return taken;
  }

  ofTheLoss(input: Pick<ObjectiveInput, "batch" | "now" | "old" | "advantages" | "weights">): LossMasked {
    let weights = input.weights;
    let kept: Uint8Array | undefined;
    const touched: Record<string, Uint8Array> = {};
    for (const { name, mask } of this.ofLoss) {
      const keep = mask.keep({ ...input, weights });
      touched[name] = keep.map((one, i) => (one === 0 && weights[i] !== 0 ? 1 : 0));
      if (!mask.counted) weights = weights.map((weight, i) => (keep[i] === 1 ? weight : 0));
      else kept = kept === undefined ? keep : kept.map((one, i) => one & keep[i]!);
    }
    return { weights, kept, touched };
  }
}

const unobserved = (batch: Batch): Batch =>
  batch.origin.includes(origin.observed)
    ? { ...batch, mask: batch.mask.map((kept, i) => (batch.origin[i] === origin.observed ? 0 : kept)) }
    : batch;
