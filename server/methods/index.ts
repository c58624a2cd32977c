/** Every method there is. A slot's index lists its own; this is only their union. */
import { baselines, scales, tokenWeights } from "./advantage/index.ts";
import { auxiliaries } from "./auxiliary/index.ts";
import type { Declaration, SlotName } from "../core/declaration.ts";
import { corrections } from "./correction/index.ts";
import { admissions, arms, budgets, estimators, refills, samplers, signals } from "./curriculum/index.ts";
import { taskAnswers, taskAuthors, taskGates, taskSelectors, taskTransforms } from "./generation/index.ts";
import { guidanceAmounts, guidanceRatios, guidanceSources, guidanceTriggers } from "./guidance/index.ts";
import { environments } from "./environment/index.ts";
import { klEstimators } from "./kl/index.ts";
import { masks } from "./mask/index.ts";
import { aggregates, objectives } from "./objective/index.ts";
import { optimizers } from "./optimizer/index.ts";
import { replayAdmissions, replayDraws, replaySources, rescores, selections } from "./replay/index.ts";
import { combiners, rewardTerms } from "./reward/index.ts";
import { branchings } from "./rollout/branching/index.ts";
import { episodeShapes } from "./rollout/shapes/index.ts";
import { starts } from "./curriculum/start/index.ts";
import { taskSources } from "./tasks/index.ts";
import { tools } from "./tool/index.ts";

export const methods: readonly Declaration[] = [
  ...taskSources,
  ...taskSelectors,
  ...taskTransforms,
  ...taskAuthors,
  ...taskAnswers,
  ...taskGates,
  ...arms,
  ...signals,
  ...estimators,
  ...samplers,
  ...admissions,
  ...refills,
  ...budgets,
  ...starts,
  ...branchings,
  ...episodeShapes,
  ...environments,
  ...tools,
  ...guidanceTriggers,
  ...guidanceSources,
  ...guidanceAmounts,
  ...guidanceRatios,
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

let known: ReadonlyMap<string, Declaration> | undefined;

/** By slot and name or alias; a config asks for thousands. */
const indexed = (): ReadonlyMap<string, Declaration> =>
  (known ??= new Map(
    methods
      .flatMap((method) =>
        [method.name, ...(method.aliases ?? [])].map((name) => [`${method.slot} ${name}`, method] as const),
      )
      .reverse(),
  ));

/** The declaration of a slot by its name or an alias of it. */
export function methodOf<Slot extends SlotName>(slot: Slot, name: string): Declaration<Slot> | undefined {
  const method = indexed().get(`${slot} ${name}`);
  return method !== undefined && isOf(method, slot) ? method : undefined;
}

const isOf = <Slot extends SlotName>(method: Declaration, slot: Slot): method is Declaration<Slot> =>
  method.slot === slot;
