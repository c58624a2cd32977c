/** How the functions that a hook has seen are called in the run's config, and what they weigh. */
import { objectOf, type JsonObject } from "../../../../../shared/lib/json.ts";
import type { HookTerms } from "../../../../analysis/imported/hookRows.ts";
import type { RunConfig } from "../../../../core/config/runConfig.ts";
import { valueAt } from "../../../../core/schedule.ts";

const beginning = { step: 0, stageStep: 0 };

/**
 * A function is the term of its name; where there are as many terms as functions, they are matched in their order. Weights
 * are the config's, else those that TRL's arguments have.
 * @param functions in the order in which they were first called
 */
export function hookTerms(
  functions: readonly string[],
  settings: JsonObject,
  config: RunConfig | undefined,
): HookTerms {
  const own = (config?.top.reward.terms ?? []).map(({ name, weight }) => ({
    name,
    weight: valueAt(weight, beginning),
  }));
  const byName = functions.every((one) => own.some(({ name }) => name === one));
  const inOrder = !byName && own.length === functions.length;
  const names = inOrder ? Object.fromEntries(functions.map((one, at) => [one, own[at]!.name])) : {};
  if (byName || inOrder)
    return { names, weights: Object.fromEntries(own.map(({ name, weight }) => [name, weight])) };
  const weights = objectOf(settings["arguments"])["reward_weights"];
  const fits = Array.isArray(weights) && weights.length === functions.length;
  return {
    names: {},
    weights: fits ? Object.fromEntries(functions.map((one, at) => [one, Number(weights[at])])) : {},
  };
}
