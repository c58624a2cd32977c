/**
 * How far the sampler's log-probs are from the trainer's on the same tokens. The run's first look measures how they
 * scatter while all is as it was set up; later looks are compared with that band.
 */
import { looksAt } from "./calibration.ts";
import { describeMismatch } from "../../../algorithm/advantages/describe.ts";
import { selectTokenColumn, tokensOf } from "../../../algorithm/advantages/tokenColumn.ts";
import { selectRows } from "../../../core/rows/batch.ts";
import { origin } from "../../../core/rollouts.ts";
import type { StepContext } from "../context.ts";
import type { Training } from "../update/training.ts";

/** Steps between two looks, and rows looked at: more of them by the first look. */
const lookEvery = 20;
const calibratesOn = 128;

/** `mismatch/k3` on some of the rows, now and then: the same weights, through the trainer's forward pass. */
export async function measureMismatch(
  context: StepContext,
  training: Training,
): Promise<Record<string, number>> {
  const { clock, session, stage } = context;
  const { batch, weights } = training;
  const { calibration } = stage;
  const due = calibration.band === undefined || clock.stageStep % lookEvery === 0;
  if (!due || batch.rows === 0 || batch.columns.logp_old === undefined) return {};
  const most = calibration.band === undefined ? calibratesOn : looksAt;
  const stride = Math.max(1, Math.floor(batch.rows / most));
  // A stripped row trains in another context than it was written in: the two are meant to differ.
  const comparable = [...batch.records.keys()].filter((row) => batch.records[row]!.help?.stripped !== true);
  const rows = comparable.filter((_, i) => i % stride === 0).slice(0, most);
  if (rows.length === 0) return {};
  const some = selectRows(batch, rows);
  const { logp } = await session.models.get("policy").score(some, { model: "policy", channels: ["logp"] });
  if (logp === undefined) return {};
  const own = some.columns.logp_old!;
  const counted = tokensOf(selectTokenColumn(weights, batch, rows)).map((weight, i) =>
    some.origin[i] === origin.written ? weight : 0,
  );
  const found = describeMismatch(own, logp, counted);
  const k3 = found["mismatch/k3"];
  if (k3 === undefined) return found;
  const event =
    calibration.band === undefined
      ? calibration.calibrate(eachRow(some.offsets, own, logp, counted))
      : calibration.compare(k3);
  if (event !== undefined) {
    const { severity, name, message, ...more } = event;
    session.recorder.event(severity, name, message, { step: context.step, ...more });
  }
  return { ...found, ...(calibration.band && { "mismatch/band": calibration.band.high }) };
}

/** k3 of each row; NaN where none of its tokens counts. */
function eachRow(
  offsets: Int32Array,
  own: Float64Array,
  logp: Float64Array,
  weights: Float64Array,
): number[] {
  return Array.from({ length: offsets.length - 1 }, (_, row) => {
    const part = (column: Float64Array): Float64Array => column.subarray(offsets[row], offsets[row + 1]);
    return describeMismatch(part(own), part(logp), part(weights))["mismatch/k3"] ?? Number.NaN;
  });
}
