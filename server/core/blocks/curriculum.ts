/** The keys of `curriculum`: which task comes next. */
import { choice, map } from "./kinds.ts";

export const curriculum = map(
  {
    arms: choice("arms", "Which sets of tasks the curriculum chooses between.", { default: "difficulty" }),
    signal: choice("signal", "What a group of rollouts says about its arm.", {
      default: "mean_abs_advantage",
    }),
    estimator: choice("estimator", "How an arm's signals become one number.", { default: "ema" }),
    sampler: choice("sampler", "How arms are drawn from their estimates.", { default: "uniform" }),
    start: choice("start", "Where the rollouts of a task begin.", { default: "prompt" }),
    admission: choice("admission", "Which groups reach training.", { default: "none" }),
    refill: choice("refill", "How rejected groups are replaced within the step.", {
      default: "none",
      within: "admission",
    }),
    budget: choice("budget", "How many groups a step begins with, and how many rollouts each of them gets.", {
      default: "fixed",
    }),
  },
  "Which task comes next.",
);
