/** The keys of `curriculum`: which task comes next. */
import { choice, map } from "./kinds.ts";

export const curriculum = map(
  {
    arms: choice("arms", "Which sets of tasks the curriculum chooses between.", { default: "difficulty" }),
    signal: choice("signal", "The number that a group of rollouts says of its arm.", {
      default: "mean_abs_advantage",
    }),
    estimator: choice("estimator", "How an arm's signals become one estimate.", { default: "ema" }),
    sampler: choice("sampler", "How arms are drawn from their estimates.", { default: "uniform" }),
    start: choice(
      "start",
      "The start state of a task's rollouts: the prompt, or a place within a recorded episode.",
      { default: "prompt" },
    ),
    admission: choice("admission", "Which groups reach training.", { default: "none" }),
    refill: choice("refill", "How rejected groups are replaced within the step.", {
      default: "none",
      within: "admission",
    }),
    budget: choice("budget", "How many groups a step begins with, and how many rollouts each group gets.", {
      default: "fixed",
    }),
  },
  "Which tasks the run draws next.",
);
