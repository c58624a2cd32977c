/** What of a run's config the verdict reads. */
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import { isObject, valueAt } from "../evidence/json.ts";
import type { VerdictRecord } from "./record.ts";
import { answerTerms, recordedTerms } from "./recordedTerms.ts";

export interface VerdictFacts {
  /** Every reward term. */
  readonly terms: readonly string[];
  /** Those that decide what is a success. */
  readonly success: ReadonlySet<string>;
  /** Their names say so, and nothing else does. */
  readonly guessed: boolean;
  /** Those that score held-out answers alone. */
  readonly gold: readonly string[];
  /** Another trainer made the run. */
  readonly imported: boolean;
  /** Whether the reward is the terms' weighted sum, so that each has a share of it. */
  readonly summed: boolean;
  /** Groups of a step; null: unknown. */
  readonly prompts: number | null;
  /** Tasks that an evaluation asks; null: unknown. */
  readonly asked: number | null;
  /** Steps between evaluations; null: none are made. */
  readonly every: number | null;
  /** Whether every step draws from the same tasks in the same proportions, so that its success rate can be compared. */
  readonly steady: boolean;
  /** Whether advantages are divided by the spread of their group. */
  readonly scaled: boolean;
  /** Rollouts of a group; null: unknown. */
  readonly group: number | null;
}

const numberAt = (tree: JsonObject, ...path: string[]): number | null => {
  const value = valueAt(tree, path);
  return typeof value === "number" ? value : null;
};
const useAt = (tree: JsonObject, ...path: string[]): string | null => {
  const value: Json | undefined = valueAt(tree, path);
  const use = isObject(value) ? value["use"] : value;
  return typeof use === "string" ? use : null;
};
const textsAt = (tree: JsonObject, ...path: string[]): readonly string[] => {
  const value = valueAt(tree, path);
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
};

/** @param metrics names of what was recorded: another trainer's config may name no terms */
export function factsOf(
  { config, imported }: Pick<VerdictRecord, "config" | "imported">,
  metrics: readonly string[] = [],
): VerdictFacts {
  const configured = configuredTerms(config);
  const terms = imported && configured.length === 0 ? recordedTerms(metrics) : configured;
  const named = textsAt(config, "reward", "success", "terms");
  const gold = textsAt(config, "reward", "gold");
  const stages = valueAt(config, ["stages"]);
  const several = Array.isArray(stages) && stages.filter((stage) => isRl(stage)).length > 1;
  const guesses = imported && named.length === 0 ? answerTerms(terms) : [];
  const first = configured.filter((term) => !gold.includes(term)).slice(0, 1);
  return {
    terms,
    success: new Set(named.length > 0 ? named : guesses.length > 0 ? guesses : first),
    guessed: imported && named.length === 0,
    gold,
    imported,
    summed: (useAt(config, "reward", "combine") ?? "sum") === "sum",
    prompts: numberAt(config, "rollout", "prompts"),
    asked: imported ? null : numberAt(config, "evaluation", "prompts"),
    every: imported ? null : numberAt(config, "evaluation", "every"),
    steady: !several && (useAt(config, "curriculum", "sampler") ?? "uniform") === "uniform",
    scaled: (useAt(config, "advantage", "scale") ?? "group_std") === "group_std",
    group: numberAt(config, "rollout", "group"),
  };
}

export function configuredTerms(config: JsonObject): readonly string[] {
  const terms = valueAt(config, ["reward", "terms"]);
  return isObject(terms) ? Object.keys(terms) : [];
}

const isRl = (stage: Json): boolean => isObject(stage) && (stage["kind"] ?? "rl") === "rl";
