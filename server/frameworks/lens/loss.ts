/**
 * A trainer's losses, each declared once as the `objective` that a config would have. Conversion reads the loss that a setting
 * names; export finds the one of a config, and says what all trainers lack in the same words.
 */
import type { JsonObject } from "../../../shared/lib/json.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import { nameOf, type Chosen, type SettingsDraft } from "./exportDraft.ts";
import { filledIn, isKey } from "./holes.ts";
import type { Settings } from "./settings.ts";

type ObjectiveBlock = StageBody["objective"];
type Params = Chosen["params"];

/** By the trainer's names. Of two with one `use` the first is written. */
export type LossLens = Readonly<Record<string, JsonObject>>;

/** @returns undefined where the trainer has no loss of the name */
export function readLoss(losses: LossLens, name: string, settings: Settings): JsonObject | undefined {
  const found = losses[name];
  return found === undefined ? undefined : filledIn(found, settings);
}

/**
 * Writes a loss's numbers.
 * @param chosen the trainer's name, where several have one `use`
 * @returns the trainer's name of it; undefined where it has none
 */
export function writeLoss(
  losses: LossLens,
  { loss }: ObjectiveBlock,
  draft: SettingsDraft,
  chosen?: string,
): string | undefined {
  const found = Object.entries(losses).find(([name, { use }]) =>
    chosen === undefined ? use === nameOf(loss) : name === chosen,
  );
  if (found === undefined) {
    draft.miss(
      "objective",
      nameOf(loss),
      `${draft.engine} has no such loss: the clipped one trains instead.`,
    );
    return undefined;
  }
  const [name, block] = found;
  for (const [path, value] of Object.entries(block)) {
    if (!isKey(value)) continue;
    const own = loss.params[path];
    draft.set(value.$key, typeof own === "number" ? own : value.unbounded);
  }
  if (loss.params["one_sided"] === true)
    draft.miss(
      "objective.one_sided",
      true,
      `${draft.engine} bounds the weight whatever the advantage's sign.`,
    );
  return name;
}

export const numberOf = (params: Params, key: string): number | undefined => {
  const value = params[key];
  return typeof value === "number" ? value : undefined;
};

/**
 * The cap on a clipped loss's ratio. Above 1 + high a cap on the ratio is a cap on losses: the gains are held at the clip already.
 * @param by the trainer's setting, which holds losses alone
 */
export function lossCap(params: Params, by: string, draft: SettingsDraft): number | undefined {
  const [dual, delta] = [numberOf(params, "dual"), numberOf(params, "delta")];
  if (delta !== undefined && delta <= 1 + (numberOf(params, "high") ?? 0))
    draft.miss("objective.delta", delta, `${draft.engine}'s cap, \`${by}\`, holds losses alone.`);
  return dual === undefined ? delta : Math.min(dual, delta ?? dual);
}

/** What gspo is of a clipped loss whose ratio is a response's. @param cap on the ratio, where there is one */
export function missOfGspo(params: Params, cap: number | undefined, draft: SettingsDraft): void {
  if (cap !== undefined) draft.miss("objective.dual", cap, `${draft.engine}'s gspo has no cap on the ratio.`);
  if (params["ratio"] === "sequence_sum")
    draft.miss(
      "objective.ratio",
      "sequence_sum",
      `${draft.engine}'s gspo takes the mean over the tokens, not their sum.`,
    );
}

/**
 * What the ratio is of, what to, and how its logarithm is bounded.
 * @param bounds the trainer's own on log-ratios of tokens and of responses
 * @param sampled it may be to the policy that generated
 */
export function missOfRatio(
  { loss }: ObjectiveBlock,
  [ofTokens, ofResponses]: readonly [number, number],
  sampled: boolean,
  draft: SettingsDraft,
): void {
  const name = nameOf(loss);
  const { ratio: unit = "token", anchor = "behaviour", clamp_log_ratio: clamp = null } = loss.params;
  if (unit !== "token" && name !== "clipped")
    draft.miss("objective.ratio", unit, `${draft.engine}'s ${name} is by token.`);
  // The policy before the updates of a step is the one that generated.
  if (anchor !== "behaviour" && anchor !== "proximal" && !(anchor === "sampled" && sampled))
    draft.miss(
      "objective.anchor",
      anchor,
      `${draft.engine}'s ratio is to the policy before the updates of the step.`,
    );
  const own = unit === "token" ? ofTokens : ofResponses;
  const high =
    typeof clamp === "number" ? clamp : clamp === null ? own : Number(Object(clamp)["high"] ?? own);
  if (high < own)
    draft.miss("objective.clamp_log_ratio", clamp, `${draft.engine} bounds this log-ratio by ${own}.`);
}

/** Other losses next to the one, and a factor on it. */
export function missOfOthers({ factor, also }: ObjectiveBlock, draft: SettingsDraft): void {
  if (factor !== 1)
    draft.miss("objective.factor", factor, `${draft.engine} has one loss, and no factor on it.`);
  for (const { loss } of also)
    draft.miss("objective.also", nameOf(loss), `${draft.engine} has one loss: this one is left out.`);
}

type Adaptive = NonNullable<Extract<ObjectiveBlock["entropy"], { aggregate: unknown }>["adaptive"]>;

interface Bonus {
  readonly coefficient: number;
  readonly aggregate: "objective" | "token_mean";
  /** How it follows the measured entropy. */
  readonly adaptive?: Adaptive;
}

/** The entropy bonus, which acts on all tokens everywhere. @param adapts its coefficient may follow the entropy */
export function entropyBonus(
  { entropy: bonus }: ObjectiveBlock,
  draft: SettingsDraft,
  adapts = false,
): Bonus {
  if (typeof bonus === "number" || "schedule" in bonus)
    return { coefficient: draft.constant("objective.entropy", bonus), aggregate: "objective" };
  const coefficient = draft.constant("objective.entropy.coefficient", bonus.coefficient);
  const { share, low, high, adaptive, aggregate } = bonus;
  if (share !== 1 || low !== undefined || high !== undefined)
    draft.miss("objective.entropy", { share, low, high }, `${draft.engine}'s bonus acts on all tokens.`);
  if (adaptive !== undefined && !adapts)
    draft.miss("objective.entropy.adaptive", adaptive, `${draft.engine}'s coefficient does not adapt.`);
  return { coefficient, aggregate, ...(adaptive === undefined ? {} : { adaptive }) };
}
