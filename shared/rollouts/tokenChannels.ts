/** Quantities of each token that a rollout may be coloured by: one entry a channel. */

/** surprise: the lower, the stronger; amount: the higher, the stronger; signed: both ways from 0. */
type Kind = "surprise" | "amount" | "signed";

interface ChannelFacts {
  readonly label: string;
  readonly kind: Kind;
  /** With whose weights it was computed. */
  readonly meaning: string;
}

export const tokenChannels = {
  logp: {
    label: "log-prob",
    kind: "surprise",
    meaning: "sampler's log-prob when the token was generated, at temperature 1",
  },
  trainer_logp: {
    label: "trainer's log-prob",
    kind: "surprise",
    meaning: "trainer's log-prob before the step's updates",
  },
  entropy: { label: "entropy", kind: "amount", meaning: "entropy of the sampler at the token, in nats" },
  ratio: {
    label: "log ratio",
    kind: "signed",
    meaning: "trainer's log-prob after the step's updates minus the one before: log of the importance ratio",
  },
  advantage: { label: "advantage", kind: "signed", meaning: "advantage that the token trained with" },
  mismatch: {
    label: "mismatch",
    kind: "signed",
    meaning: "trainer's log-prob minus the sampler's, by the same weights",
  },
  reference: {
    label: "divergence from the reference",
    kind: "signed",
    meaning: "sampler's log-prob minus the reference's",
  },
  value: { label: "critic value", kind: "signed", meaning: "what the critic expects before the token" },
} as const satisfies Readonly<Record<string, ChannelFacts>>;

export type TokenChannel = keyof typeof tokenChannels;
const isChannel = (name: string): name is TokenChannel => Object.hasOwn(tokenChannels, name);
export const tokenChannelNames: readonly TokenChannel[] = Object.keys(tokenChannels).filter(isChannel);
