/** Channels by what they are of, and what they name. */
import type { Model } from "./basics.ts";
import type { Channel } from "./policy.ts";
import type { Objective } from "./loss.ts";

export const headChannel = (name: string): Channel => `head:${name}`;
/** Log-prob of the token under the softmax of a head with a value for every word. */
export const headLogpChannel = (name: string): Channel => `head:${name}:logp`;

/** The head of a model that a channel reads, and whether it has to have a value for every word; undefined: none. */
export function headOf(channel: Channel): { readonly name: string; readonly words: boolean } | undefined {
  const [kind, name = "", of] = channel.split(":");
  return kind === "head" && name !== "" ? { name, words: of === "logp" } : undefined;
}

/** The model that a channel compares word by word; undefined: it is of the model alone. */
export const comparedModel = (channel: Channel): Model | undefined =>
  /^kl:(.+?):(?:forward|reverse)(?::\d+)?$/.exec(channel)?.[1] ?? /^greedy:(.+)$/.exec(channel)?.[1];

/** Every model that an objective reads in addition to the one that it trains. */
export const modelsOf = ({ models = [], needs, channels }: Objective): Model[] => [
  ...new Set([
    ...models,
    ...(needs?.normalizers ?? []),
    ...(needs?.heads ?? []).map(({ model }) => model),
    ...channels.flatMap((channel) => comparedModel(channel) ?? []),
  ]),
];
