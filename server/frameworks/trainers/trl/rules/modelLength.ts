import { diagnosticAt } from "../../../rules/placed.ts";
import { trlRule } from "../trlRule.ts";

export const modelLength = trlRule({
  id: "trl-model-length",
  severity: "warning",
  title: "Completion does not fit into vLLM's context",
  why: "`vllm_max_model_length` bounds prompt and completion together in the engine that `vllm_mode: colocate` starts (`VLLMGeneration._init_vllm` in trl/generation/vllm_generation.py). TRL does not compare it with `max_completion_length`: completions end where the context ends, and a prompt as long as the context stops the run at the first generation.",
  check(model) {
    const [context, completion] = [
      model.number("vllm_max_model_length"),
      model.number("max_completion_length"),
    ];
    const colocated = model.flag("use_vllm") === true && model.text("vllm_mode") === "colocate";
    if (!colocated || context === undefined || completion === undefined || completion < context) return [];
    const left = context - completion;
    const message = `\`vllm_max_model_length\` is ${context} for prompt and completion together, and \`max_completion_length\` alone is ${completion}: ${context} − ${completion} leaves ${left} tokens for the prompt, so no completion can be that long.`;
    return diagnosticAt(model, ["vllm_max_model_length", "max_completion_length"], message);
  },
});
