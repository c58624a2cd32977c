/** What the model of an `auxiliary` learner learns. */
import { create } from "../algorithm/create.ts";
import type { AuxiliaryConfig, CreateContext } from "../config/resolved.ts";
import { valueClipped } from "../objective/valueClipped.ts";
import type { Objective } from "../seams.ts";

/** The config's objective; where it has none, the returns of a critic, without a clip. */
export const learntObjective = (
  { objective }: Pick<AuxiliaryConfig, "objective">,
  context: CreateContext,
): Objective =>
  objective === undefined
    ? valueClipped.create(valueClipped.params.parse({ clip: null }), { ...context, folder: "" })
    : create(objective, context);
