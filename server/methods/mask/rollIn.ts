import { z } from "zod";
import { mask, param } from "../../core/declaration.ts";
import { origin, type Batch } from "../../core/rollouts.ts";
import { bySpans } from "./rows.ts";

/** Where a row's roll-in ends: at its branch, else after the last token that was prefilled before one was generated. */
function endOfRollIn({ records, offsets, origin: origins }: Batch, row: number): number {
  const parent = records[row]!.parent;
  if (parent !== undefined) return parent.token;
  const [from, to] = [offsets[row]!, offsets[row + 1]!];
  let end = from;
  while (end < to && origins[end] === origin.given) end += 1;
  return end - from;
}

export const rollIn = mask({
  name: "roll_in",
  summary:
    "Trains what comes after or before a rollout's roll-in: the prefix from a guide, or its parent's tokens up to the branch. With `after` the policy finishes what a guide began (PPO++); with `before` a guide finishes what the policy began (AggreVaTeD).",
  sources: ["Learning to Generate Better Than Your LLM"],
  params: z.object({
    keep: param(z.enum(["after", "before"]).default("after"), "Which side of the roll-in's end trains."),
  }),
  create: ({ keep }) =>
    bySpans((batch, row) => [[0, endOfRollIn(batch, row)]], keep === "before" ? "inside" : "outside"),
});
