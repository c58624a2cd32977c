/** TRL subtracts the group's mean, and divides by a standard deviation or by nothing. */
import type { Json, JsonObject } from "../../../../../shared/lib/json.ts";
import type { StageBody } from "../../../../core/config/resolved.ts";
import { readAdvantage, writeAdvantage, type AdvantageLens } from "../../../lens/advantage.ts";
import type { ConfigDraft } from "../../../lens/configDraft.ts";
import type { Settings } from "../../../lens/settings.ts";
import { nameOf, type TrlDraft } from "./draft.ts";

const epsilon = 1e-4;
const estimator = (scale: Json, more: JsonObject = {}): JsonObject => ({
  baseline: "group_mean",
  scale: scale === "none" ? scale : { use: scale, epsilon },
  ...more,
  unscored: "zero",
});

const lens: AdvantageLens = {
  instead: "group_mean",
  unnamed: true,
  apart: ["baseline", "penalty"],
  estimators: {
    group: estimator("group_std"),
    batch: estimator("batch_std"),
    none: estimator("none"),
    // GDPO: each term is centred and scaled by itself, and the sum is whitened over the batch.
    decoupled: estimator("group_std", {
      per_source: true,
      whiten: { over: "responses", epsilon, inside: "deviation" },
    }),
  },
};

export function readTrlAdvantage(settings: Settings, draft: ConfigDraft): void {
  const wanted = settings.get("scale_rewards");
  const scaling = wanted === true ? "group" : wanted === false ? "none" : String(wanted);
  const decoupled = settings.text("multi_objective_aggregation") === "normalize_then_sum";
  const known = scaling in lens.estimators ? scaling : "group";
  draft.set("advantage", readAdvantage(lens, decoupled ? "decoupled" : known, settings));
}

interface AdvantagePlan {
  /** Factor on every reward that makes up for another baseline. */
  readonly factor: number;
}

export function writeTrlAdvantage({ advantage: block, rollout }: StageBody, draft: TrlDraft): AdvantagePlan {
  const name = writeAdvantage(lens, block, draft);
  draft.set("scale_rewards", name === "decoupled" ? "group" : name);
  if (name === "decoupled") draft.set("multi_objective_aggregation", "normalize_then_sum");
  return { factor: centring(block, rollout.group, draft) };
}

/** A leave-one-out baseline is the group's mean times G / (G − 1) where nothing is divided by. */
function centring({ baseline, scale }: StageBody["advantage"], group: number, draft: TrlDraft): number {
  const [name, divisor] = [nameOf(baseline), nameOf(scale)];
  if (name === "leave_one_out" && divisor === "none") return group / (group - 1);
  if (name === "leave_one_out" && divisor === "group_std")
    draft.miss(
      "advantage.baseline",
      name,
      `TRL subtracts the mean of the whole group: advantages are smaller by ${group - 1}/${group}.`,
    );
  else if (name !== "group_mean" && name !== "leave_one_out")
    draft.miss("advantage.baseline", name, "TRL subtracts the mean reward of the group.");
  return 1;
}
