/** So much of examples/countdown that it ends in some five minutes on WebAssembly: it shows all of it, and learns little. */
export const shortExample = [
  "stages.warm-up.steps=150",
  "stages.warm-up.batch=32",
  "stages.practice.steps=10",
  "rollout.prompts=16",
  "evaluation.prompts=64",
].flatMap((value) => ["--set", value]);
