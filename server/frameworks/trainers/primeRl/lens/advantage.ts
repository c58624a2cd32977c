/** prime-rl's advantages: its own grpo and max_rl, and what gradus_algorithm.py does besides. */
import type { Json, JsonObject } from "../../../../../shared/lib/json.ts";
import type { StageBody } from "../../../../core/config/resolved.ts";
import type { Scheduled } from "../../../../core/schedule.ts";
import { readAdvantage, writeAdvantage, type AdvantageLens } from "../../../lens/advantage.ts";
import { nameOf, type Chosen } from "../../../lens/exportDraft.ts";
import type { Settings } from "../../../lens/settings.ts";
import type { PrimeDraft } from "./draft.ts";
import { algorithm, train } from "./keys.ts";

type AdvantageBlock = StageBody["advantage"];

const filters = `${train}.filter_zero_advantages`;
/** Of gradus_algorithm.py. */
const baselines: ReadonlySet<string> = new Set(["group_mean", "leave_one_out", "none", "constant"]);
const scales: ReadonlySet<string> = new Set(["none", "group_std", "sign"]);

const lens: AdvantageLens = {
  instead: "group_mean",
  unnamed: true,
  apart: ["baseline", "scale", "sign", "filter", "penalty"],
  estimators: {
    grpo: { baseline: "group_mean", scale: "none" },
    max_rl: { baseline: "group_mean", scale: "mean_reward" },
  },
};

/** @param own what gradus_algorithm.py is told; prime-rl's own grpo where it says nothing */
export function readPrimeRlAdvantage(
  type: "grpo" | "max_rl",
  own: JsonObject,
  settings: Settings,
): JsonObject {
  const block = type === "max_rl" ? readAdvantage(lens, type, settings) : told(own);
  return { ...block, ...(settings.flag(filters) ? { filter: { keep: "nonzero" } } : {}) };
}

function told({
  baseline = "group_mean",
  value = 0.5,
  scale = "none",
  epsilon = 1e-4,
  population = false,
  positive = 1,
  negative = 1,
}: JsonObject): JsonObject {
  return {
    baseline: baseline === "constant" ? { use: "constant", value } : baseline,
    scale: scale === "group_std" ? { use: "group_std", epsilon, population } : scale,
    ...(positive === 1 && negative === 1 ? {} : { sign: { positive, negative } }),
  };
}

export function writePrimeRlAdvantage(
  { advantage: block, rollout: { group } }: StageBody,
  draft: PrimeDraft,
): void {
  const [baseline, scale] = [nameOf(block.baseline), nameOf(block.scale)];
  const mean = scale === "mean_reward";
  draft.set("orchestrator.algo.type", mean ? "max_rl" : "grpo");
  if (!baselines.has(baseline) || (mean && baseline !== "group_mean"))
    draft.miss("advantage.baseline", baseline, "The group's mean is subtracted in its place.");
  if (mean) meanReward(block, draft);
  else if (!scales.has(scale))
    draft.miss("advantage.scale", scale, "There is no such scale for prime-rl: nothing divides.");
  const { single } = block.baseline.params;
  if (group === 1 && single !== undefined && single !== "zero")
    draft.miss(
      "advantage.baseline.single",
      single,
      "In prime-rl a rollout without siblings has advantage 0.",
    );
  if (!mean) tell(block, draft);
  writeAdvantage(lens, block, draft);
  const nonzero = JSON.stringify(block.filter) === JSON.stringify({ keep: "nonzero" });
  draft.set(filters, nonzero);
  if (block.filter !== "none" && !nonzero)
    draft.miss("advantage.filter", block.filter, "prime-rl leaves out advantages of 0, or none: here none.");
}

/** What prime-rl's grpo does not do: each is written where it is another than the mean alone. */
function tell({ baseline, scale, sign }: AdvantageBlock, draft: PrimeDraft): void {
  const set = (key: string, value: Json | undefined): void => draft.set(`${algorithm}.${key}`, value);
  const number = (key: string, value: Scheduled): number => draft.constant(`advantage.${key}`, value);
  const [from, over] = [nameOf(baseline), nameOf(scale)];
  if (baselines.has(from) && from !== "group_mean") set("baseline", from);
  if (from === "constant") set("value", number("baseline.value", baseline.params["value"] as Scheduled));
  if (over === "sign" || over === "group_std") set("scale", over);
  if (over === "group_std") spread(scale, set);
  for (const side of ["positive", "negative"] as const) {
    const factor = number(`sign.${side}`, sign[side]);
    if (factor !== 1) set(side, factor);
  }
}

function spread({ params }: Chosen, set: (key: string, value: Json) => void): void {
  set("epsilon", Number(params["epsilon"]));
  set("population", params["population"] === true);
}

function meanReward({ scale: { params }, sign }: AdvantageBlock, draft: PrimeDraft): void {
  const miss = (key: string, value: unknown, reason: string): void =>
    draft.miss(`advantage.${key}`, value, reason, "guard");
  if (params["epsilon"] !== 0)
    miss("scale.epsilon", params["epsilon"], "prime-rl's max_rl adds nothing to the mean.");
  miss("scale", "mean_reward", "In prime-rl a group whose mean is negative has no advantage either.");
  if (sign.positive !== 1 || sign.negative !== 1)
    draft.miss("advantage.sign", sign, "prime-rl's max_rl weights advantages of both signs alike.");
}
