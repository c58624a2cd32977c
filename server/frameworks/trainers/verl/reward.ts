/** The reward that a configuration trains on: the user's own function, or verl's by `data_source`. */
import type { RuleModel } from "../../rules/rule.ts";
import { textOfNamed } from "../../readers/verlFiles.ts";
import { unreadSince } from "./oldRewardKeys.ts";

export interface RewardFunction {
  /** Where its path is set. */
  readonly key: string;
  readonly path: string;
  readonly name: string;
  /** The text of its file, if that exists and is small. */
  readonly source: string | undefined;
}

/** The section moved below `reward` in 0.7.1. Until 0.9 the old one wins where both are set; since then verl does not read it. */
export function rewardFunction(model: RuleModel): RewardFunction | undefined {
  const sections = [
    ...(model.since(unreadSince) ? [] : ["custom_reward_function"]),
    ...(model.since("0.7.1") ? ["reward.custom_reward_function"] : []),
  ];
  for (const section of sections) {
    const path = model.text(`${section}.path`);
    if (path === undefined || path === "") continue;
    return {
      key: `${section}.path`,
      path,
      name: model.text(`${section}.name`) ?? "compute_score",
      source: textOfNamed(model.document.file, path),
    };
  }
  return undefined;
}

/** The key that names the reward manager in this release. */
export const managerKey = (model: RuleModel): string =>
  model.since("0.7.1") && (model.since("0.9.0") || model.written("reward_model.reward_manager") === undefined)
    ? "reward.reward_manager.name"
    : "reward_model.reward_manager";
