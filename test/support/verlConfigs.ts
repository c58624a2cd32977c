/** Configs that verl trains as they are, each with another part of verl. */
const rest = `
model: { base: tiny, width: 32, layers: 2, heads: 2, hidden: 64, context: 64 }
tasks: [{ env: countdown, numbers: [3, 4] }]
reward: { terms: { correct: equation, short: { use: length, weight: 0.1 } } }
steps: 3
seed: 7
`;
const rollout = "rollout: { prompts: 8, group: 4, max_tokens: 20 }";

export const verlConfigs: Readonly<Record<string, string>> = {
  grpo: `name: grpo\n${rollout}\nadvantage: { scale: { use: group_std, epsilon: 1.0e-6 } }\nupdate: { mini_batch: 16, epochs: 2 }${rest}`,
  dapo: `name: dapo
rollout: { prompts: 8, group: 4, max_tokens: 20, temperature: 0.7, top_p: 0.9, top_k: 20 }
curriculum: { admission: { use: nonzero_variance, refill: adaptive } }
objective: { use: clipped, low: 0.2, high: 0.28, aggregate: token_mean, dual: 3, entropy: 0.001 }
kl: [{ model: reference, estimator: k3, coefficient: 0.001 }]${rest}`,
  ppo: `name: ppo
${rollout}
models:
  critic: { base: tiny, width: 32, layers: 2, heads: 2, hidden: 64, context: 64, value_heads: [value], trains: true, optimizer: { use: adamw, lr: 1.0e-5, clip_norm: 1 } }
advantage: { baseline: { use: critic, model: critic, lambda: 0.95 }, scale: none, level: token, gamma: 0.99, whiten: tokens }
auxiliary: [{ use: learner, model: critic, rollouts: step, objective: { use: value_clipped, clip: 0.5 }, each: token, rows: 16, updates: 2 }]
objective: { use: clipped, aggregate: { use: sequence_sum_norm, budget: 30 } }
kl: [{ model: reference, estimator: k1, place: reward, coefficient: { use: adaptive, initial: 0.1, target: 0.2 } }]${rest}`,
  gdpo: `name: gdpo\n${rollout}\nadvantage: { per_source: true, whiten: tokens }${rest}`,
  gspo: `name: gspo
${rollout}
objective: { use: clipped, low: 3.0e-4, high: 4.0e-4, ratio: sequence, aggregate: { use: sequence_mean, empty_rows: skip }, correction: [{ use: truncate, level: token, high: 2 }] }
mask: [{ use: rejected, estimator: k2, level: sequence_mean, high: 0.1 }]
update: { optimizer: { use: adamw, lr: 1.0e-6, warmup: 1, schedule: { shape: cosine, floor: 0.1 } } }${rest}`,
  otb: `name: otb\n${rollout}\nadvantage: { baseline: { use: optimal_token_baseline, single: reward }, scale: none, level: token }${rest}`,
  lora: `name: lora\n${rollout}\nadvantage: { baseline: leave_one_out, scale: none }${rest.replace("context: 64", "context: 64, adapter: { use: lora, rank: 8, alpha: 16 }")}engine: { use: verl, args: { trainer.n_gpus_per_node: 2, actor_rollout_ref: { rollout: { gpu_memory_utilization: 0.4 } } } }\n`,
};
