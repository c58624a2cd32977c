/** Configs that prime-rl trains as they are, each with another part of it. */
const rest = `
model: { base: tiny, width: 32, layers: 2, heads: 2, hidden: 64, context: 64 }
tasks: [{ env: countdown, numbers: [3, 4] }]
reward: { terms: { correct: equation, short: { use: length, weight: 0.1 } } }
steps: 6
seed: 7
`;
const rollout = "rollout: { prompts: 4, group: 4, max_tokens: 20 }";

export const primeConfigs: Readonly<Record<string, string>> = {
  grpo: `name: grpo\n${rollout}${rest}`,
  dppo: `name: dppo
${rollout}
advantage: { scale: none, filter: { keep: nonzero } }
objective: { use: dppo_tv, low: 0.1, high: 0.3, cap: null, aggregate: token_mean, factor: 0.5 }
kl: [{ model: behaviour, estimator: k2, coefficient: 0.01 }]
update: { optimizer: { use: adamw, lr: 1.0e-5, betas: [0.9, 0.95], weight_decay: 0.1, clip_norm: null, schedule: { shape: cosine, floor: 0.1 } } }${rest}`,
  maxrl: `name: maxrl
${rollout}
advantage: { scale: mean_reward }
objective: { use: reinforce, aggregate: token_mean }
update: { optimizer: { use: sgd, lr: 0.01, momentum: 0.9, nesterov: true, warmup: 2 } }${rest}`,
  dapo: `name: dapo
rollout: { prompts: 4, group: 4, max_tokens: 20, temperature: 0.7, top_p: 0.9, top_k: 20, min_p: 0.05 }
curriculum: { admission: { use: nonzero_variance, refill: adaptive } }
objective: { use: clipped, low: 0.2, high: 0.28, anchor: sampled, aggregate: token_mean, dual: 3 }
update: { optimizer: { use: adamw, lr: 1.0e-6, warmup: 2, schedule: cosine } }${rest}`,
  gspo: `name: gspo
${rollout}
objective: { use: clipped, low: 3.0e-4, high: 4.0e-4, ratio: sequence, aggregate: sequence_mean }${rest}`,
  rloo: `name: rloo
${rollout}
advantage: { baseline: leave_one_out, scale: none, sign: { positive: 1, negative: 0.5 } }
objective: { use: cispo, low: 0.5, high: 1, aggregate: { use: sequence_sum_norm, budget: 30 } }
update: { optimizer: { use: adamw, lr: 1.0e-4, schedule: { schedule: linear, from: 1, to: 0, over: 3, start: 2 } } }${rest}`,
  sapo: `name: sapo\n${rollout}\nobjective: { use: sapo, aggregate: sequence_sum }${rest}`,
  kl: `name: kl
${rollout}
advantage: { baseline: { use: constant, value: 0.5 }, scale: sign }
objective: { use: dppo_kl, low: 0.05, high: 0.05, aggregate: token_sum }${rest}`,
  lora: `name: lora\n${rollout}\n${rest.replace("context: 64", "context: 64, adapter: { use: lora, rank: 8, alpha: 16, dropout: 0.1 }")}engine: { use: prime-rl, args: { deployment.num_train_gpus: 2, inference: { vllm: { gpu_memory_utilization: 0.4 } } } }\n`,
};
