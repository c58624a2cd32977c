/** The policy: its adapter, and what its place says of its numbers. The path itself is the project's. */
import type { RunConfig } from "../../../../core/config/runConfig.ts";
import { matrices } from "../../../carried/matrices.ts";
import type { TrlDraft } from "./draft.ts";

export function model({ model: { adapter, heads = [], base } }: RunConfig, draft: TrlDraft): void {
  for (const { name } of heads)
    draft.miss("model.value_heads", name, "TRL's GRPO trains no head besides the language model's.");
  // As the engine of Gradus computes, so that both begin with the same numbers.
  if (base === "tiny") {
    draft.set("bf16", false);
    draft.set("dtype", "float32");
  }
  if (adapter === undefined) return;
  draft.set("use_peft", true);
  draft.set("lora_r", adapter.rank);
  draft.set("lora_alpha", adapter.alpha);
  draft.set("lora_dropout", adapter.dropout);
  draft.set(
    "lora_target_modules",
    adapter.targets.map((target) => matrices[target]),
  );
}
