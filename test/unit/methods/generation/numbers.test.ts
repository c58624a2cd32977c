/** Generated tasks: what their papers and released code give as numbers, in the presets. */
import { presetsHave, reward } from "../../presetNumbers.ts";

presetsHave({
  clpo: {
    papers: ["CLPO: Curriculum Learning meets Policy Optimization for LLM Reasoning"],
    text: reward,
    values: {
      "tasks.simpler.generate.selector.high": 0.3,
      "tasks.other.generate.selector.low": 0.3,
      "tasks.other.generate.selector.high": 0.7,
      "tasks.simpler.generate.answer.use": "inherit",
      "rollout.group": 4,
      "kl.0.coefficient": 0.001,
    },
  },
  sws: {
    papers: ["SwS: Self-aware Weakness-driven Problem Synthesis in Reinforcement Learning for LLM Reasoning"],
    text: reward,
    values: {
      "tasks.weakness.generate.selector.use": "never_learned",
      "tasks.weakness.generate.selector.budget": "failure_ratio",
      "tasks.weakness.generate.transform.similarity.temperature": 0.2,
      "tasks.weakness.generate.gates.3": { use: "success_band", low: 0.125, high: 0.875 },
      "stages.augmented.curriculum.admission.low": 0.125,
      "stages.augmented.curriculum.admission.high": 0.875,
    },
  },
  "webrl-tasks": {
    papers: ["WebRL: Training LLM Web Agents via Self-Evolving Online Curriculum Reinforcement Learning"],
    text: reward,
    values: {
      "tasks.evolved.generate.selector.use": "failures",
      "tasks.evolved.generate.gates.1": { use: "success_band", low: 0.05, high: 0.75 },
    },
  },
  "webrl-replay": {
    papers: ["WebRL: Training LLM Web Agents via Self-Evolving Online Curriculum Reinforcement Learning"],
    values: { "replay.admission.perplexity": [1.0526, 2] },
  },
  eva: {
    papers: [
      "Scalable Reinforcement Post-Training Beyond Static Human Prompts: Evolving Alignment via Asymmetric Self-Play",
    ],
    text: reward,
    values: {
      "tasks.deeper.generate.selector.use": "reward_range",
      "tasks.deeper.generate.transform.way": "depth",
      "tasks.broader.generate.transform.way": "breadth",
      "advantage.baseline.use": "leave_one_out",
    },
  },
});
