/** The policy: what OpenRLHF cannot train of it. The path itself is the project's. */
import type { RunConfig } from "../../../../core/config/runConfig.ts";
import type { OpenRlhfDraft } from "./draft.ts";

export function model(
  { model: { adapter, heads = [], base } }: RunConfig,
  estimator: string,
  draft: OpenRlhfDraft,
): void {
  if (estimator !== "gae")
    for (const { name } of heads)
      draft.miss("model.value_heads", name, "OpenRLHF trains no head on the policy.");
  if (adapter !== undefined)
    // Its broadcast sends weights by the adapter's names, which vLLM's model does not have.
    draft.miss(
      "model.adapter",
      adapter,
      "OpenRLHF cannot hand an adapter to vLLM, which generates: all weights train.",
    );
  if (base !== "tiny") return;
  // Heads as small as these are none of flash attention's.
  draft.set("ds.attn_implementation", "sdpa");
  draft.miss(
    "model.base",
    base,
    "OpenRLHF computes in bfloat16, and Gradus in float32: the numbers of the first step differ.",
    "nothing-trained",
  );
}
