/** What a lane has written so far: columns that grow. */
import type { Finish } from "../../core/basics.ts";
import type { PartialSample, Sample } from "../../core/policy.ts";

/** What is reported of one chosen token. */
export interface Chosen {
  readonly token: number;
  /** At T = 1, unfiltered. */
  readonly logp: number;
  /** Of the distribution that was drawn from. */
  readonly logpSampled: number;
  /** At T = 1, unfiltered. */
  readonly entropy: number;
}

const columnsOf = (size: number) => ({
  tokens: new Int32Array(size),
  logp_old: new Float64Array(size),
  logp_sampled: new Float64Array(size),
  entropy: new Float64Array(size),
  versions: new Int32Array(size),
});
type SampleColumns = ReturnType<typeof columnsOf>;

const FIRST_SIZE = 32;

export class ResponseColumns {
  count = 0;
  private columns: SampleColumns;

  /** Continues a generation that was paused. */
  constructor(partial?: PartialSample) {
    this.columns = columnsOf(Math.max(FIRST_SIZE, partial?.tokens.length ?? 0));
    if (partial !== undefined) this.copy(partial, partial.tokens.length);
  }
  private copy(from: Omit<PartialSample, "index">, count: number): void {
    const { tokens, logp_old, logp_sampled, entropy, versions } = this.columns;
    tokens.set(from.tokens.subarray(0, count));
    logp_old.set(from.logp_old.subarray(0, count));
    logp_sampled.set(from.logp_sampled.subarray(0, count));
    entropy.set(from.entropy.subarray(0, count));
    versions.set(from.versions.subarray(0, count));
    this.count = count;
  }
  push({ token, logp, logpSampled, entropy }: Chosen, version: number): void {
    if (this.count === this.columns.tokens.length) {
      const before = this.columns;
      this.columns = columnsOf(2 * this.count);
      this.copy(before, this.count);
    }
    const { columns, count } = this;
    columns.tokens[count] = token;
    columns.logp_old[count] = logp;
    columns.logp_sampled[count] = logpSampled;
    columns.entropy[count] = entropy;
    columns.versions[count] = version;
    this.count += 1;
  }
  get last(): number | undefined {
    return this.count === 0 ? undefined : this.columns.tokens[this.count - 1];
  }
  /** The last `n` tokens, or as many as there are. */
  tail(n: number): Int32Array {
    return this.columns.tokens.subarray(Math.max(0, this.count - n), this.count);
  }
  partial(index: number): PartialSample {
    const { columns, count } = this;
    return {
      index,
      tokens: columns.tokens.slice(0, count),
      logp_old: columns.logp_old.slice(0, count),
      logp_sampled: columns.logp_sampled.slice(0, count),
      entropy: columns.entropy.slice(0, count),
      versions: columns.versions.slice(0, count),
    };
  }
  sample(index: number, finish: Finish): Sample {
    return { ...this.partial(index), finish };
  }
}
