import { UserError } from "../../shared/errors.ts";
import { valueAt } from "../config/declaration.ts";
import type { CreateContext, KlConfig } from "../config/resolved.ts";
import type { KlTerm } from "../seams.ts";
import { create } from "./create.ts";

/** The lines of the config's `kl` list, ready to use. */
export const klTerms = (list: readonly KlConfig[], context: CreateContext): KlTerm[] =>
  list.map((config, at) => {
    const { model, direction, place, coefficient } = config;
    if (direction === "forward") {
      throw new UserError(
        `kl.${at}: the forward divergence can't be estimated from the policy's own samples with k1, k2 or k3`,
        {
          code: "kl-direction",
          action: "Set `direction: reverse`, or remove the entry.",
        },
      );
    }
    return {
      model,
      direction,
      place,
      estimator: create(config.estimator, context),
      coefficient: (clock) => valueAt(coefficient, clock),
    };
  });
