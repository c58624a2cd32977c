/** Stages: what their papers and released code give as numbers, in the presets. */
import { presetsHave } from "../presetNumbers.ts";

presetsHave({
  "vision-r1-ptst": {
    papers: ["Vision-R1: Incentivizing Reasoning Capability in Multimodal Large Language Models"],
    values: { "stages.suppressed.rollout": { budget: 0.5, group: 16 }, "stages.released.rollout.group": 8 },
  },
  "r1-searcher": {
    papers: ["R1-Searcher: Incentivizing the Search Capability in LLMs via Reinforcement Learning"],
    values: {
      "stages.form.reward.terms.form.weight": 0.5,
      "stages.answers.reward.terms.form.weight": 2,
    },
  },
  remix: {
    papers: [
      "Squeeze the Soaked Sponge: Efficient Off-policy Reinforcement Finetuning for Large Language Model",
    ],
    values: {
      "replay.share": 0.4,
      "replay.updates": 2,
      "replay.max_age": 2,
      "stages.reincarnated.on_enter": ["refresh_reference"],
    },
  },
  "qwenlong-l1": {
    papers: ["QwenLong-L1: Towards Long-Context Large Reasoning Models with Reinforcement Learning"],
    values: { "stages.long.on_enter.carry_over.weight": "inverse_reward", "rollout.temperature": 0.7 },
  },
  rlp: {
    papers: ["RLP: Reinforcement as a Pretraining Objective"],
    values: { "models.no_think.ema.decay": 0.999, "advantage.baseline.use": "leave_one_out", kl: [] },
  },
  "cure-two-stage": {
    papers: ["CURE: Critical-Token-Guided Re-Concatenation for Entropy-Collapse Prevention"],
    values: {
      "rollout.group": 16,
      "stages.branching.rollout.branch": { use: "top_entropy", k: 20, children: 3 },
      "objective.high": 0.28,
    },
  },
});
