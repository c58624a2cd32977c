import { changed } from "../fixes.ts";
import { found, policy, rollout, shortName, size, verlRule } from "../rule.ts";

/** vLLM's `MaxLoRARanks`. */
const most = 512;

export const loraRank = verlRule({
  id: "verl-lora-rank",
  title: "LoRA rank too large for vLLM",
  why: "`validate_config` calls `get_vllm_max_lora_rank` (verl/workers/rollout/vllm_rollout/utils.py): vLLM takes adapters up to rank 512, unless `lora.merge` merges them first.",
  check(model) {
    const key = [`${policy}.lora.rank`, `${policy}.lora_rank`].find((one) => (size(model, one) ?? 0) > 0);
    const rank = key === undefined ? undefined : size(model, key);
    if (key === undefined || rank === undefined || rank <= most) return [];
    if (model.text(`${rollout}.name`) !== "vllm" || model.flag(`${policy}.lora.merge`) === true) return [];
    const message = `\`${shortName(key)}\` ${rank} is more than ${most}, the largest that vLLM loads.`;
    return found(model, [key], message, { fixes: [changed(model, key, most)] });
  },
});
