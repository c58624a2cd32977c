/** Every kind of evidence, and what a run shows of all of them. */
import { admission } from "./kinds/admission.ts";
import { arms } from "./kinds/arms.ts";
import { clip } from "./kinds/clip.ts";
import { clipNorm } from "./kinds/clipNorm.ts";
import { constantTerm } from "./kinds/constantTerm.ts";
import { critic } from "./kinds/critic.ts";
import { entropy } from "./kinds/entropy.ts";
import { evaluations } from "./kinds/evaluations.ts";
import { gradientNorm } from "./kinds/gradientNorm.ts";
import type { EvidenceKind, Sighting } from "./kind.ts";
import { kl } from "./kinds/kl.ts";
import { memory } from "./kinds/memory.ts";
import type { RunRecord } from "./record.ts";
import { scheduleEnds } from "./kinds/schedules.ts";
import { termErrors } from "./kinds/termErrors.ts";
import { termMean } from "./kinds/termMean.ts";
import { truncation } from "./kinds/truncation.ts";
import { until } from "./kinds/until.ts";
import { RunView } from "./view.ts";
import { verdict } from "./kinds/verdict.ts";
import { zeroAdvantage } from "./kinds/zeroAdvantage.ts";

export const kinds: readonly EvidenceKind[] = [
  verdict,
  constantTerm,
  termErrors,
  termMean,
  truncation,
  arms,
  admission,
  zeroAdvantage,
  clip,
  kl,
  entropy,
  critic,
  gradientNorm,
  clipNorm,
  scheduleEnds,
  until,
  evaluations,
  memory,
];

export type RunSighting = Sighting & { readonly kind: string };

export interface RunSightings {
  readonly view: RunView;
  readonly sightings: readonly RunSighting[];
}

/** @param window steps that are looked back on */
export function see(record: RunRecord, window: number): RunSightings {
  const view = new RunView(record, window);
  return {
    view,
    sightings: kinds.flatMap(({ id, see: look }) =>
      [look(view)].flat().map((sighting) => ({ ...sighting, kind: id })),
    ),
  };
}
