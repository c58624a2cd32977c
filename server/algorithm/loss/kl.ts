/** The lines of the config's `kl` list, ready to use. */
import { UserError } from "../../../shared/lib/errors.ts";
import { valueAt } from "../../core/schedule.ts";
import type { KlConfig } from "../../core/config/resolved.ts";
import { AdaptiveCoefficient } from "../../methods/kl/adaptive.ts";
import type { KlAggregate, KlImportance, AdaptiveOptions } from "../../core/blocks/kl.ts";
import type { KlEstimator, KlTerm } from "../../core/slots/kl.ts";
import { create } from "../../core/create.ts";
import { teacherContextNames } from "../../core/blocks/teacherContext.ts";
import { readerName } from "../../core/rows/reader.ts";
import { actsOn } from "./klFactors.ts";
import type { CreateContext } from "../../core/declaration.ts";

/** A term with what only the loss asks of it. */
export interface LossKlTerm extends KlTerm {
  readonly aggregate: KlAggregate;
  readonly importance: KlImportance | undefined;
  readonly adaptive: AdaptiveCoefficient | undefined;
  /** It acts on rollouts that routes send to distillation, where its model had that teacher context. */
  readonly distils?: { readonly teacher?: string };
}

function directed(config: KlConfig, at: number, context: CreateContext): KlEstimator {
  const { direction, place } = config;
  const estimator = create(config.estimator, context);
  if (estimator.full !== undefined) {
    if (place === "loss") return estimator;
    throw new UserError(
      `kl.${at}: the full divergence is part of the loss, and cannot be subtracted from rewards`,
      { code: "kl-place", action: "Set `place: loss`, or choose the estimator k1, k2 or k3." },
    );
  }
  if (direction === "reverse") return estimator;
  if (estimator.forward !== undefined) return estimator.forward;
  throw new UserError(`kl.${at}: the estimator cannot estimate the forward divergence`, {
    code: "kl-direction",
    action: "Set `direction: reverse`, or choose another estimator.",
  });
}

const importanceOf = (wanted: KlConfig["importance_weighted"]): KlImportance | undefined =>
  wanted === true ? { level: "token", of: "value", detached: false } : wanted === false ? undefined : wanted;

const isAdaptive = (coefficient: KlConfig["coefficient"]): coefficient is AdaptiveOptions =>
  typeof coefficient === "object" && "use" in coefficient;

function coefficientOf(
  coefficient: KlConfig["coefficient"],
  passes: number,
): Pick<LossKlTerm, "adaptive" | "coefficient"> {
  if (!isAdaptive(coefficient))
    return { adaptive: undefined, coefficient: (clock) => valueAt(coefficient, clock) };
  const adaptive = new AdaptiveCoefficient(coefficient, passes);
  return { adaptive, coefficient: () => adaptive.value };
}

/** @param passes how often a step goes over its rollouts */
export const klTerms = (list: readonly KlConfig[], context: CreateContext, passes: number): LossKlTerm[] =>
  list.map((config, at) => {
    const { direction, place } = config;
    const teacher = teacherContextNames(list)[at];
    const model = readerName({ model: config.model, ...(teacher !== undefined && { teacher }) });
    const acts = actsOn({ ...config, model }, at, context, teacher);
    return {
      model,
      ...(config.mask === "distilled" && { distils: { ...(teacher !== undefined && { teacher }) } }),
      direction,
      place,
      estimator: directed(config, at, context),
      ...coefficientOf(config.coefficient, passes),
      aggregate: config.aggregate,
      importance: importanceOf(config.importance_weighted),
      entropy: config.weight?.entropy_of === "model",
      ...(acts === undefined ? {} : { acts }),
    };
  });
