/** Every kind of evidence, and what a run shows of all of them. */
import { admission } from "./admission.ts";
import { arms } from "./arms.ts";
import { clip } from "./clip.ts";
import { clipNorm } from "./clipNorm.ts";
import { constantTerm } from "./constantTerm.ts";
import { entropy } from "./entropy.ts";
import { evaluations } from "./evaluations.ts";
import { gradientNorm } from "./gradientNorm.ts";
import type { EvidenceKind, Sighting } from "./kind.ts";
import { kl } from "./kl.ts";
import { memory } from "./memory.ts";
import type { RunRecord } from "./record.ts";
import { scheduleEnds } from "./schedules.ts";
import { termErrors } from "./termErrors.ts";
import { termMean } from "./termMean.ts";
import { truncation } from "./truncation.ts";
import { until } from "./until.ts";
import { RunView } from "./view.ts";
import { zeroAdvantage } from "./zeroAdvantage.ts";

export const kinds: readonly EvidenceKind[] = [
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
  gradientNorm,
  clipNorm,
  scheduleEnds,
  until,
  evaluations,
  memory,
];

export type RunSighting = Sighting & { readonly kind: string };

export interface Seen {
  readonly view: RunView;
  readonly sightings: readonly RunSighting[];
}

/** @param window steps that are looked back on */
export function see(record: RunRecord, window: number): Seen {
  const view = new RunView(record, window);
  return {
    view,
    sightings: kinds.flatMap(({ id, see: look }) =>
      look(view).map((sighting) => ({ ...sighting, kind: id })),
    ),
  };
}
