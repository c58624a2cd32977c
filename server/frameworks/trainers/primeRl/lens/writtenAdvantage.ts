/** From rewards to advantages: prime-rl's algorithms, and gradus_algorithm.py. The mirror image of `convert/primeRl/algorithm.ts`. */
import type { Json } from "../../../../../shared/lib/json.ts";
import type { StageBody } from "../../../../core/config/resolved.ts";
import type { Scheduled } from "../../../../core/schedule.ts";
import { nameOf, type Chosen } from "../../../lens/exportDraft.ts";
import type { PrimeDraft } from "./draft.ts";
import { algorithm, train } from "./keys.ts";

type AdvantageBlock = StageBody["advantage"];

/** Of gradus_algorithm.py. */
const baselines: ReadonlySet<string> = new Set(["group_mean", "leave_one_out", "none", "constant"]);
const scales: ReadonlySet<string> = new Set(["none", "group_std", "sign"]);

export function advantage({ advantage: block, rollout: { group } }: StageBody, draft: PrimeDraft): void {
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
  if (!mean) own(block, draft);
  others(block, draft);
}

/** What prime-rl's grpo does not do: each is written where it is another than the mean alone. */
function own({ baseline, scale, sign }: AdvantageBlock, draft: PrimeDraft): void {
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

/** What follows in Gradus, and does not in prime-rl. */
function others(block: AdvantageBlock, draft: PrimeDraft): void {
  const { level, per_source, whiten, filter, clip, token_weights: weights } = block;
  const miss = (key: string, value: unknown, reason: string): void =>
    draft.miss(`advantage.${key}`, value, reason);
  if (level !== "auto" && level !== "response")
    miss("level", level, "prime-rl's advantages are of whole responses.");
  if (per_source) miss("per_source", true, "prime-rl sums the weighted terms first.");
  if (whiten !== "none") miss("whiten", whiten, "prime-rl does not standardise finished advantages.");
  const nonzero = JSON.stringify(filter) === JSON.stringify({ keep: "nonzero" });
  draft.set(`${train}.filter_zero_advantages`, nonzero);
  if (filter !== "none" && !nonzero)
    miss("filter", filter, "prime-rl leaves out advantages of 0, or none: here none.");
  if (clip !== "none") miss("clip", clip, "prime-rl does not bound advantages.");
  for (const one of weights)
    miss("token_weights", nameOf(one), "prime-rl weights all tokens of a response alike.");
}
