/** Guidance: what its papers and released code give as numbers, in the presets. */
import { presetsHave } from "../../presetNumbers.ts";

presetsHave({
  ghpo: {
    rows: ["0-13"],
    values: {
      "guidance.amount.steps": [0.25, 0.5, 0.75],
      "guidance.context": "keep",
      "guidance.source.place": "prompt",
      kl: [],
    },
  },
  guide: {
    rows: ["0-24"],
    values: {
      "guidance.context": "strip",
      "guidance.ratio.use": "true_behaviour",
      "guidance.place": "append",
    },
  },
  seele: {
    rows: ["0-76"],
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
    rows: ["0-05"],
    values: {
      "guidance.trigger.use": "all_fail",
      "guidance.context": "strip",
      "guidance.enter": "successes",
    },
  },
  ruscarl: {
    rows: ["0-19"],
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
    rows: ["0-22"],
    values: {
      "guidance.ratio.gamma": 0.1,
      "guidance.rollouts": 2,
      "guidance.source.select": "answer_likelihood",
      "advantage.scale.use": "none",
      "rollout.group": 8,
    },
  },
  "rl-plus": {
    rows: ["0-42", "3-41"],
    values: {
      "guidance.ratio.explore": 0.5,
      "guidance.rollouts": 1,
      "advantage.scale.use": "none",
      "rollout.group": 8,
    },
  },
  "rex-rag": {
    rows: ["0-70"],
    values: {
      "rollout.group": 5,
      "guidance.trigger": { use: "wrong", share: 0.198, after_step: 0 },
      "guidance.source.keep": 0.08,
      "guidance.source.follow": 0.1,
      "kl.0.coefficient": 0.001,
    },
  },
  rlgf: {
    rows: ["0-20", "1-57"],
    values: { "guidance.trigger.use": "fraction", "guidance.amount.low": 0, "guidance.amount.high": 1 },
  },
  "agent-rlvr": {
    rows: ["0-12", "4-07"],
    values: {
      "guidance.trigger.use": "all_fail",
      "objective.use": "dpo",
      "objective.anchor": "reference",
    },
  },
  "prefix-rft": {
    rows: ["4-37"],
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
    rows: ["0-32", "4-15"],
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
    rows: ["2-61"],
    values: {
      route: [{ when: ["wrong", "sibling"], to: "distil" }],
      "objective.aggregate.use": "token_mean",
    },
  },
  kdrl: {
    rows: ["0-51"],
    values: {
      "kl.0.estimator.use": "k2",
      "kl.0.coefficient.from": 0.005,
      "kl.0.coefficient.to": 0.001,
    },
  },
  sparkle: {
    rows: ["0-50"],
    values: {
      "guidance.amount.shares": [0, 0.25, 0.5, 0.75, 1],
      "rollout.group": 32,
      "kl.0.coefficient": 0.01,
    },
  },
  ppe: {
    rows: ["4-06"],
    values: { "guidance.trigger.use": "always", "guidance.source.prior": "null_examples" },
  },
});
