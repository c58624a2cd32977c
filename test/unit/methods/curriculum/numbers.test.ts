/** Curricula: what their papers and released code give as numbers, in the presets. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { plain, presetsHave } from "../../presetNumbers.ts";
import { temporary } from "../../support.ts";

/** Runs of one task, for what is fitted on such. */
const pilots = join(temporary(), "pilots.jsonl");
writeFileSync(pilots, `${JSON.stringify({ weights: { countdown: 1 }, score: 0.5 })}\n`);

presetsHave({
  sec: {
    rows: ["0-06"],
    values: {
      "curriculum.signal.use": "mean_abs_advantage",
      "curriculum.estimator.alpha": 0.5,
      "curriculum.estimator.decay_unsampled": false,
      "curriculum.sampler": { use: "boltzmann", temperature: 0.4 },
    },
  },
  "sec-released": { rows: ["4-41"], values: { "curriculum.estimator.decay_unsampled": true } },
  dump: {
    rows: ["0-09", "4-29"],
    values: {
      "curriculum.arms.use": "task",
      "curriculum.estimator": { use: "window", size: 300, of: "rollouts" },
      "curriculum.sampler": { use: "ucb_softmax", temperature: 0.1, exploration: 1 },
    },
  },
  pcl: {
    rows: ["0-07"],
    values: {
      "curriculum.arms.use": "prompt",
      "curriculum.sampler": { use: "nearest", target: 0.5, pool: 4 },
    },
  },
  cures: {
    rows: ["0-31"],
    values: {
      "curriculum.signal.root": true,
      "curriculum.estimator.alpha": 1,
      "curriculum.estimator.beta": 1,
      "curriculum.sampler.use": "boltzmann",
      "curriculum.budget.use": "gradient_variance",
    },
  },
  "gain-rl": {
    rows: ["0-29"],
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
    rows: ["0-21"],
    values: {
      "curriculum.signal.use": "nearest_progress",
      "curriculum.sampler.fit_every": 250,
      "curriculum.sampler.components": [2, 3, 4, 5, 6, 7, 8, 9, 10],
      "curriculum.sampler.uniform": 0.2,
    },
  },
  adcl: {
    rows: ["0-05"],
    values: { "curriculum.estimator.use": "reestimate_block", "curriculum.sampler.order": "descending" },
  },
  mopps: {
    rows: ["3-44"],
    values: {
      "curriculum.estimator.alpha": 1,
      "curriculum.estimator.beta": 1,
      "curriculum.estimator.decay": 0.5,
      "curriculum.sampler": { use: "thompson", target: 0.5, pool: 8 },
    },
  },
  "mopps-threshold": {
    rows: ["3-44"],
    values: { "curriculum.sampler": { use: "band", low: 0.3, high: 0.7, pool: 8, imagined: true } },
  },
  self: { rows: ["3-03"], values: { "curriculum.admission.use": "greedy_wrong", kl: [] } },
  "rif-rft": { rows: ["4-22"], values: { "curriculum.admission.use": "min_best_reward" } },
  "rlpr-filter": {
    rows: ["3-30"],
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
    rows: ["0-71", "3-16"],
    text: `${plain}curriculum: { estimator: { pilots: ${pilots} } }\n`,
    values: { "curriculum.estimator.model": "quadratic", "curriculum.sampler.use": "mixture" },
  },
  recap: { rows: ["3-21"], values: { "auxiliary.1.use": "recap", "auxiliary.1.temperature": 5 } },
  drive: {
    rows: ["2-35", "4-12"],
    values: {
      "stages.broad.rollout.group": 8,
      "stages.broad.steps": 32,
      "stages.hard.rollout.group": 64,
      "stages.hard.curriculum.admission.keep": [72, 50, 25],
    },
  },
  "kimi-k1.5-sampling": {
    rows: ["1-25"],
    values: {
      "stages.curriculum.curriculum.sampler.order": "ascending",
      "stages.prioritised.curriculum.signal": "failure_ratio",
      "stages.prioritised.curriculum.sampler.floor": 0,
    },
  },
  "balanced-filtering": {
    rows: ["0-11"],
    values: {
      "curriculum.admission.low": 0.2,
      "curriculum.admission.high": 0.8,
      "curriculum.admission.inclusive": true,
      "curriculum.admission.refill.use": "adaptive",
    },
  },
  prime: {
    rows: ["1-04"],
    values: {
      "curriculum.admission.low": 0.2,
      "curriculum.admission.high": 0.8,
      "curriculum.admission.refill.use": "adaptive",
      "reward.terms.process.beta": 0.05,
      "advantage.per_source": true,
    },
  },
  "mm-eureka": {
    rows: ["1-48"],
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
    rows: ["0-23"],
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
    rows: ["2-24"],
    values: {
      "curriculum.admission.use": "nonzero_variance",
      "curriculum.admission.refill.use": "running_minima",
      "objective.high": 0.28,
    },
  },
  "vla-rl": {
    rows: ["2-43", "3-22"],
    values: { "curriculum.signal.use": "failure_ratio", "curriculum.sampler.use": "boltzmann" },
  },
  "one-example": {
    rows: ["0-36"],
    values: {
      "rollout.prompts": 128,
      "rollout.group": 8,
      "rollout.temperature": 0.6,
      "kl.0.coefficient": 0.001,
      "objective.entropy": 0.001,
    },
  },
  brorl: { rows: ["3-11"], values: { "rollout.group": 512 } },
  stepcoder: {
    rows: ["1-58"],
    values: { "curriculum.start.use": "reverse", mask: [{ use: "executed_lines" }] },
  },
});
