/** The policy: its adapter, and what its place says of its numbers. The path itself is the project's. */
import type { Target } from "../../../core/blocks/models.ts";
import type { RunConfig } from "../../../core/config/runConfig.ts";
import type { TrlDraft } from "./draft.ts";

/** As transformers calls the matrices of a layer. */
const modules: Readonly<Record<Target, string>> = {
  q: "q_proj",
  k: "k_proj",
  v: "v_proj",
  o: "o_proj",
  gate: "gate_proj",
  up: "up_proj",
  down: "down_proj",
};

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
    adapter.targets.map((target) => modules[target]),
  );
}
