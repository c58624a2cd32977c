import { z } from "zod";
import { sampler } from "../../../core/declaration.ts";
import { independent } from "../fast/independent.ts";

export const uniform = sampler({
  name: "uniform",
  summary: "Draws all arms with equal probability, or in proportion to the task weights.",
  formula: "p(a) ∝ weight of a's task",
  sources: [],
  params: z.object({}),
  create: () => independent(["prior"], ({ priors }) => priors),
});
