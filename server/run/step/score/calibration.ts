/** What the first look at sampler and trainer found, and how later looks compare with it. */
import { z } from "zod";
import { formatNumber, plural } from "../../../../shared/lib/format.ts";
import type { JsonObject } from "../../../../shared/lib/json.ts";
import type { Saved, Stateful } from "../../../core/basics.ts";

export const looksAt = 32;

/** Standard errors of a look's mean that the band allows. */
const allowed = 4;

/** Nats below which a mismatch never matters, and above which it matters from the first step on. */
const negligible = 1e-6;

const alarming = 0.01;

const bandSchema = z.object({ mean: z.number(), high: z.number(), rows: z.number(), outside: z.boolean() });

type MismatchBand = z.output<typeof bandSchema>;

/** From one number a row, NaN where a row has none, to the band that a later look's mean should stay in: [0, high]. */
export function bandOf(rows: readonly number[]): Omit<MismatchBand, "outside"> | undefined {
  const known = rows.filter((value) => !Number.isNaN(value));
  if (known.length === 0) return undefined;
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  const squares = known.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const deviation = Math.sqrt(squares / Math.max(1, known.length - 1));
  const error = deviation / Math.sqrt(Math.min(looksAt, known.length));
  return { mean, high: Math.max(negligible, mean + allowed * error), rows: known.length };
}

/** What a look reports, as an event of the run. */
interface CalibrationEvent {
  readonly severity: "info" | "warning";
  readonly name: "mismatch" | "mismatch-calibrated";
  readonly message: string;
  readonly action?: string;
  readonly data: JsonObject;
}

/** What the first look found. It outlives stages and attempts. */
export class Calibration implements Stateful {
  band: MismatchBand | undefined;

  /** @param rows k3 of each row of the first look */
  calibrate(rows: readonly number[]): CalibrationEvent | undefined {
    const band = bandOf(rows);
    if (band === undefined) return undefined;
    this.band = { ...band, outside: false };
    const of = `${formatNumber(band.mean)} nats a token (k3 over ${plural(band.rows, "rollout")})`;
    if (band.mean <= alarming)
      return {
        severity: "info",
        name: "mismatch-calibrated",
        message: `Sampler and trainer agree to ${of}; up to ${formatNumber(band.high)} counts as noise.`,
        data: band,
      };
    return {
      severity: "warning",
      name: "mismatch",
      message: `Sampler and trainer disagree by ${of} from the first step on.`,
      action:
        "Weight tokens by an entry of objective.correction, or make the sampler compute as the trainer does.",
      data: band,
    };
  }

  /** An event as the band is left, and none until it has been entered again. */
  compare(k3: number): CalibrationEvent | undefined {
    const { band } = this;
    if (band === undefined) return undefined;
    const outside = k3 > band.high;
    this.band = { ...band, outside };
    if (!outside || band.outside) return undefined;
    return {
      severity: "warning",
      name: "mismatch",
      message: `Sampler and trainer have drifted apart: k3 is ${formatNumber(k3)} nats a token. At the start it stayed below ${formatNumber(band.high)}.`,
      action:
        "Look at update/ratio_max and at the age of the weights that generated the rollouts. An entry of objective.correction bounds the effect of such tokens.",
      data: { k3, high: band.high },
    };
  }

  save(): Saved {
    return { json: this.band ?? null };
  }
  load({ json }: Saved): void {
    this.band = json === null ? undefined : bandSchema.parse(json);
  }
}
