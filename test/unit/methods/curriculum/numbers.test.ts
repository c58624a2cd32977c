/** Curricula: what their papers and released code give as numbers, in the presets. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { plain, presetsHave } from "../../presetNumbers.ts";
import { temporary } from "../../support.ts";

/** Runs of one task, for what is fitted on such. */
const pilots = join(temporary(), "pilots.jsonl");
writeFileSync(pilots, `${JSON.stringify({ weights: { countdown: 1 }, score: 0.5 })}\n`);

presetsHave({
  rlve: {
    papers: [
      "RLVE: Scaling Up Reinforcement Learning for Language Models with Adaptive Verifiable Environments",
    ],
    values: {
      "rollout.group": 16,
      "curriculum.sampler": { use: "sliding_levels", window: 4, start: 0, above: 0.9, groups: 8 },
    },
  },
  "speed-rl": {
    papers: ["SPEED-RL: Faster Training of Reasoning Models via Online Curriculum Learning"],
    values: {
      "rollout.group": 24,
      "curriculum.budget": { use: "two_phase", initial: 4 },
      "curriculum.admission.inclusive": false,
    },
  },
  "reinforce-ada": {
    papers: ["Reinforce-Ada: An Adaptive Sampling Framework for Reinforce-Style LLM Training"],
    values: {
      "rollout.group": 8,
      "curriculum.budget": { use: "until_mixed", right: 2, wrong: 2, rounds: 4 },
      "replay.select": { use: "best_worst", best: 2, worst: 2, statistics: "all" },
      "objective.high": 0.28,
    },
  },
  adarft: {
    papers: ["Efficient Reinforcement Finetuning via Adaptive Curriculum Learning"],
    values: {
      "curriculum.sampler.target": 0.5,
      "curriculum.sampler.sensitivity": 2,
      "curriculum.sampler.step": 0.5,
      "curriculum.sampler.start": 0,
    },
  },
  e2h: {
    papers: ["Curriculum Reinforcement Learning from Easy to Hard Tasks Improves LLM Reasoning"],
    values: { "curriculum.sampler.exponent": 0.5, "curriculum.sampler.sigma": 0.5 },
  },
  "level-replay": {
    papers: ["Prioritized Level Replay"],
    values: {
      "curriculum.sampler.transform": "rank",
      "curriculum.sampler.temperature": 0.1,
      "curriculum.sampler.staleness": 0.1,
    },
  },
  lilo: {
    papers: ["Learning to Reason at the Frontier of Learnability"],
    values: { "rollout.group": 8, "curriculum.budget.least": 4, "curriculum.budget.most": 4 },
  },
  sec: {
    papers: ["Self-Evolving Curriculum for LLM Reasoning"],
    values: {
      "curriculum.signal.use": "mean_abs_advantage",
      "curriculum.estimator.alpha": 0.5,
      "curriculum.estimator.decay_unsampled": false,
      "curriculum.sampler": { use: "boltzmann", temperature: 0.4 },
    },
  },
  "sec-released": {
    papers: ["Self-Evolving Curriculum for LLM Reasoning"],
    values: { "curriculum.estimator.decay_unsampled": true },
  },
  dump: {
    papers: ["DUMP: Automated Distribution-Level Curriculum Learning for RL-based LLM Post-training"],
    values: {
      "curriculum.arms.use": "task",
      "curriculum.estimator": { use: "window", size: 300, of: "rollouts" },
      "curriculum.sampler": { use: "ucb_softmax", temperature: 0.1, exploration: 1 },
    },
  },
  pcl: {
    papers: ["Prompt Curriculum Learning for Efficient LLM Post-Training"],
    values: {
      "curriculum.arms.use": "prompt",
      "curriculum.sampler": { use: "nearest", target: 0.5, pool: 4 },
    },
  },
  cures: {
    papers: ["CurES: From Gradient Analysis to Efficient Curriculum Learning for Reasoning LLMs"],
    values: {
      "curriculum.signal.root": true,
      "curriculum.estimator.alpha": 1,
      "curriculum.estimator.beta": 1,
      "curriculum.sampler.use": "boltzmann",
      "curriculum.budget.use": "gradient_variance",
    },
  },
  "gain-rl": {
    papers: ["Angles Don't Lie: Unlocking Training-Efficient RL Through the Model's Own Signals"],
    values: {
      "curriculum.estimator.use": "angle_concentration",
      "curriculum.sampler": {
        use: "gaussian_window",
        order: "descending",
        width: 1000,
        step: 500,
        sensitivity: 2,
        target: 0.5,
        by_value: 1,
      },
    },
  },
  "alp-gmm": {
    papers: [
      "Teacher algorithms for curriculum learning of Deep RL in continuously parameterized environments",
    ],
    values: {
      "curriculum.signal.use": "nearest_progress",
      "curriculum.sampler.fit_every": 250,
      "curriculum.sampler.components": [2, 3, 4, 5, 6, 7, 8, 9, 10],
      "curriculum.sampler.uniform": 0.2,
    },
  },
  adcl: {
    papers: [
      "Learning Like Humans: Advancing LLM Reasoning Capabilities via Adaptive Difficulty Curriculum Learning and Expert-Guided Self-Reformulation",
    ],
    values: { "curriculum.estimator.use": "reestimate_block", "curriculum.sampler.order": "descending" },
  },
  mopps: {
    papers: ["Can Prompt Difficulty be Online Predicted for Accelerating RL Finetuning of Reasoning Models?"],
    values: {
      "curriculum.estimator.alpha": 1,
      "curriculum.estimator.beta": 1,
      "curriculum.estimator.decay": 0.5,
      "curriculum.sampler": { use: "thompson", target: 0.5, pool: 8 },
    },
  },
  "mopps-threshold": {
    papers: ["Can Prompt Difficulty be Online Predicted for Accelerating RL Finetuning of Reasoning Models?"],
    values: { "curriculum.sampler": { use: "band", low: 0.3, high: 0.7, pool: 8, imagined: true } },
  },
  self: {
    papers: ["The Reasoning Boundary Paradox: How Reinforcement Learning Constrains Language Models"],
    values: { "curriculum.admission.use": "greedy_wrong", kl: [] },
  },
  "rif-rft": {
    papers: ["Reinforcement Fine-Tuning Naturally Mitigates Forgetting in Continual Post-Training"],
    values: { "curriculum.admission.use": "min_best_reward" },
  },
  "rlpr-filter": {
    papers: ["RLPR: Extrapolating RLVR to General Domains without Verifiers"],
    values: {
      "curriculum.admission.beta": 0.5,
      "curriculum.admission.decay": 0.99,
      "curriculum.admission.from": 5,
      "curriculum.admission.over": 5,
      "curriculum.admission.refill.use": "adaptive",
      "rollout.group": 8,
      "objective.low": 0.2,
      "objective.high": 0.27,
    },
  },
  modomodo: {
    papers: ["MoDoMoDo: Multi-Domain Data Mixtures for Multimodal LLM Reinforcement Learning"],
    text: `${plain}curriculum: { estimator: { pilots: ${pilots} } }\n`,
    values: { "curriculum.estimator.model": "quadratic", "curriculum.sampler.use": "mixture" },
  },
  recap: {
    papers: ["Beyond Reasoning Gains: Mitigating General Capabilities Forgetting in Large Reasoning Models"],
    values: { "auxiliary.1.use": "recap", "auxiliary.1.temperature": 5 },
  },
  drive: {
    papers: [
      "DRIVE: Data Curation Best Practices for Reinforcement Learning with Verifiable Reward in Competitive Code Generation",
    ],
    values: {
      "stages.broad.rollout.group": 8,
      "stages.broad.steps": 32,
      "stages.hard.rollout.group": 64,
      "stages.hard.curriculum.admission.keep": [72, 50, 25],
    },
  },
  "kimi-k1.5-sampling": {
    papers: ["Kimi k1.5: Scaling Reinforcement Learning with LLMs"],
    values: {
      "stages.curriculum.curriculum.sampler.order": "ascending",
      "stages.prioritised.curriculum.signal": "failure_ratio",
      "stages.prioritised.curriculum.sampler.floor": 0,
    },
  },
  "balanced-filtering": {
    papers: ["Online Difficulty Filtering for Reasoning Oriented Reinforcement Learning"],
    values: {
      "curriculum.admission.low": 0.2,
      "curriculum.admission.high": 0.8,
      "curriculum.admission.inclusive": true,
      "curriculum.admission.refill.use": "adaptive",
    },
  },
  prime: {
    papers: ["Process Reinforcement through Implicit Rewards"],
    values: {
      "curriculum.admission.low": 0.2,
      "curriculum.admission.high": 0.8,
      "curriculum.admission.refill.use": "adaptive",
      "reward.terms.process.beta": 0.05,
      "advantage.per_source": true,
    },
  },
  "mm-eureka": {
    papers: ["MM-Eureka: Exploring Visual Aha Moment with Rule-based Large-scale Reinforcement Learning"],
    values: {
      "curriculum.admission.low": 0.1,
      "curriculum.admission.high": 0.9,
      "curriculum.admission.refill.use": "fixed",
      "rollout.prompts": 128,
      "rollout.group": 8,
      "update.optimizer.lr": 1e-6,
      kl: [],
    },
  },
  rlcs: {
    papers: [
      "GLM-4.1V-Thinking: Towards Versatile Multimodal Reasoning with Scalable Reinforcement Learning",
    ],
    values: {
      "curriculum.estimator.initial": null,
      "curriculum.sampler.quotas": [1, 4, 1],
      "curriculum.admission.use": "balanced",
      "curriculum.budget.use": "oversample",
      "objective.low": 0.2,
      "objective.high": 0.28,
      kl: [],
    },
  },
  "codev-r1": {
    papers: ["CodeV-R1: Reasoning-Enhanced Verilog Generation"],
    values: {
      "curriculum.admission.use": "nonzero_variance",
      "curriculum.admission.refill.use": "running_minima",
      "objective.high": 0.28,
    },
  },
  "vla-rl": {
    papers: [
      "VLA-RL: Towards Masterful and General Robotic Manipulation with Scalable Reinforcement Learning",
    ],
    values: { "curriculum.signal.use": "failure_ratio", "curriculum.sampler.use": "boltzmann" },
  },
  "one-example": {
    papers: ["Reinforcement Learning for Reasoning in Large Language Models with One Training Example"],
    values: {
      "rollout.prompts": 128,
      "rollout.group": 8,
      "rollout.temperature": 0.6,
      "kl.0.coefficient": 0.001,
      "objective.entropy": 0.001,
    },
  },
  brorl: {
    papers: ["BroRL: Scaling Reinforcement Learning via Broadened Exploration"],
    values: { "rollout.group": 512 },
  },
  stepcoder: {
    papers: ["StepCoder: Improve Code Generation with Reinforcement Learning from Compiler Feedback"],
    values: { "curriculum.start.use": "reverse", mask: [{ use: "executed_lines" }] },
  },
});
