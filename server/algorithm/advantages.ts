/** From combined rewards to an advantage per token. */
import { UserError } from "../../shared/errors.ts";
import type { AdvantageBaseline, AdvantageScale } from "../config/declaration.ts";
import type { CreateContext, StageBody } from "../config/resolved.ts";
import type { Batch, Clock, Combined, KlTerm, Stats } from "../seams.ts";
import { create } from "./create.ts";

export interface Advantages {
  /** Per token; 0 where the row has none. */
  readonly tokens: Float64Array;
  /** Per row; NaN where the row has none: it does not train. */
  readonly rows: Float64Array;
  /** Per token: 1 where an advantage exists. */
  readonly exists: Uint8Array;
}

/** Rows of each group that have a reward. */
function groupsWithRewards(totals: Float64Array, batch: Batch): { readonly rows: readonly Int32Array[] } {
  const rows: number[][] = Array.from({ length: batch.groups }, () => []);
  totals.forEach((total, row) => {
    if (!Number.isNaN(total)) rows[batch.group[row]!]!.push(row);
  });
  return { rows: rows.map((list) => Int32Array.from(list)) };
}

/** The log-probs that a KL penalty on the reward compares: behaviour against another model. */
function penaltyColumns(
  stats: Stats,
  { model }: KlTerm,
): { readonly own: Float64Array; readonly other: Float64Array } {
  const [own, other] = [stats.logp, stats[`logp:${model}`]];
  if (own === undefined || other === undefined) {
    throw new UserError(
      `the KL penalty on the reward needs the log-probs of ${own === undefined ? "the policy that generated" : `model "${model}"`}`,
      {
        code: "kl-columns",
        action:
          own === undefined
            ? "Record logp_old with the rollouts."
            : "Record logp_ref with the rollouts, or set `kl: []`.",
      },
    );
  }
  return { own, other };
}

/** Broadcasts row advantages to the tokens of their rows. */
function broadcast(rows: Float64Array, batch: Batch): Advantages {
  const tokens = new Float64Array(batch.tokens.length);
  const exists = new Uint8Array(batch.tokens.length);
  for (let row = 0; row < batch.rows; row++) {
    if (Number.isNaN(rows[row]!)) continue;
    tokens.fill(rows[row]!, batch.offsets[row]!, batch.offsets[row + 1]!);
    exists.fill(1, batch.offsets[row]!, batch.offsets[row + 1]!);
  }
  return { tokens, rows, exists };
}

export class AdvantageChain {
  /** The config takes recorded advantages as they are. */
  readonly given: boolean;
  private readonly baseline: AdvantageBaseline;
  private readonly scale: AdvantageScale;

  constructor(
    config: StageBody["advantage"],
    private readonly penalties: readonly KlTerm[],
    context: CreateContext,
  ) {
    this.given = config.baseline.declaration.name === "given";
    this.baseline = create(config.baseline, context);
    this.scale = create(config.scale, context);
  }

  /**
   * A penalty in the reward is a source at token level: over a whole response it is the sum over the trained tokens,
   * taken off before the baseline. `stats` holds the columns of generation: `logp`, `logp:<model>`.
   */
  advantages({ total, errored }: Combined, batch: Batch, stats: Stats, clock: Clock): Advantages {
    const totals = total.map((value, row) => (errored[row] === 1 ? Number.NaN : value));
    for (const penalty of this.penalties) this.penalise(totals, penalty, batch, stats, clock);
    const groups = groupsWithRewards(totals, batch);
    return broadcast(this.scale(this.baseline(totals, groups), totals, groups), batch);
  }

  /** Recorded advantages per token, NaN where none exists. */
  recorded(values: Float64Array, batch: Batch): Advantages {
    const exists = Uint8Array.from(values, (value) => (Number.isNaN(value) ? 0 : 1));
    const rows = Float64Array.from({ length: batch.rows }, (_, row) => {
      const known = values
        .subarray(batch.offsets[row]!, batch.offsets[row + 1]!)
        .filter((value) => !Number.isNaN(value));
      return known.length === 0 ? Number.NaN : known.reduce((sum, value) => sum + value, 0) / known.length;
    });
    return { tokens: values.map((value) => (Number.isNaN(value) ? 0 : value)), rows, exists };
  }

  private penalise(totals: Float64Array, penalty: KlTerm, batch: Batch, stats: Stats, clock: Clock): void {
    const coefficient = penalty.coefficient(clock);
    if (coefficient === 0) return;
    const { own, other } = penaltyColumns(stats, penalty);
    for (let row = 0; row < batch.rows; row++) {
      let sum = 0;
      for (let i = batch.offsets[row]!; i < batch.offsets[row + 1]!; i++)
        if (batch.mask[i] === 1) sum += penalty.estimator.value(own[i]!, other[i]!);
      totals[row]! -= coefficient * sum;
    }
  }
}
