import { changeTo } from "../../../rules/fix.ts";
import { openrlhfRule } from "../openrlhfRule.ts";

export const tensorParallel = openrlhfRule({
  id: "openrlhf-tensor-parallel",
  title: "Tensor parallelism in float16",
  why: "DeepSpeed's tensor parallelism works in bfloat16 only, and since version 0.16.4: `DeepspeedStrategy.__init__` in openrlhf/utils/deepspeed/deepspeed.py asserts both.",
  check(flags) {
    if ((flags.number("ds.tensor_parallel_size") ?? 1) <= 1) return [];
    // Before 0.9.2 `--bf16` switched it on, and float16 was the rest.
    const dtype = flags.model.since("0.9.2")
      ? flags.text("ds.param_dtype")
      : flags.model.flag("bf16") === false
        ? "fp16"
        : "bf16";
    if (dtype === undefined || dtype === "bf16") return [];
    const message = `\`${flags.name("ds.tensor_parallel_size")}\` above 1 needs bfloat16, but the model is in ${dtype}.`;
    return flags.diagnostic(["ds.param_dtype", "ds.tensor_parallel_size"], message, {
      fixes: changeTo(flags.written("ds.param_dtype"), "bf16"),
    });
  },
});
