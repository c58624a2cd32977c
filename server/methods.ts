/** Every method there is. A slot's index lists its own; this is only their union. */
import { baselines, scales, tokenWeights } from "./advantage/index.ts";
import { auxiliaries } from "./auxiliary/index.ts";
import type { Declaration, SlotName } from "./config/declaration.ts";
import { corrections } from "./correction/index.ts";
import { admissions, arms, estimators, refills, samplers, signals } from "./curriculum/index.ts";
import { guidances } from "./guidance/index.ts";
import { klEstimators } from "./kl/index.ts";
import { masks } from "./mask/index.ts";
import { aggregates, objectives } from "./objective/index.ts";
import { optimizers } from "./policy/optimizers/index.ts";
import { replayAdmissions, replayDraws, replaySources, rescores, selections } from "./replay/index.ts";
import { combiners, rewardTerms } from "./reward/index.ts";
import { taskSources } from "./tasks/index.ts";

export const methods: readonly Declaration[] = [
  ...taskSources,
  ...arms,
  ...signals,
  ...estimators,
  ...samplers,
  ...admissions,
  ...refills,
  ...guidances,
  ...rewardTerms,
  ...combiners,
  ...baselines,
  ...scales,
  ...tokenWeights,
  ...masks,
  ...replaySources,
  ...replayAdmissions,
  ...replayDraws,
  ...rescores,
  ...selections,
  ...auxiliaries,
  ...klEstimators,
  ...objectives,
  ...aggregates,
  ...corrections,
  ...optimizers,
];

/** The declaration of a slot by its name or an alias of it. */
export const methodOf = <Slot extends SlotName>(slot: Slot, name: string): Declaration<Slot> | undefined =>
  methods.find(
    (method): method is Declaration<Slot> =>
      method.slot === slot && (method.name === name || (method.aliases ?? []).includes(name)),
  );
