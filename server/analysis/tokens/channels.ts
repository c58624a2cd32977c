/** Channels of a rollout's tokens, from the columns that its log has. */
import type { RolloutRecordLog } from "../../../shared/log/records.ts";
import type { LogColumn } from "../../../shared/rollouts/columns.ts";
import { origin } from "../../../shared/rollouts/fields.ts";
import { tokenChannelNames, type TokenChannel } from "../../../shared/rollouts/tokenChannels.ts";

type Columns = RolloutRecordLog["columns"];
type Numbers = ArrayLike<number>;

export interface Channel {
  readonly channel: TokenChannel;
  readonly values: Float32Array;
  readonly low: number;
  readonly high: number;
  readonly count: number;
}

const difference = (a: Numbers | undefined, b: Numbers | undefined): Float32Array | undefined =>
  a === undefined || b === undefined ? undefined : Float32Array.from(a, (value, i) => value - b[i]!);
const plain =
  (name: LogColumn) =>
  (columns: Columns): Float32Array | undefined =>
    columns[name] && Float32Array.from(columns[name]);

const computed: Readonly<Record<TokenChannel, (columns: Columns) => Float32Array | undefined>> = {
  logp: plain("logp_old"),
  trainer_logp: plain("logp_proximal"),
  entropy: plain("entropy"),
  ratio: ({ logp_new, logp_proximal, logp_old }) => difference(logp_new, logp_proximal ?? logp_old),
  advantage: plain("advantages"),
  mismatch: ({ logp_proximal, logp_old }) => difference(logp_proximal, logp_old),
  reference: ({ logp_old, logp_ref }) => difference(logp_old, logp_ref),
  value: plain("values"),
};

/** Of the value at this share of the way through what is sorted. */
const at = (sorted: Float32Array, share: number): number => sorted[Math.round((sorted.length - 1) * share)]!;

/** Those with a value on some token that the policy generated. */
export function channelsOf(columns: Columns): Channel[] {
  const origins = columns.origin;
  return tokenChannelNames.flatMap((channel) => {
    const values = computed[channel](columns);
    if (values === undefined) return [];
    const own = values
      .filter((value, i) => Number.isFinite(value) && (origins?.[i] ?? origin.written) === origin.written)
      .sort();
    return own.length === 0
      ? []
      : [{ channel, values, low: at(own, 0.01), high: at(own, 0.99), count: own.length }];
  });
}
