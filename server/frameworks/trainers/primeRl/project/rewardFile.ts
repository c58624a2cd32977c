/** reward.py: `rewards` of the terms of the reward, which gradus_tasks.py records. */
import { UserError } from "../../../../../shared/lib/errors.ts";
import type { RunConfig } from "../../../../core/config/runConfig.ts";
import {
  callsOf,
  carried,
  combiner,
  fileText,
  listText,
  termsOf,
  type RewardPlan,
} from "../../../carried/reward/file.ts";
import { PrimeDraft } from "../lens/draft.ts";
import type { PrimePlan } from "../lens/plan.ts";

/** What the total of a combination is called next to the terms. */
const total = "combined";

/** @param messages prompts of the data are lists of messages */
export function rewardPlan(
  config: RunConfig,
  { stage: { body } }: PrimePlan,
  messages: boolean,
  version: string,
): RewardPlan {
  const draft = new PrimeDraft();
  const terms = termsOf({ config, body, messages, alone: true }, draft);
  const combine = combiner(body.reward.combine, config.file, draft);
  if (combine.kind === "python" && terms.some(({ name }) => name === total))
    throw new UserError(
      `a term of the reward is called \`${total}\`, as the total is in a project for prime-rl`,
      { file: config.file, code: "export-term-name", action: "Give the term another name." },
    );
  const calls = callsOf(terms, combine);
  return {
    text: fileText({
      says: `The reward of ${config.name} as gradus_tasks.py asks for it. Gradus ${version} wrote it.`,
      terms,
      combine,
      parts: ["scored", "prime_row"],
      imports: ["os", "sys"],
      hook: "",
      functions: `${listText("TERMS", calls)}\n\n\n${rewards(combine.kind === "python" ? combine.expression : "None")}`,
    }),
    ...carried(terms),
    missing: draft.missing,
  };
}

const rewards = (combine: string): string => `def rewards(task, response, tokens):
    """The terms of a response to a task: a name, a value or None, and a weight each."""
    return given(TERMS, ${combine}, task, response, tokens)`;
