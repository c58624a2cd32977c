import { z } from "zod";
import { sampler } from "../config/declaration.ts";
import { normalised } from "./draws.ts";
import { by } from "./sampling.ts";

export const uniform = sampler({
  name: "uniform",
  summary: "Every arm alike, or in proportion to the task weights.",
  formula: "p(a) ∝ weight of a's task",
  sources: [],
  params: z.object({}),
  create: () => by((estimates) => normalised(new Map([...estimates.keys()].map((arm) => [arm, 1])))),
});
