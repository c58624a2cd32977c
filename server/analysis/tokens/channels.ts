/** Channels of a rollout's tokens, from the columns that its log has. */
import type { RolloutRecordLog } from "../../../shared/log/records.ts";
import type { LogColumn } from "../../../shared/rollouts/columns.ts";
import { origin } from "../../../shared/rollouts/fields.ts";
import { tokenChannelNames, type TokenChannel } from "../../../shared/rollouts/tokenChannels.ts";
import { nthSmallest } from "../../lib/nthSmallest.ts";

type Columns = RolloutRecordLog["columns"];
type Numbers = ArrayLike<number>;

export interface Channel {
  readonly channel: TokenChannel;
  readonly values: Float32Array;
  readonly low: number;
  readonly high: number;
  readonly count: number;
}

/** Loops, not methods with a function for each number: a rollout may have 65,000 tokens and seven channels. */
function difference(a: Numbers | undefined, b: Numbers | undefined): Float32Array | undefined {
  if (a === undefined || b === undefined) return undefined;
  const values = new Float32Array(a.length);
  for (let i = 0; i < a.length; i++) values[i] = a[i]! - b[i]!;
  return values;
}
const plain =
  (name: LogColumn) =>
  (columns: Columns): Float32Array | undefined =>
    columns[name] && new Float32Array(columns[name]);

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

/** Values of the tokens that the policy generated. */
function ownOf(values: Float32Array, origins: Columns["origin"]): Float32Array {
  const own = new Float32Array(values.length);
  let count = 0;
  for (let i = 0; i < values.length; i++)
    if (Number.isFinite(values[i]) && (origins?.[i] ?? origin.written) === origin.written)
      own[count++] = values[i]!;
  return own.subarray(0, count);
}

/** Those with a value on some token that the policy generated. */
export function channelsOf(columns: Columns): Channel[] {
  return tokenChannelNames.flatMap((channel) => {
    const values = computed[channel](columns);
    if (values === undefined) return [];
    const own = ownOf(values, columns.origin);
    const count = own.length;
    const at = (share: number): number => nthSmallest(own, Math.round((count - 1) * share));
    return count === 0 ? [] : [{ channel, values, low: at(0.01), high: at(0.99), count }];
  });
}
