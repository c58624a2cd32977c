/** The learning rate's course: a factor on `lr` over steps, after the optimiser's warm-up. */
import { z } from "zod";
import { param } from "../declaration.ts";
import type { Clock } from "../basics.ts";
import { scheduleSchema, valueAt, type Scheduled } from "../schedule.ts";

const shapes = ["constant", "linear", "cosine", "inverse_sqrt", "wsd"] as const;

const shaped = z.strictObject({
  shape: param(
    z.enum(shapes),
    "linear, cosine: fall to `floor` at the end; inverse_sqrt: √(timescale / (timescale + t)); wsd: warm-up, stable, decay.",
  ),
  floor: param(z.number().min(0).max(1).default(0), "What it falls to, as a fraction of `lr`."),
  start: param(
    z.int().nonnegative().optional(),
    "Step at which the schedule begins; the factor is 1 until then. Default: the end of the warm-up.",
  ),
  decay: param(
    z.int().positive().optional(),
    "For wsd: steps of the fall at the end. Default: a tenth of all steps.",
  ),
  decay_shape: param(z.enum(["linear", "cosine", "1-sqrt"]).default("linear"), "For wsd: how it falls."),
  timescale: param(
    z.number().positive().optional(),
    "For inverse_sqrt: the timescale in steps. Default: the warm-up, or 10,000 without one.",
  ),
});

export const learningRateSchedule = z.union([z.enum(shapes), z.number().positive(), shaped, scheduleSchema]);
type LearningRateSchedule = z.output<typeof learningRateSchedule>;

interface Course {
  readonly clock?: "run" | "stage";
  /** Step at which it begins; 1 until then. */
  readonly start: number;
}
interface InverseRoot extends Course {
  readonly shape: "inverse_sqrt";
  readonly timescale: number;
  readonly floor: number;
}
interface Stable extends Course {
  readonly shape: "wsd";
  /** Steps from `start` on at 1, and of the fall after them. */
  readonly stable: number;
  readonly decay: number;
  readonly decay_shape: "linear" | "cosine" | "1-sqrt";
  readonly floor: number;
}
/** As the run reads it. */
export type RateSchedule = Scheduled | InverseRoot | Stable;

/** What a course is laid out over. */
export interface Span {
  /** Steps of the run, or of the stage that wrote the course. */
  readonly steps: number;
  /** Steps that the warm-up takes. */
  readonly warmup: number;
  /** The stage's own clock counts. */
  readonly stage: boolean;
}

/** Lays a named or shaped course out over a run or a stage; other schedules bring their own steps. */
export function laidOut(
  written: Exclude<LearningRateSchedule, z.output<typeof scheduleSchema>>,
  span: Span,
): RateSchedule {
  if (typeof written === "number") return written;
  const course = typeof written === "string" ? shaped.parse({ shape: written }) : written;
  const { floor, decay_shape } = course;
  const clock = span.stage ? ({ clock: "stage" } as const) : {};
  const start = course.start ?? Math.max(0, Math.min(span.warmup, span.steps - 1));
  const left = Math.max(1, span.steps - start);
  switch (course.shape) {
    case "constant":
      return 1;
    case "linear":
    case "cosine":
      return { schedule: course.shape, from: 1, to: floor, over: left, start, ...clock };
    case "inverse_sqrt": {
      const timescale = course.timescale ?? (span.warmup > 0 ? span.warmup : 10_000);
      return { shape: "inverse_sqrt", timescale, floor, start, ...clock };
    }
    case "wsd": {
      const decay = Math.min(course.decay ?? Math.ceil(span.steps / 10), left);
      return { shape: "wsd", stable: left - decay, decay, decay_shape, floor, start, ...clock };
    }
  }
}

/** The factor on `lr` at a moment. */
export function rateAt(schedule: RateSchedule, clock: Clock): number {
  if (typeof schedule === "number" || "schedule" in schedule) return valueAt(schedule, clock);
  const t = Math.max(0, (schedule.clock === "stage" ? clock.stageStep : clock.step) - schedule.start);
  const { floor } = schedule;
  if (schedule.shape === "inverse_sqrt")
    return Math.max(floor, Math.sqrt(schedule.timescale / (schedule.timescale + t)));
  const fallen = Math.min(1, Math.max(0, (t - schedule.stable) / schedule.decay));
  return floor + (1 - floor) * falls[schedule.decay_shape](fallen);
}

/** From 1 to 0 over [0, 1]. */
const falls: Readonly<Record<Stable["decay_shape"], (t: number) => number>> = {
  linear: (t) => 1 - t,
  cosine: (t) => 0.5 * (1 + Math.cos(Math.PI * t)),
  "1-sqrt": (t) => 1 - Math.sqrt(t),
};
