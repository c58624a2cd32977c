/** The policy: its adapter. The path itself is the project's. */
import type { RunConfig } from "../../../../core/config/runConfig.ts";
import { matrices } from "../../../carried/matrices.ts";
import type { SkyrlDraft } from "./draft.ts";
import { engine, policy } from "./keys.ts";

export function model(
  { model: { adapter, heads = [], base } }: RunConfig,
  estimator: string,
  draft: SkyrlDraft,
): void {
  if (estimator !== "gae")
    for (const { name } of heads)
      draft.miss("model.value_heads", name, "SkyRL trains no head on the policy.");
  // Heads as narrow as a small model's are none that flash attention has.
  if (base === "tiny") {
    draft.set("trainer.flash_attn", false);
    draft.set("trainer.remove_microbatch_padding", false);
    draft.set(`${engine}.model_dtype`, "float32");
  }
  if (adapter === undefined) return;
  const section = `${policy}.model.lora`;
  draft.set(`${section}.rank`, adapter.rank);
  draft.set(`${section}.alpha`, adapter.alpha);
  draft.set(`${section}.dropout`, adapter.dropout);
  draft.set(
    `${section}.target_modules`,
    adapter.targets.map((target) => matrices[target]),
  );
}
