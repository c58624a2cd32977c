import { z } from "zod";
import { mask } from "../../core/declaration.ts";

export const stale = mask({
  name: "stale",
  summary:
    "Tokens written by weights more than so many updates old do not train. A token whose version is unknown trains.",
  formula: "mask_t = [version now − version_t ≤ max_lag]",
  sources: ["AReaL: A Large-Scale Asynchronous Reinforcement Learning System for Language Reasoning"],
  params: z.object({
    max_lag: z.number().int().nonnegative().describe("Updates that a token may be old."),
  }),
  create:
    ({ max_lag }) =>
    ({ mask: before, columns: { versions }, version }) =>
      versions === undefined || version === undefined
        ? before.slice()
        : before.map((kept, i) => (versions[i]! >= 0 && version - versions[i]! > max_lag ? 0 : kept)),
});
