/** reward.py: `compute_score` of the terms of the reward, which the environment calls. */
import type { RunConfig } from "../../../../core/config/runConfig.ts";
import {
  callsOf,
  carried,
  combineName,
  combiner,
  fileText,
  listText,
  termsOf,
  type RewardPlan,
} from "../../../carried/reward/file.ts";
import { SkyrlDraft } from "../lens/draft.ts";
import type { SkyrlPlan } from "../lens/plan.ts";

/** @param messages prompts of the data are lists of messages */
export function rewardPlan(
  config: RunConfig,
  plan: SkyrlPlan,
  messages: boolean,
  version: string,
): RewardPlan {
  const draft = new SkyrlDraft();
  const { body } = plan.stage;
  const terms = termsOf({ config, body, messages, alone: true }, draft);
  const combine = combiner(body.reward.combine, config.file, draft);
  const items = callsOf(terms, combine);
  return {
    text: fileText({
      says: `The reward of ${config.name}, which experiment.py asks for. Gradus ${version} wrote it.`,
      terms,
      combine,
      parts: ["lone_row", "scored"],
      imports: ["sys"],
      hook: "from gradus_hook import log_rollouts",
      functions: `${listText("TERMS", items)}\n\n\n${computeScore(combineName(combine))}`,
    }),
    ...carried(terms),
    missing: draft.missing,
  };
}

const computeScore = (combine: string): string => `def compute_score(own, response, tokens, known):
    """The reward as \`score\`, and each term by its name. \`own\` is what the row has of its task.

    \`known\`: what is recorded besides its fields.
    """
    return valued(TERMS, ${combine}, row_of(own, response, tokens), known)`;
