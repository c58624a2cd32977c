/** What a run recorded of each token of a rollout. */
import { z } from "zod";
import type { TokenChannel } from "../rollouts/tokenChannels.ts";
import { request } from "./descriptor.ts";
import { run } from "./parameters.ts";

/** One quantity of the tokens [from, to). */
export interface ChannelValues {
  readonly channel: TokenChannel;
  /** Base64 of little-endian float32, one a token; NaN where a token has no value. */
  readonly values: string;
  /** The 1st and the 99th percentile over all tokens that the policy generated and that have a value. */
  readonly low: number;
  readonly high: number;
  /** How many these are. */
  readonly count: number;
}
export interface RolloutTokens {
  /** Tokens of the rollout; 0: its log has none. */
  readonly total: number;
  readonly from: number;
  readonly to: number;
  /** Base64 of little-endian int32. */
  readonly ids: string;
  /**
   * UTF-16 units of `response` [start, end) that a token wrote, as base64 of little-endian int32. Tokens that write parts
   * of one character have the same; what has no text is empty. Both are empty texts where `reason` is not null.
   */
  readonly starts: string;
  readonly ends: string;
  /** Why tokens have no place in the response; null: they have. */
  readonly reason: string | null;
  /** Base64 of a byte a token: 0 the policy generated it, 1 it was prefilled, 2 the environment said it. */
  readonly origin: string;
  /** Base64 of a byte a token: 1 where it trains. */
  readonly mask: string;
  /** Those that the log has. */
  readonly channels: readonly ChannelValues[];
}

/** Ids, places and channels of a rollout's tokens, all or a range of them. Tokens are read as recorded: no text is tokenised again. */
export const rolloutsTokens = request<RolloutTokens>()(
  "gradus/rollouts/tokens",
  run.extend({
    step: z.number().int(),
    group: z.string(),
    index: z.number().int(),
    from: z.number().int().nonnegative().default(0),
    to: z.number().int().nonnegative().optional(),
  }),
);
