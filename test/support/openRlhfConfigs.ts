/** Configs that OpenRLHF trains as they are, each with another part of OpenRLHF. */
const rest = `
model: { base: tiny, width: 32, layers: 2, heads: 2, hidden: 64, context: 64 }
tasks: [{ env: countdown, numbers: [3, 4] }]
reward: { terms: { correct: equation, short: { use: length, weight: 0.1 } } }
steps: 3
seed: 7
`;
const rollout = "rollout: { prompts: 8, group: 4, max_tokens: 20 }";
const whiten = "{ over: tokens, population: true, epsilon: 1.0e-8, inside: floor }";

export const openRlhfConfigs: Readonly<Record<string, string>> = {
  grpo: `name: grpo\n${rollout}\nadvantage: { scale: { use: group_std, epsilon: 1.0e-9 } }\nupdate: { mini_batch: 16, epochs: 2 }${rest}`,
  dapo: `name: dapo
rollout: { prompts: 8, group: 4, max_tokens: 20, temperature: 0.7, top_p: 0.9 }
advantage: { scale: { use: group_std, epsilon: 1.0e-9 } }
curriculum: { admission: { use: success_band, low: 0, high: 1, inclusive: false, refill: adaptive } }
objective: { use: clipped, low: 0.2, high: 0.28, aggregate: token_mean, dual: 3, entropy: 0.001, clamp_log_ratio: 20 }
kl: [{ model: reference, estimator: { use: k3, clamp: 10, clamp_log_ratio: { low: -10 } }, coefficient: 0.001 }]${rest}`,
  ppo: `name: ppo
${rollout}
models:
  critic: { base: tiny, width: 32, layers: 2, heads: 2, hidden: 64, context: 64, value_heads: [value], trains: true, optimizer: { use: adamw, lr: 1.0e-5, warmup: 2, clip_norm: 1 } }
advantage: { baseline: { use: critic, model: critic, lambda: 0.95 }, scale: none, level: token, gamma: 0.99, whiten: ${whiten} }
auxiliary: [{ use: learner, model: critic, rollouts: step, objective: { use: value_clipped, clip: 0.5 }, each: token, rows: 16, updates: 2 }]
objective: { use: clipped, aggregate: token_mean }
update: { mini_batch: 16, epochs: 2 }
kl: [{ model: reference, estimator: { use: k1, clamp: 10 }, place: reward, coefficient: { use: adaptive, initial: 0.1, target: 0.2 } }]${rest}`,
  reinforce: `name: reinforce\n${rollout}\nadvantage: { baseline: group_mean, scale: none, whiten: ${whiten} }\nobjective: { use: clipped, correction: [{ use: mask, level: sequence_mean, weight: token, low: 0.5, high: 2 }] }${rest}`,
  gspo: `name: gspo
${rollout}
advantage: { scale: { use: group_std, epsilon: 1.0e-9 } }
objective: { use: clipped, low: 3.0e-4, high: 4.0e-4, ratio: sequence, anchor: sampled, aggregate: { use: sequence_mean, empty_rows: skip } }
update: { optimizer: { use: adamw, lr: 1.0e-6, warmup: 1, schedule: { shape: cosine, floor: 0.1 } } }${rest}`,
  rloo: `name: rloo\n${rollout}\nadvantage: { baseline: leave_one_out, scale: none }\nobjective: { use: clipped, correction: [{ use: truncate, low: 0, high: 2 }] }${rest}engine: { use: openrlhf, args: { actor.num_gpus_per_node: 2, vllm: { gpu_memory_utilization: 0.4 }, ref.offload: true } }\n`,
  flash: `name: flash\nrollout: { prompts: 32, group: 1, max_tokens: 20 }\nadvantage: { baseline: batch_mean, scale: none }\nobjective: { use: clipped, correction: [{ use: mask, level: sequence_mean, statistic: binary_kl, weight: token, low: 0, high: 0.001 }] }${rest}`,
};
