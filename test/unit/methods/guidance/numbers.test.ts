/** Guidance: what its papers and released code give as numbers, in the presets. */
import { presetsHave } from "../../presetNumbers.ts";

presetsHave({
  ghpo: {
    papers: ["GHPO: Adaptive Guidance for Stable and Efficient LLM Reinforcement Learning"],
    values: {
      "guidance.amount.steps": [0.25, 0.5, 0.75],
      "guidance.context": "keep",
      "guidance.source.place": "prompt",
      kl: [],
    },
  },
  guide: {
    papers: ["Adaptive Guidance Accelerates Reinforcement Learning of Reasoning Models"],
    values: {
      "guidance.context": "strip",
      "guidance.ratio.use": "true_behaviour",
      "guidance.place": "append",
    },
  },
  seele: {
    papers: [
      "Staying in the Sweet Spot: Responsive Reasoning Evolution via Capability-Adaptive Hint Scaffolding",
    ],
    values: {
      "guidance.amount.target": 0.5,
      "guidance.amount.rounds": 4,
      "rollout.group": 32,
      "guidance.ratio.gamma": 0.001,
      "kl.0.coefficient": 0.001,
      "advantage.scale.use": "none",
    },
  },
  egsr: {
    papers: [
      "Learning Like Humans: Advancing LLM Reasoning Capabilities via Adaptive Difficulty Curriculum Learning and Expert-Guided Self-Reformulation",
    ],
    values: {
      "guidance.trigger.use": "all_fail",
      "guidance.context": "strip",
      "guidance.enter": "successes",
    },
  },
  ruscarl: {
    papers: [
      "Breaking the Exploration Bottleneck: Rubric-Scaffolded Reinforcement Learning for General LLM Reasoning",
    ],
    values: {
      "guidance.amount.slope": 125,
      "guidance.amount.middle": 0.2,
      "guidance.amount.over": null,
      "guidance.context": "strip",
      "guidance.ratio.use": "recomputed",
      "rollout.group": 8,
      "rollout.temperature": 0.7,
      "rollout.top_p": 0.8,
      "rollout.top_k": 20,
      "rollout.prompts": 16,
      "update.mini_batch": 64,
      "objective.dual": 3,
      "kl.0.coefficient": 0.001,
    },
  },
  ampo: {
    papers: ["More Than One Teacher: Adaptive Multi-Guidance Policy Optimization for Diverse Exploration"],
    values: {
      "guidance.ratio.gamma": 0.1,
      "guidance.rollouts": 2,
      "guidance.source.select": "answer_likelihood",
      "advantage.scale.use": "none",
      "rollout.group": 8,
    },
  },
  "rl-plus": {
    papers: [
      "RL-PLUS: Countering Capability Boundary Collapse of LLMs in Reinforcement Learning with Hybrid-policy Optimization",
    ],
    values: {
      "guidance.ratio.explore": 0.5,
      "guidance.rollouts": 1,
      "advantage.scale.use": "none",
      "rollout.group": 8,
    },
  },
  "rex-rag": {
    papers: ["REX-RAG: Reasoning Exploration with Policy Correction in Retrieval-Augmented Generation"],
    values: {
      "rollout.group": 5,
      "guidance.trigger": { use: "wrong", share: 0.198, after_step: 0 },
      "guidance.source.keep": 0.08,
      "guidance.source.follow": 0.1,
      "kl.0.coefficient": 0.001,
    },
  },
  rlgf: {
    papers: ["Learning to Generate Better Than Your LLM"],
    values: { "guidance.trigger.use": "fraction", "guidance.amount.low": 0, "guidance.amount.high": 1 },
  },
  "agent-rlvr": {
    papers: ["Agent-RLVR: Training Software Engineering Agents via Guidance and Environment Rewards"],
    values: {
      "guidance.trigger.use": "all_fail",
      "objective.use": "dpo",
      "objective.anchor": "reference",
    },
  },
  "prefix-rft": {
    papers: ["Blending Supervised and Reinforcement Fine-Tuning with Prefix Sampling"],
    values: {
      "guidance.rollouts": 1,
      "guidance.amount.low.from": 0.95,
      "guidance.amount.low.to": 0,
      "guidance.amount.low.schedule": "cosine",
      "guidance.amount.high": 0.95,
      "guidance.given_advantage": "own",
      "mask.0.share": 0.2,
      "objective.dual": 3,
    },
  },
  relift: {
    papers: [
      "Learning What Reinforcement Learning Can't: Interleaved Online Fine-Tuning for Hardest Questions",
    ],
    values: {
      "auxiliary.0.when.all_failed": 128,
      "auxiliary.0.place": "alone",
      "auxiliary.0.entropy": 0.001,
      "auxiliary.0.optimizer.lr": 1e-6,
      "auxiliary.0.optimizer.clip_norm": 1,
      "update.optimizer.lr": 1e-6,
      "update.optimizer.clip_norm": 0.7,
      "advantage.scale.use": "none",
    },
  },
  srpo: {
    papers: ["Unifying Group-Relative and Self-Distillation Policy Optimization via Sample Routing"],
    values: {
      route: [{ when: ["wrong", "sibling"], to: "distil" }],
      "objective.aggregate.use": "token_mean",
    },
  },
  kdrl: {
    papers: [
      "KDRL: Post-Training Reasoning LLMs via Unified Knowledge Distillation and Reinforcement Learning",
    ],
    values: {
      "kl.0.estimator.use": "k2",
      "kl.0.coefficient.from": 0.005,
      "kl.0.coefficient.to": 0.001,
    },
  },
  sparkle: {
    papers: ["Beyond Accuracy: Dissecting Mathematical Reasoning for LLMs Under Reinforcement Learning"],
    values: {
      "guidance.amount.shares": [0, 0.25, 0.5, 0.75, 1],
      "rollout.group": 32,
      "kl.0.coefficient": 0.01,
    },
  },
  ppe: {
    papers: ["Prior Prompt Engineering for Reinforcement Fine-Tuning"],
    values: { "guidance.trigger.use": "always", "guidance.source.prior": "null_examples" },
  },
});
