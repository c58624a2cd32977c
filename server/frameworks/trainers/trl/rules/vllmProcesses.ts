import { changes, divisorsAround } from "../../../rules/multiples.ts";
import { diagnosticAt } from "../../../rules/placed.ts";
import { processesOf } from "../batch.ts";
import { trlRule } from "../trlRule.ts";

export const vllmProcesses = trlRule({
  id: "trl-vllm-processes",
  title: "Processes not divisible into vLLM engines",
  why: "With `vllm_mode: colocate` the training processes also hold vLLM's engines, `vllm_tensor_parallel_size` processes each: `VLLMGeneration._init_vllm` in trl/generation/vllm_generation.py refuses a number of processes that is not a multiple of it.",
  check(model) {
    const [size, processes] = [model.number("vllm_tensor_parallel_size"), processesOf(model)];
    const colocated = model.flag("use_vllm") === true && model.text("vllm_mode") === "colocate";
    if (!colocated || size === undefined || size < 1 || size === 1) return [];
    const at = model.written("vllm_tensor_parallel_size");
    if (processes === undefined) {
      const message = `\`vllm_tensor_parallel_size: ${size}\` with \`vllm_mode: colocate\` needs a multiple of ${size} training processes.`;
      return [{ at, severity: "info", message }];
    }
    if (processes % size === 0) return [];
    const message = `${processes} processes do not divide into engines of \`vllm_tensor_parallel_size\` ${size}: ${processes} = ${Math.floor(processes / size)} × ${size} + ${processes % size}.`;
    const fixes = changes(
      at,
      divisorsAround(size, processes),
      (value) => `${processes} = ${processes / value} × ${value}`,
    );
    return diagnosticAt(model, ["vllm_tensor_parallel_size", "vllm_mode"], message, {
      fixes: fixes.map(({ title, edits }) => ({ title, edits })),
    });
  },
});
