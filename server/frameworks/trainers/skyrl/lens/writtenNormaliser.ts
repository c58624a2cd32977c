/** How per-token losses become one number. SkyRL divides the advantages of an update by it beforehand. */
import type { StageBody } from "../../../../core/config/resolved.ts";
import { nameOf } from "../../../lens/exportDraft.ts";
import type { Batch } from "../../../lens/groupBatch.ts";
import type { SkyrlDraft } from "./draft.ts";
import { algorithm } from "./keys.ts";

const reductions: Readonly<Record<string, string>> = {
  token_mean: "token_mean",
  sequence_mean: "sequence_mean",
  sequence_sum_norm: "seq_mean_token_sum_norm",
  // The same, over a length of 1.
  sequence_sum: "seq_mean_token_sum_norm",
  token_budget: "seq_mean_token_sum_norm",
};

export function normaliser(
  { objective: { aggregate }, mask, rollout }: StageBody,
  { mini, group }: Batch,
  draft: SkyrlDraft,
): void {
  const name = nameOf(aggregate);
  const reduction = reductions[name];
  draft.set(`${algorithm}.loss_reduction`, reduction ?? "token_mean");
  if (reduction === undefined)
    draft.miss("objective.aggregate", name, "SkyRL has no such normaliser: it takes the mean over tokens.");
  const { budget, empty_rows: empty } = aggregate.params;
  if (empty === "skip" && mask.length > 0)
    draft.miss(
      "objective.aggregate.empty_rows",
      "skip",
      "SkyRL's mean counts responses without a token that trains.",
    );
  if (reduction !== "seq_mean_token_sum_norm") return;
  const length =
    name === "sequence_sum"
      ? 1
      : name === "token_budget"
        ? Number(budget) / (mini * group)
        : Number(budget ?? rollout.max_tokens);
  draft.set(`${algorithm}.max_seq_len`, Math.max(1, Math.round(length)));
  if (!Number.isInteger(length))
    draft.miss(
      "objective.aggregate.budget",
      budget,
      "SkyRL divides each response's sum by a whole number of tokens.",
    );
}
