import { setTo } from "../fixes.ts";
import { found, rollout, size, verlRule } from "../rule.ts";
import type { RuleDiagnostic, RuleModel } from "../../../rules/rule.ts";

const key = (name: string): string => `${rollout}.${name}`;
const [expert, tensor, data, moe, pipeline, engine] = [
  key("expert_parallel_size"),
  key("tensor_model_parallel_size"),
  key("data_parallel_size"),
  key("moe_tensor_parallel_size"),
  key("pipeline_model_parallel_size"),
  key("name"),
];

function experts(model: RuleModel, name: string): RuleDiagnostic[] {
  const [experts, tensors, copies] = [size(model, expert), size(model, tensor), size(model, data)];
  if (experts === undefined || experts === 1 || tensors === undefined || copies === undefined) return [];
  if (name === "trtllm") return withTensorRt(model, experts, tensors);
  if (experts === tensors * copies) return [];
  const message = `\`expert_parallel_size\` ${experts} is not \`tensor_model_parallel_size\` ${tensors} × \`data_parallel_size\` ${copies} = ${tensors * copies}, which ${name} requires.`;
  return found(model, [expert, tensor, data], message, {
    fixes: [setTo(model, expert, tensors * copies, `${tensors} × ${copies}`)],
  });
}

function withTensorRt(model: RuleModel, experts: number, tensors: number): RuleDiagnostic[] {
  const split = size(model, moe);
  if (split === undefined || split === 1 || split * experts === tensors) return [];
  const message = `\`moe_tensor_parallel_size\` ${split} × \`expert_parallel_size\` ${experts} = ${split * experts} is not \`tensor_model_parallel_size\` ${tensors}.`;
  const fits =
    tensors % experts === 0 ? [setTo(model, moe, tensors / experts, `${tensors} / ${experts}`)] : [];
  return found(model, [moe, expert, tensor], message, { fixes: fits });
}

function misplaced(model: RuleModel, name: string): RuleDiagnostic[] {
  if ((size(model, moe) ?? 1) === 1 || name === "trtllm") return [];
  const message = `\`moe_tensor_parallel_size\` is for TensorRT-LLM: verl refuses it with ${name}.`;
  return found(model, [moe, engine], message, { fixes: [setTo(model, moe, 1)] });
}

function staged(model: RuleModel, name: string): RuleDiagnostic[] {
  const stages = size(model, pipeline) ?? 1;
  if (stages === 1 || !/^(vllm|sglang|trtllm)$/.test(name)) return [];
  const message = `verl does not run ${name} with \`pipeline_model_parallel_size\` ${stages}: only 1 works.`;
  return found(model, [pipeline, engine], message, { fixes: [setTo(model, pipeline, 1)] });
}

export const expertParallel = verlRule({
  id: "verl-expert-parallel",
  title: "Incompatible parallel sizes of the inference engine",
  why: "`RolloutConfig.__post_init__` (verl/workers/config/rollout.py) requires that `expert_parallel_size` above 1 equals tensor × data parallel size (TensorRT-LLM: that `moe_tensor_parallel_size` × `expert_parallel_size` equals the tensor parallel size). It accepts `moe_tensor_parallel_size` for TensorRT-LLM only, and has no pipeline parallelism.",
  since: "0.6.0",
  check(model) {
    const name = model.text(engine);
    if (name === undefined || name === "???") return [];
    return [experts, misplaced, staged].flatMap((one) => one(model, name));
  },
});
