/** What the model of an `auxiliary` learner learns. */
import { create } from "../../core/create.ts";
import type { AuxiliaryConfig } from "../../core/config/resolved.ts";
import { valueClipped } from "../../methods/objective/values/valueClipped.ts";
import type { Objective } from "../../core/loss.ts";
import type { CreateContext } from "../../core/declaration.ts";

/** The config's objective; where it has none, the returns of a critic, without a clip. */
export const learnerObjective = (
  { objective }: Pick<AuxiliaryConfig, "objective">,
  context: CreateContext,
): Objective =>
  objective === undefined
    ? valueClipped.create(valueClipped.params.parse({ clip: null }), { ...context, folder: "" })
    : create(objective, context);
