/** What an entry of `kl` asks for. */
import type { KlConfig } from "./resolved.ts";

/** Whether it compares whole distributions, not log-probs of the sampled tokens. */
export const comparesWhole = ({ estimator }: Pick<KlConfig, "estimator">): boolean =>
  ["full", "jsd"].includes(estimator.declaration.name);
