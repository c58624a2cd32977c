/** What is added to lanes' logits before the temperature, as rows of one table: biases, early ends, grammars. */
import { UserError } from "../../../shared/lib/errors.ts";
import type { DecodeOptions, GrammarState } from "../../core/policy.ts";
import type { DeviceTensor, Runtime } from "../devices/runtime.ts";

/** Far below any logit, and finite: what is left out gets a probability of exactly 0 where anything else is left. */
const NEVER = -1e9;
/** The table starts again above this size, with what is wanted then. */
const TABLE_BYTES = 64 * 2 ** 20;

export const isAdjusted = ({ logit_bias, min_tokens = 0, grammar, logits_shift }: DecodeOptions): boolean =>
  (logit_bias?.size ?? 0) > 0 || min_tokens > 0 || grammar !== undefined || logits_shift !== undefined;

/** One row for every set of allowed tokens that a lane is in, before and after `min_tokens`. */
export class Adjustments {
  private readonly bias: Float32Array;
  private rows: Float32Array[] = [];
  private known = new Map<Uint8Array | null, [number | undefined, number | undefined]>();
  private uploaded: { readonly tensor: DeviceTensor; readonly rows: number } | undefined;

  constructor(
    private readonly runtime: Runtime,
    private readonly vocabulary: number,
    private readonly ends: readonly number[],
    decode: DecodeOptions,
  ) {
    this.bias = new Float32Array(vocabulary);
    for (const [token, value] of decode.logit_bias ?? []) {
      if (!(token >= 0 && token < vocabulary) || Number.isNaN(value))
        throw new UserError(`logit_bias of token ${token} is ${value}; the vocabulary has ${vocabulary}.`, {
          code: "logit-bias",
          action: "Give a number for a token of the vocabulary.",
        });
      this.bias[token] = Math.max(NEVER, Math.min(-NEVER, value));
    }
  }

  /** Makes room before the rows of a step's lanes are asked for, at most `lanes` of them. @param anew their rows serve this step alone */
  begin(lanes: number, anew: boolean): void {
    const most = Math.max(2 * lanes, Math.floor(TABLE_BYTES / (4 * this.vocabulary)));
    if (!anew && this.rows.length + lanes <= most) return;
    this.rows = [];
    this.known = new Map();
    this.free();
  }
  /** A lane's own row: that of `rowOf` and what is added to it. */
  shiftedRow(row: number, shift: Float32Array): number {
    const own = this.rows[row]!.slice();
    for (let token = 0; token < Math.min(own.length, shift.length); token++) own[token]! += shift[token]!;
    return this.rows.push(own) - 1;
  }
  /** The row of a lane in a grammar's state, which may or may not end now. */
  rowOf(state: GrammarState | undefined, mayEnd: boolean): number {
    const allowed = state?.allowed ?? null;
    const pair = this.known.get(allowed) ?? [undefined, undefined];
    const found = pair[mayEnd ? 1 : 0] ?? this.add(allowed, mayEnd);
    pair[mayEnd ? 1 : 0] = found;
    this.known.set(allowed, pair);
    return found;
  }
  private add(allowed: Uint8Array | null, mayEnd: boolean): number {
    const row = this.bias.slice();
    if (allowed !== null)
      for (let token = 0; token < row.length; token++) if (allowed[token] !== 1) row[token] = NEVER;
    if (allowed !== null && !row.some((value) => value !== NEVER)) throw deadEnd();
    // Where a grammar lets nothing but the end come, the end comes.
    if (!mayEnd && row.some((value, token) => value !== NEVER && !this.ends.includes(token)))
      for (const token of this.ends) row[token] = NEVER;
    return this.rows.push(row) - 1;
  }
  /** `[rows, vocabulary]`. */
  table(): DeviceTensor {
    if (this.uploaded?.rows === this.rows.length) return this.uploaded.tensor;
    this.free();
    const values = new Float32Array(this.rows.length * this.vocabulary);
    this.rows.forEach((row, index) => values.set(row, index * this.vocabulary));
    const tensor = this.runtime.upload(values, [this.rows.length, this.vocabulary]);
    this.uploaded = { tensor, rows: this.rows.length };
    return tensor;
  }
  free(): void {
    this.uploaded?.tensor.free();
    this.uploaded = undefined;
  }
}

const deadEnd = (): UserError =>
  new UserError("The grammar allows no token here, not even the end of the response.", {
    code: "grammar-dead-end",
    action: "Loosen the grammar, or use a tokenizer that can encode what it asks for.",
  });
