/** The mask slot: what is left out of the batch as it was generated, and what of the loss by the weights as they are now. */
import type { Choice, CreateContext } from "../../core/declaration.ts";
import { origin, type Batch } from "../../core/rollouts.ts";
import type { Channel, Stats } from "../../core/policy.ts";
import type { BatchMask, LossMask, ObjectiveInput } from "../../core/loss.ts";
import { hasByte } from "../../lib/slices.ts";
import { choicesOf, hasChoices } from "../../core/rows/choices.ts";
import { create } from "../../core/create.ts";

interface NamedMask<Mask> {
  /** What a report calls it: `mask: <method>`, numbered where a config has one twice. */
  readonly name: string;
  readonly mask: Mask;
}

/** What the masks of the loss leave of it. */
interface LossMasked {
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
  private readonly ofBatch: readonly NamedMask<BatchMask>[];
  private readonly ofLoss: readonly NamedMask<LossMask>[];

  constructor(choices: readonly Choice<"mask">[], context: CreateContext) {
    const names = namesOf(choices);
    const made = choices.map((choice, i) => ({ name: names[i]!, mask: create(choice, context) }));
    this.ofBatch = made.flatMap(({ name, mask }) => (typeof mask === "function" ? [{ name, mask }] : []));
    this.ofLoss = made.flatMap(({ name, mask }) => (typeof mask === "function" ? [] : [{ name, mask }]));
  }

  get noneOfTheLoss(): boolean {
    return this.ofLoss.length === 0;
  }

  /** Channels that the masks of the loss look at. */
  get channels(): Channel[] {
    return this.ofLoss.flatMap(({ mask }) => [...mask.channels]);
  }

  /** The batch with what is left of its mask. Tokens that were observed never train. */
  masked(batch: Batch, stats: Stats): Batch {
    return unobserved(this.ofBatch.reduce((now, { mask }) => ({ ...now, mask: mask(now, stats) }), batch));
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
      touched[name] = takenBy(keep, weights);
      if (!mask.counted) weights = onlyWhere(weights, keep);
      else kept = bothKept(kept, keep);
    }
    return { weights, kept, touched };
  }
}

/**
 * The batch itself where nothing was observed. An episode that failed has nothing to learn from either, and a turn that was
 * drawn among actions is one choice, which trains at its first token.
 */
function unobserved(batch: Batch): Batch {
  const failed = batch.records.some((record) => record.failed !== undefined);
  if (!failed && !hasByte(batch.origin, origin.observed) && !hasChoices(batch)) return batch;
  const mask = batch.mask.slice();
  for (const { first, end } of choicesOf(batch)) mask.fill(0, first + 1, end);
  batch.records.forEach((record, row) => {
    if (record.failed !== undefined) mask.fill(0, batch.offsets[row], batch.offsets[row + 1]);
  });
  for (let i = 0; i < mask.length; i++) if (batch.origin[i] === origin.observed) mask[i] = 0;
  return { ...batch, mask };
}

/** 1 where a token with a weight is not kept. */
function takenBy(keep: Uint8Array, weights: Float64Array): Uint8Array {
  const taken = new Uint8Array(keep.length);
  for (let i = 0; i < keep.length; i++) if (keep[i] === 0 && weights[i] !== 0) taken[i] = 1;
  return taken;
}

/** The values where `keep` is not 0, else 0. */
function onlyWhere(weights: Float64Array, keep: Uint8Array): Float64Array {
  const left = weights.slice();
  for (let i = 0; i < left.length; i++) if (keep[i] === 0) left[i] = 0;
  return left;
}

/** 1 where both are; undefined: 1 everywhere. */
export function bothKept(one: Uint8Array | undefined, other: Uint8Array): Uint8Array {
  if (one === undefined) return other;
  const result = one.slice();
  for (let i = 0; i < result.length; i++) if (other[i] === 0) result[i] = 0;
  return result;
}
