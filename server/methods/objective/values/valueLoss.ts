/** Runs a loss of a value head that looks at one token at a time: what the head says, against the returns. */
import { inParts } from "../../../core/rows/batchParts.ts";
import type { Level } from "../../../core/basics.ts";
import type { Objective, LossSlice } from "../../../core/loss.ts";
import { column } from "../column.ts";
import { checkLoss } from "../finite.ts";
import { returnsOf } from "./tokenRewards.ts";
import { headChannel, stateFactors } from "./valueParams.ts";

/** Columns of a part's tokens. */
export interface ValueColumns {
  readonly weights: Float64Array;
  readonly factors: Float64Array;
  readonly now: Float64Array;
  /** Values as they were when the advantages were computed; where unknown, the current ones. */
  readonly before: Float64Array;
  readonly returns: Float64Array;
  /** Where the derivative by the value is written: all 0. */
  readonly gradient: Float64Array;
}

/** A method on one batch. */
export interface ValueMethod {
  /** The loss of a row, tokens [from, to) of the part, factors included; tokens of weight 0 are skipped. */
  loss(columns: ValueColumns, from: number, to: number): number;
  /** The same of a row whose tokens all train, with one factor. */
  alike?(columns: ValueColumns, factor: number, from: number, to: number): number;
  metrics?(): Readonly<Record<string, number>>;
}

/** A part as its states see it: a token that no state's value is taken at has no weight. */
function ofStates(part: LossSlice, level: Level): LossSlice {
  if (level === "token") return part;
  const factors = stateFactors(part, level);
  const { alike: _, ...rest } = part;
  return { ...rest, factors, weights: factors };
}

const earlier = ({ old, batch }: LossSlice, head: string): Float64Array | undefined =>
  old[headChannel(head)] ?? (head === "value" ? batch.columns.values : undefined);

/**
 * @param gamma discount of rewards to come, where no returns are known
 * @param level which states have a value
 */
export function valueLoss(
  { head, gamma, level }: { readonly head: string; readonly gamma: number; readonly level: Level },
  method: () => ValueMethod,
): Objective {
  const channel = headChannel(head);
  return inParts({ channels: [channel], unit: "sequence" }, (whole) => {
    const returnsOn = returnsOf(whole, gamma);
    const { loss, alike: lossAlike, metrics } = method();
    return {
      add(part) {
        const { weights, factors, alike } = ofStates(part, level);
        const now = column(part.now, channel, "the value loss");
        const [before, returns] = [earlier(part, head) ?? now, returnsOn(part)];
        const columns = { weights, factors, now, before, returns, gradient: part.gradientOf(channel) };
        const { rows, offsets } = part.batch;
        let total = 0;
        for (let row = 0; row < rows; row++) {
          const [start, end] = [offsets[row]!, offsets[row + 1]!];
          total +=
            alike === undefined || lossAlike === undefined
              ? loss(columns, start, end)
              : lossAlike(columns, alike[row]!, start, end);
        }
        checkLoss(total, part, { [`the value of head ${head}`]: now, "the return": returns });
        return total;
      },
      result: () => ({ metrics: metrics?.() ?? {} }),
    };
  });
}
