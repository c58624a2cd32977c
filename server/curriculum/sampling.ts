import type { Clock, Estimates, Random, Sampler } from "../seams.ts";
import { drawFrom } from "./draws.ts";

/** A sampler that draws independently from its probabilities. */
export const by = (probabilities: Sampler["probabilities"]): Sampler => ({
  probabilities,
  draw: (estimates: Estimates, n: number, random: Random, clock: Clock) =>
    drawFrom(probabilities(estimates, clock), n, random),
});
