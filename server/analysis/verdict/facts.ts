/** What of a run's config the verdict reads. */
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import { isObject, valueAt } from "../evidence/json.ts";
import type { VerdictRecord } from "./record.ts";

export interface VerdictFacts {
  /** Every reward term. */
  readonly terms: readonly string[];
  /** Those that decide what is a success. */
  readonly success: ReadonlySet<string>;
  /** Those that score held-out answers alone. */
  readonly gold: readonly string[];
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

export function factsOf({ config, imported }: Pick<VerdictRecord, "config" | "imported">): VerdictFacts {
  const reward = valueAt(config, ["reward", "terms"]);
  const terms = isObject(reward) ? Object.keys(reward) : [];
  const named = textsAt(config, "reward", "success", "terms");
  const gold = textsAt(config, "reward", "gold");
  const stages = valueAt(config, ["stages"]);
  const several = Array.isArray(stages) && stages.filter((stage) => isRl(stage)).length > 1;
  return {
    terms,
    success: new Set(named.length > 0 ? named : terms.filter((term) => !gold.includes(term)).slice(0, 1)),
    gold,
    summed: (useAt(config, "reward", "combine") ?? "sum") === "sum",
    prompts: numberAt(config, "rollout", "prompts"),
    asked: imported ? null : numberAt(config, "evaluation", "prompts"),
    every: imported ? null : numberAt(config, "evaluation", "every"),
    steady: !several && (useAt(config, "curriculum", "sampler") ?? "uniform") === "uniform",
    scaled: (useAt(config, "advantage", "scale") ?? "group_std") === "group_std",
    group: numberAt(config, "rollout", "group"),
  };
}

const isRl = (stage: Json): boolean => isObject(stage) && (stage["kind"] ?? "rl") === "rl";
