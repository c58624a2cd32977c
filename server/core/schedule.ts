/** Numbers that move over steps: the schedules of a config, and their values at a moment. */
import { z } from "zod";
import type { Clock } from "./basics.ts";

// ───────────────────────────────────────────────────────────────── schedules

/** How a number moves over steps: constant, or from → to. */
export const scheduleSchema = z.strictObject({
  schedule: z
    .enum(["linear", "cosine", "sigmoid", "exponential", "steps"])
    .describe("Shape of the path from `from` to `to`."),
  from: z.number().describe("Value until `start`."),
  to: z.number().describe("Value from `start` + `over` on."),
  over: z.number().positive().describe("Length of the change, in steps."),
  start: z.number().nonnegative().default(0).describe("Step at which the change begins."),
  at: z
    .array(z.number())
    .optional()
    .describe("For `steps`: the fractions of `over` at which the value jumps. Default: 5 even jumps."),
  base: z
    .number()
    .positive()
    .optional()
    .describe(
      "For `exponential`: b in from + (to − from)(bᵗ − 1)/(b − 1), with t from 0 to 1. Above 1 the change comes late, below 1 early. ZeroSearch uses 4. Default: equal ratios where both ends have the same sign, else e⁻⁵.",
    ),
});

export type ScheduleSpec = z.output<typeof scheduleSchema> & { readonly clock?: "run" | "stage" };

/** A number that may move over steps. */
export type Scheduled = number | ScheduleSpec;

/** A parameter that can take a schedule: a number, or `{ schedule, from, to, over, start }`. */
export const schedulable = (value: z.ZodType<number>) =>
  z.union([value, scheduleSchema]).meta({ schedulable: true });

/** (bᵗ − 1)/(b − 1) for b = e^rate, which is t at rate 0: 0 at 0, 1 at 1. */
const grown = (rate: number, t: number): number => (rate === 0 ? t : Math.expm1(rate * t) / Math.expm1(rate));

/** The value of a scheduled number at a moment. A schedule written inside a stage counts that stage's steps. */
export function valueAt(value: Scheduled, clock: Clock): number {
  if (typeof value === "number") return value;
  const now = value.clock === "stage" ? clock.stageStep : clock.step;
  const t = Math.min(1, Math.max(0, (now - value.start) / value.over));
  const { from, to } = value;
  switch (value.schedule) {
    case "linear":
      return from + (to - from) * t;
    case "cosine":
      return to + (from - to) * 0.5 * (1 + Math.cos(Math.PI * t));
    case "sigmoid": {
      // Logistic in t ∈ [0, 1] with slope 10, stretched so that both ends are met exactly.
      const logistic = (u: number): number => 1 / (1 + Math.exp(-10 * (u - 0.5)));
      return from + ((to - from) * (logistic(t) - logistic(0))) / (logistic(1) - logistic(0));
    }
    case "exponential":
      // From the larger end, so that their ratio is at most 1: it may be beyond all numbers the other way round.
      if (value.base === undefined && Math.sign(from) * Math.sign(to) > 0)
        return Math.abs(from) < Math.abs(to) ? to * (from / to) ** (1 - t) : from * (to / from) ** t;
      return from + (to - from) * grown(value.base === undefined ? -5 : Math.log(value.base), t);
    case "steps": {
      const jumps = value.at ?? [0.2, 0.4, 0.6, 0.8, 1];
      const passed = jumps.filter((jump) => t >= jump && now >= value.start).length;
      return from + ((to - from) * passed) / jumps.length;
    }
  }
}
