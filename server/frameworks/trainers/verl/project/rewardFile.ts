/** reward.py: `compute_score` of the terms of the reward. */
import { UserError } from "../../../../../shared/lib/errors.ts";
import type { RunConfig } from "../../../../core/config/runConfig.ts";
import {
  callsOf,
  carried,
  combineName,
  combiner,
  fileText,
  listText,
  termsOf,
  type Combine,
  type RewardPlan as Plan,
} from "../../../carried/reward/file.ts";
import { VerlDraft } from "../lens/draft.ts";
import type { VerlPlan } from "../lens/plan.ts";

export interface RewardPlan extends Plan {
  /** Of gdpo: the terms, and their weights. */
  readonly keys: readonly string[];
  readonly weights: readonly number[];
}

/** What the total is called next to the terms. */
const total = "score";

/** @param messages prompts of the data are lists of messages */
export function rewardPlan(
  config: RunConfig,
  plan: VerlPlan,
  messages: boolean,
  version: string,
): RewardPlan {
  const draft = new VerlDraft();
  const { body } = plan.stage;
  const terms = termsOf({ config, body, messages, alone: true }, draft);
  if (plan.estimator === "gdpo" && terms.some(({ name }) => name === total))
    throw new UserError(`a term of the reward is called \`${total}\`, which verl calls the sum of all`, {
      file: config.file,
      code: "export-term-name",
      action: "Give the term another name.",
    });
  const combine = combiner(body.reward.combine, config.file, draft);
  return {
    text: fileText({
      says: `The reward of ${config.name} as verl calls it. Gradus ${version} wrote it.`,
      terms,
      combine,
      parts: ["lone_row", "scored", "verl_row"],
      imports: ["json", "os", "sys"],
      hook: "sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))\nfrom gradus_hook import log_rollouts, set_step",
      functions: `${listText("TERMS", callsOf(terms, combine))}\n\n\n${computeScore(combine)}`,
    }),
    keys: terms.map(({ name }) => name),
    weights: terms.map(({ weight }) => weight),
    ...carried(terms),
    missing: draft.missing,
  };
}

const computeScore = (
  combine: Combine,
): string => `def compute_score(data_source, solution_str, ground_truth, extra_info=None, **_):
    return scores(TERMS, ${combineName(combine)}, solution_str, extra_info)`;
