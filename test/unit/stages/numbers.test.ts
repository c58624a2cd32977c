/** Stages: what their papers and released code give as numbers, in the presets. */
import { presetsHave } from "../presetNumbers.ts";

presetsHave({
  "vision-r1-ptst": {
    rows: ["0-88", "1-66"],
    values: { "stages.suppressed.rollout": { budget: 0.5, group: 16 }, "stages.released.rollout.group": 8 },
  },
  "r1-searcher": {
    rows: ["1-31"],
    values: {
      "stages.form.reward.terms.form.weight": 0.5,
      "stages.answers.reward.terms.form.weight": 2,
    },
  },
  remix: {
    rows: ["0-44", "4-32"],
    values: {
      "replay.share": 0.4,
      "replay.updates": 2,
      "replay.max_age": 2,
      "stages.reincarnated.on_enter": ["refresh_reference"],
    },
  },
  "qwenlong-l1": {
    rows: ["0-02"],
    values: { "stages.long.on_enter.carry_over.weight": "inverse_reward", "rollout.temperature": 0.7 },
  },
  rlp: {
    rows: ["4-01"],
    values: { "models.no_think.ema.decay": 0.999, "advantage.baseline.use": "leave_one_out", kl: [] },
  },
  "cure-two-stage": {
    rows: ["0-49", "2-18"],
    values: {
      "rollout.group": 16,
      "stages.branching.rollout.branch": { use: "top_entropy", k: 20, children: 3 },
      "objective.high": 0.28,
    },
  },
});
