import { z } from "zod";
import { guidanceAmount, param } from "../../../core/declaration.ts";

export const groupGradient = guidanceAmount({
  name: "group_gradient",
  summary:
    "The first rollout of a group gets all of the help and the last one none; over the run the help fades for all of them.",
  formula:
    "share = (G − i)/(G − 1) · 1/(1 + exp(slope (t − middle))), i = 1 … G, t = step / (over − 1), at most 1; where over is 1, nothing fades",
  sources: [
    "Breaking the Exploration Bottleneck: Rubric-Scaffolded Reinforcement Learning for General LLM Reasoning",
  ],
  params: z.object({
    slope: param(z.number().min(0).default(125), "Steepness of the fading; 125 in the source's code."),
    middle: param(
      z.number().default(0.2),
      "Fraction of the run at which half of the help is left; 0.2 in the source's code.",
    ),
    over: param(
      z.number().int().positive().nullable().default(null),
      "Steps over which t goes from 0 (the first) to 1 (the last); null: the steps of the stage.",
    ),
  }),
  create: ({ slope, middle, over }) => ({
    rounds: 1,
    spread: "retries",
    share: ({ member, members, clock, steps }) => {
      const within = members === 1 ? 1 : (members - 1 - member) / (members - 1);
      const [step, whole] = over === null ? [clock.stageStep, steps] : [clock.step, over];
      if (whole <= 1) return { share: within };
      const t = Math.min(1, step / (whole - 1));
      return { share: within / (1 + Math.exp(slope * (t - middle))) };
    },
  }),
});
