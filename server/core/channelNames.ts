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

/** How a channel compares the policy's whole distribution of a token with another model's. */
export interface Divergence {
  readonly model: Model;
  /** A direction of the Kullback–Leibler divergence, or β of the generalised Jensen–Shannon divergence. */
  readonly of: "forward" | "reverse" | number;
  /** Among so many words that the other model finds likeliest; undefined: all. */
  readonly top: number | undefined;
  /** Divides the logits of both. */
  readonly temperature: number;
}

export function divergenceChannel({ model, of, top, temperature }: Divergence): Channel {
  const channel: Channel = typeof of === "number" ? `jsd:${model}:${of}` : `kl:${model}:${of}`;
  const among: Channel = top === undefined ? channel : `${channel}:${top}`;
  return temperature === 1 ? among : `${among}:t${temperature}`;
}

/** The parts of a divergence's name; undefined for another channel. */
export function divergenceOf(channel: Channel): Divergence | undefined {
  const found =
    /^(?:kl:(?<kl>.+?):(?<direction>forward|reverse)|jsd:(?<jsd>.+?):(?<beta>[\de.-]+))(?::(?<top>[1-9]\d*))?(?::t(?<temperature>[\de.-]+))?$/.exec(
      channel,
    )?.groups;
  if (found === undefined) return undefined;
  const model = found["kl"] ?? found["jsd"] ?? "";
  const of =
    found["direction"] === "forward" || found["direction"] === "reverse"
      ? found["direction"]
      : Number(found["beta"]);
  const temperature = Number(found["temperature"] ?? 1);
  const isShare = typeof of !== "number" || (of > 0 && of < 1);
  if (!isShare || !(temperature > 0)) return undefined;
  return { model, of, top: found["top"] === undefined ? undefined : Number(found["top"]), temperature };
}

/** The model that a channel compares word by word; undefined: it is of the model alone. */
export const comparedModel = (channel: Channel): Model | undefined =>
  divergenceOf(channel)?.model ?? /^greedy:(.+)$/.exec(channel)?.[1];

/** Every model that an objective reads in addition to the one that it trains. */
export const modelsOf = ({ models = [], needs, channels }: Objective): Model[] => [
  ...new Set([
    ...models,
    ...(needs?.normalizers ?? []),
    ...(needs?.heads ?? []).map(({ model }) => model),
    ...channels.flatMap((channel) => comparedModel(channel) ?? []),
  ]),
];
