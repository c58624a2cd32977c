/** Configs that SkyRL trains as they are, each with another part of SkyRL. */
const rest = `
model: { base: tiny, width: 32, layers: 2, heads: 2, hidden: 64, context: 64 }
tasks: [{ env: countdown, numbers: [3, 4] }]
reward: { terms: { correct: equation, short: { use: length, weight: 0.1 } } }
steps: 3
seed: 7
`;
const rollout = "rollout: { prompts: 8, group: 4, max_tokens: 20 }";
const critic =
  "{ base: tiny, width: 32, layers: 2, heads: 2, hidden: 64, context: 64, value_heads: [value], trains: true, optimizer: { use: adamw, lr: 1.0e-5, clip_norm: 1 } }";

export const skyrlConfigs: Readonly<Record<string, string>> = {
  grpo: `name: grpo\n${rollout}\nadvantage: { scale: { use: group_std, epsilon: 1.0e-6 } }\nupdate: { mini_batch: 16, epochs: 2 }${rest}`,
  dapo: `name: dapo
rollout: { prompts: 8, group: 4, max_tokens: 20, temperature: 0.7, top_p: 0.9, top_k: 20, min_p: 0.1, repetition_penalty: 1.1 }
curriculum: { admission: { use: nonzero_variance, refill: adaptive } }
objective: { use: clipped, low: 0.2, high: 0.28, aggregate: token_mean, dual: 3 }
mask: [overlong]${rest}`,
  ppo: `name: ppo
${rollout}
models: { critic: ${critic} }
advantage: { baseline: { use: critic, model: critic, lambda: 0.95 }, scale: none, level: token, gamma: 0.99, whiten: tokens }
auxiliary: [{ use: learner, model: critic, rollouts: step, objective: { use: value_clipped, clip: 0.5 }, each: rollout, rows: 16, updates: 2 }]
kl: [{ model: reference, estimator: k1, place: reward, coefficient: { use: adaptive, initial: 0.1, target: 0.2 } }]
update: { epochs: 2 }${rest}`,
  drgrpo: `name: drgrpo
${rollout}
advantage: { scale: none }
objective: { use: clipped, aggregate: { use: sequence_sum_norm, budget: 30 } }
kl: [{ model: reference, estimator: k2, coefficient: 0.01, aggregate: sequence_mean }]${rest}`,
  gspo: `name: gspo
${rollout}
objective: { use: clipped, low: 3.0e-4, high: 4.0e-4, ratio: sequence, entropy: 0.001, correction: [{ use: truncate, level: token, high: 2 }] }
update: { optimizer: { use: adamw, lr: 1.0e-6, warmup: 1, schedule: linear } }${rest}`,
  maxrl: `name: maxrl\n${rollout}\nadvantage: { scale: { use: mean_reward, epsilon: 1.0e-6 } }\nobjective: { use: cispo, low: 1, high: 3, aggregate: sequence_sum }${rest}`,
  dppo: `name: dppo\n${rollout}\nobjective: { use: dppo_kl, low: 0.05, high: 0.05, cap: null, anchor: sampled }${rest}`,
  band: `name: band\n${rollout}\nadvantage: { baseline: none, scale: none, level: token, whiten: tokens }\nobjective: { use: reinforce, correction: [{ use: mask, numerator: now, level: token, low: 0.5, high: 2 }] }${rest}`,
  lora: `name: lora\n${rollout}\nadvantage: { baseline: leave_one_out, scale: none }${rest.replace("context: 64", "context: 64, adapter: { use: lora, rank: 8, alpha: 16 }")}engine: { use: skyrl, args: { trainer.placement.policy_num_gpus_per_node: 2, generator: { inference_engine: { gpu_memory_utilization: 0.4 } } } }\n`,
};
