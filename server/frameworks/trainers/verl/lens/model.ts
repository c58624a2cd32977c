/** The policy: its adapter. The path itself is the project's. */
import type { RunConfig } from "../../../../core/config/runConfig.ts";
import { matrices } from "../../../carried/matrices.ts";
import type { VerlDraft } from "./draft.ts";
import { actor, model as section, rollout } from "./keys.ts";

export function model(
  { model: { adapter, heads = [], base } }: RunConfig,
  estimator: string,
  draft: VerlDraft,
): void {
  if (estimator !== "gae")
    for (const { name } of heads) draft.miss("model.value_heads", name, "verl trains no head on the policy.");
  // As the engine of Gradus computes, so that both begin with the same numbers.
  if (base === "tiny") {
    draft.set(`${actor}.fsdp_config.dtype`, "float32");
    draft.set(`${rollout}.dtype`, "float32");
    draft.set(`${section}.override_config`, { attn_implementation: "sdpa" });
    draft.set(`${section}.use_remove_padding`, false);
  }
  if (adapter === undefined) return;
  draft.set(`${section}.lora_rank`, adapter.rank);
  draft.set(`${section}.lora_alpha`, adapter.alpha);
  draft.set(
    `${section}.target_modules`,
    adapter.targets.map((target) => matrices[target]),
  );
  // vLLM reads the base's weights once, and the adapter's at every step.
  draft.set(`${rollout}.load_format`, "safetensors");
  if (adapter.dropout > 0)
    draft.miss("model.adapter.dropout", adapter.dropout, "verl's adapter has no dropout under FSDP.");
}
