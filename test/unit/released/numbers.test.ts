/** What released scripts and configurations give, as presets of these methods resolve. */
import { presetsHave } from "../presetNumbers.ts";

presetsHave({
  prime: {
    papers: ["Process Reinforcement through Implicit Rewards"],
    values: {
      "rollout.group": 4,
      "curriculum.admission.low": 0.2,
      "curriculum.admission.high": 0.8,
      "reward.terms.process.beta": 0.05,
      "reward.terms.process.update": "after",
      "models.prm.optimizer.lr": 1e-6,
      "models.prm.optimizer.clip_norm": 10,
      "objective.low": 0.2,
      "objective.high": 0.2,
      "objective.aggregate.use": "token_mean",
      "advantage.gamma": 1,
      kl: [],
      // A quarter of 16 · 4.
      "update.mini_batch": 16,
    },
  },
  remax: {
    papers: [
      "ReMax: A Simple, Effective, and Efficient Reinforcement Learning Method for Aligning Large Language Models",
      "Enhancing LLMs for Physics Problem-Solving using Reinforcement Learning with Human-AI Feedback",
    ],
    values: {
      "rollout.group": 1,
      "rollout.top_p": 0.9,
      "rollout.temperature": 1,
      "advantage.gamma": 0.99,
      "kl.0.coefficient": 0.05,
      "update.epochs": 1,
    },
  },
  gmpo: {
    papers: ["Geometric-Mean Policy Optimization"],
    values: {
      "objective.low": 0.4,
      "objective.high": 0.4,
      "advantage.scale.epsilon": 1e-8,
      "advantage.scale.population": false,
      "rollout.group": 8,
      "rollout.prompts": 16,
      // An eighth of 16 · 8.
      "update.mini_batch": 16,
      kl: [],
    },
  },
  spear: {
    papers: [
      "Learn the Ropes, Then Trust the Wins: Self-imitation with Progressive Exploration for Agentic Reinforcement Learning",
    ],
    values: {
      "objective.low": 0.2,
      "objective.high": 0.28,
      "objective.dual": 10,
      "objective.aggregate.use": "sequence_sum_norm",
      "replay.capacity": 2048,
      "replay.max_age": 5,
      "replay.rescore.window": 10240,
      "replay.rescore.quantile": 0.5,
      "replay.place": "alone",
      "replay.weight.to": 1,
      "replay.weight.over": 200,
    },
  },
  "online-dpo": {
    papers: [
      "Asynchronous RLHF: Faster and More Efficient Off-Policy RL for Language Models",
      "RLHF Workflow: From Reward Modeling to Online RLHF",
    ],
    values: { "objective.beta": 0.1, "objective.pairs": "best_worst", "objective.anchor": "reference" },
  },
  "tulu-3-rlvr": {
    papers: ["TÜLU 3: Pushing Frontiers in Open Language Model Post-Training"],
    values: {
      "advantage.baseline.lambda": 0.95,
      "advantage.gamma": 1,
      "objective.low": 0.2,
      "objective.value.clip": 0.2,
      "objective.value.coefficient": 0.1,
      "kl.0.coefficient": 0.05,
      "update.optimizer.weight_decay": 0.01,
      "update.optimizer.lr": 3e-7,
      "update.epochs": 4,
      // 7 devices of 32.
      "rollout.prompts": 224,
      "stages.preferences.objective.beta": 5,
      "stages.preferences.objective.normalise": true,
      // 8 devices of 16 pairs.
      "stages.preferences.rollout.prompts": 128,
      "stages.preferences.update.optimizer.lr": 5e-7,
      "stages.preferences.update.optimizer.weight_decay": 0,
    },
  },
  "prefix-rft": {
    papers: ["Blending Supervised and Reinforcement Fine-Tuning with Prefix Sampling"],
    values: {
      "objective.dual": 3,
      "objective.entropy": 0.001,
      "objective.aggregate.use": "token_mean",
      "advantage.scale.use": "none",
      "mask.0.share": 0.2,
      "update.mini_batch": 32,
      kl: [],
    },
  },
  self: {
    papers: ["The Reasoning Boundary Paradox: How Reinforcement Learning Constrains Language Models"],
    values: {
      "curriculum.admission.use": "greedy_wrong",
      "advantage.scale.epsilon": 1e-6,
      "objective.dual": 3,
      "objective.aggregate.use": "token_mean",
      "rollout.group": 8,
      "rollout.prompts": 16,
      // Half of 16 · 8.
      "update.mini_batch": 64,
      kl: [],
    },
  },
  "canon-entropy": {
    papers: ["Conditional Advantage Estimation for Reinforcement Learning in Large Reasoning Models"],
    values: {
      "advantage.baseline.mu": 1,
      "advantage.baseline.alpha": 1,
      "advantage.scale.use": "none",
      "objective.low": 0.2,
      "objective.high": 0.28,
      "objective.dual": 3,
      "objective.aggregate.use": "sequence_sum_norm",
      "rollout.group": 16,
      "rollout.prompts": 16,
      // A sixteenth of 16 · 16.
      "update.mini_batch": 16,
      kl: [],
    },
  },
  "step-apo": {
    papers: ["CPL: Critical Plan Step Learning Boosts LLM Generalization in Reasoning Tasks"],
    values: { "objective.beta": 0.3, "objective.alpha": 1, "objective.pairs": "all" },
  },
  "prioritised-kl": {
    papers: ["Ignore the KL Penalty! Boosting Exploration on Critical Tokens to Enhance RL Fine-Tuning"],
    values: {
      "kl.0.estimator.use": "k2",
      "kl.0.coefficient": 5,
      "kl.0.weight.power": 150,
      "objective.entropy": 0.001,
    },
  },
});
