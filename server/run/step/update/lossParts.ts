/** Losses on rows of their own that share one optimiser step. */
import { joinBatches } from "../../../core/rows/joinBatches.ts";
import { selectTokens } from "../../../core/rows/batch.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { Channel, Stats, Weigh, Weighed } from "../../../core/policy.ts";

export interface LossPart {
  /** What metrics call it. */
  readonly name: string;
  readonly batch: Batch;
  readonly channels: readonly Channel[];
  readonly weigh: Weigh;
  /** Factor on its loss and gradients. */
  readonly weight: number;
}

const entriesOf = (columns: Stats): [Channel, Float64Array][] =>
  Object.entries(columns).filter((entry): entry is [Channel, Float64Array] => entry[1] !== undefined);

const names = (parts: readonly LossPart[]): string[] =>
  parts.flatMap(({ batch }, part) => [...batch.group].map((group) => `${part}/${group}`));

/**
 * L = Σ_k weight_k · L_k, each part seeing its own rows only, so that its normaliser is its own. One part of weight 1
 * is itself.
 */
export function joinedLoss(parts: readonly LossPart[]): Pick<LossPart, "batch" | "channels" | "weigh"> {
  const [first] = parts;
  if (first !== undefined && parts.length === 1 && first.weight === 1) return first;
  const batch = joinBatches(
    parts.map((part) => part.batch),
    names(parts),
  );
  return {
    batch,
    channels: [...new Set(parts.flatMap(({ channels }) => channels))],
    weigh: (now) => weighAll(parts, now, batch),
  };
}

function weighAll(parts: readonly LossPart[], now: Stats, whole: Batch): Weighed {
  const gradients: Partial<Record<Channel, Float64Array>> = {};
  const metrics: Record<string, number> = {};
  let [loss, row, token] = [0, 0, 0];
  for (const { name, batch, weigh, weight } of parts) {
    const rows = Array.from({ length: batch.rows }, (_, i) => row + i);
    const own = entriesOf(now).map(([channel, values]) => [channel, selectTokens(values, whole, rows)]);
    const weighed = weigh(Object.fromEntries(own), batch);
    loss += weight * weighed.loss;
    for (const [channel, values] of entriesOf(weighed.gradients)) {
      const into = (gradients[channel] ??= new Float64Array(whole.tokens.length));
      for (let i = 0; i < values.length; i++) into[token + i] = weight * values[i]!;
    }
    if (name === "policy") Object.assign(metrics, weighed.metrics);
    metrics[`loss/${name}`] = weighed.loss;
    row += batch.rows;
    token += batch.tokens.length;
  }
  return { loss, gradients, metrics };
}
