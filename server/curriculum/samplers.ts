import { z } from "zod";
import { sampler, schedulable, valueAt } from "../config/declaration.ts";
import type { Clock, Estimates, Random, Sampler } from "../seams.ts";
import { drawFrom, normalised, optimistic } from "./draws.ts";

const by = (probabilities: Sampler["probabilities"]): Sampler => ({
  probabilities,
  draw: (estimates: Estimates, n: number, random: Random, clock: Clock) => drawFrom(probabilities(estimates, clock), n, random),
});

export const uniform = sampler({
  name: "uniform",
  summary: "Every arm alike, or in proportion to the task weights.",
  formula: "p(a) ∝ weight of a's task",
  sources: [],
  params: z.object({}),
  create: () => by((estimates) => normalised(new Map([...estimates.keys()].map((arm) => [arm, 1])))),
});

export const boltzmann = sampler({
  name: "boltzmann",
  summary: "Draws arm a with probability softmax(estimate / temperature).",
  formula: "p(a) = exp(Q(a)/τ) / Σ_b exp(Q(b)/τ)",
  sources: ["Self-Evolving Curriculum for LLM Reasoning"],
  params: z.object({ temperature: schedulable(z.number().positive()).default(1).describe("τ; 0.2 to 1 in the source.") }),
  create: ({ temperature }) =>
    by((estimates, clock) => {
      const tau = valueAt(temperature, clock);
      const known = optimistic(estimates);
      const top = Math.max(...known.values());
      // With τ scheduled to 0 only the best arms remain.
      return normalised(new Map([...known].map(([arm, q]) => [arm, tau > 0 ? Math.exp((q - top) / tau) : q === top ? 1 : 0])));
    }),
});

export const proportional = sampler({
  name: "proportional",
  summary: "In proportion to the estimate, with a floor shared by all arms.",
  formula: "p(a) = floor/n + (1 − floor) max(Q(a), 0) / Σ_b max(Q(b), 0)",
  sources: ["Kimi k1.5: Scaling Reinforcement Learning with LLMs"],
  params: z.object({ floor: z.number().min(0).max(1).default(0.1).describe("Probability spread evenly over all arms.") }),
  create: ({ floor }) =>
    by((estimates) => {
      const shares = normalised(new Map([...optimistic(estimates)].map(([arm, q]) => [arm, Math.max(q, 0)])));
      return new Map([...shares].map(([arm, p]) => [arm, floor / shares.size + (1 - floor) * p]));
    }),
});
