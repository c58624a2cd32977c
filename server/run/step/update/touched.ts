/** Which tokens the rules of a step's updates touched: what says afterwards why a token did not move. */
import type { Span } from "../../../../shared/rollouts/why.ts";
import { spansOf } from "../../../core/rows/tokenSpans.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { Weigh } from "../../../core/policy.ts";

export class Touched {
  /** By rule, over the tokens that train: 1 where some update's rule acted. */
  private readonly rules = new Map<string, Uint8Array>();

  constructor(private readonly batch: Batch) {}

  /** The same weighing, with what it says it touched kept: `rows` are the places of its rows in the batch, −1 for others. */
  watching(weigh: Weigh, rows: readonly number[]): Weigh {
    return (now, batch) => {
      const weighed = weigh(now, batch);
      for (const [rule, column] of Object.entries(weighed.touched ?? {})) this.add(rule, column, rows, batch);
      return weighed;
    };
  }

  private add(rule: string, column: Uint8Array, rows: readonly number[], part: Batch): void {
    if (!column.includes(1)) return;
    const { offsets, tokens } = this.batch;
    const known = this.rules.get(rule) ?? new Uint8Array(tokens.length);
    this.rules.set(rule, known);
    rows.forEach((row, at) => {
      if (row < 0) return;
      const [from, start] = [part.offsets[at]!, offsets[row]!];
      const length = part.offsets[at + 1]! - from;
      for (let i = 0; i < length; i++) if (column[from + i] === 1) known[start + i] = 1;
    });
  }

  /** By rule, the row's tokens [start, end); undefined where none was touched. */
  of(row: number): Readonly<Record<string, readonly Span[]>> | undefined {
    const [start, end] = [this.batch.offsets[row]!, this.batch.offsets[row + 1]!];
    const found = [...this.rules]
      .map(([rule, column]) => [rule, spansOf(start, end, (i) => column[i] === 1)] as const)
      .filter(([, spans]) => spans.length > 0);
    return found.length === 0 ? undefined : Object.fromEntries(found);
  }
}
