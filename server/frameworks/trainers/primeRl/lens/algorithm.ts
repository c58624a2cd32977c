/** prime-rl's algorithms as baselines and scales, with what else of a config its loss and its gates are. */
import type { JsonObject } from "../../../../../shared/lib/json.ts";
import { isObject } from "../../../text/values.ts";
import type { ConfigDraft } from "../../../lens/configDraft.ts";
import { readPrimeRlAdvantage } from "./advantage.ts";
import { lossOf } from "./loss.ts";
import type { Settings } from "../../../lens/settings.ts";

const source = "orchestrator.train.source";

export function algorithm(settings: Settings, draft: ConfigDraft): void {
  const { objective, kl, factor } = lossOf(settings);
  const type = typeOf(settings);
  const own = settings.below(`${source}.env.taskset.algorithm`) ?? {};
  draft.set("advantage", readPrimeRlAdvantage(type, own, settings));
  draft.set("objective", { ...objective, ...aggregateOf(own), ...(factor === 1 ? {} : { factor }) });
  draft.set("kl", [...kl]);
  gates(settings, draft);
}

const aggregateOf = ({ aggregate, budget }: JsonObject): JsonObject => {
  if (aggregate === undefined) return {};
  return { aggregate: budget === undefined ? aggregate : { use: aggregate, budget } };
};

/** Of the environment, else of all. */
function typeOf(settings: Settings): "grpo" | "max_rl" {
  const own = settings.text(`${source}.algo.type`);
  const key = own === undefined ? "orchestrator.algo.type" : `${source}.algo.type`;
  const type = settings.text(key) ?? "grpo";
  if (type === "max_rl") return "max_rl";
  if (type !== "grpo") settings.refuse(key, `${reasons[type] ?? "no such algorithm"}: grpo is used instead`);
  const penalty = key.replace(/type$/, "length_penalty");
  if (settings.below(penalty) !== undefined)
    settings.refuse(
      penalty,
      "Gradus has no length penalty in proportion to the group's mean reward: see the term `length`",
    );
  return "grpo";
}

const reasons: Readonly<Record<string, string>> = {
  echo: "Gradus has no likelihood of what the environment says by role",
  rae: "Gradus's moving average moves once a step, and not after every rollout",
  hierarchical_grpo: "Gradus has no groups within the episodes of several agents",
  opd: "a teacher at an endpoint has no counterpart: see `models` and `kl`",
  opsd: "see `kl` with a teacher context (`shown`)",
  sft: "a frozen model that generates has no counterpart: see a stage of `kind: sft`",
};

/** What of float32 is left of a group without advantages. */
const least = 1e-5;

function gates(settings: Settings, draft: ConfigDraft): void {
  const key = `${source}.curriculum.gates`;
  for (const [name, gate] of Object.entries(settings.below(key) ?? {})) {
    const { reject_min: low = 0, reject_max: high = 0 } = isObject(gate) ? gate : ({} as JsonObject);
    const reach = Math.max(-Number(low), Number(high));
    if (reach >= 0 && reach < least)
      draft.set("curriculum", { admission: { use: "nonzero_variance", refill: "adaptive" } });
    else
      settings.refuse(
        `${key}.${name}`,
        "Gradus's advantage_range is of a group's mean absolute advantage, and not of each",
      );
  }
  if (settings.text(`${source}.curriculum.sampler.type`) === "difficulty_pool") {
    settings.below(`${source}.curriculum.sampler`);
    settings.refuse(
      `${source}.curriculum.sampler.type`,
      "Gradus has no such pools: see `curriculum.arms` and `curriculum.sampler`",
    );
  }
}
