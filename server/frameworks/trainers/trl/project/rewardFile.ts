/** reward.py: the terms of the reward as functions that TRL calls, with their weights. */
import type { RunConfig } from "../../../../core/config/runConfig.ts";
import {
  callsOf,
  carried,
  combiner,
  fileText,
  listText,
  termText,
  termsOf,
  type Combine,
  type RewardPlan as Plan,
  type Term,
} from "../../../carried/reward/file.ts";
import { literal } from "../../../carried/reward/literal.ts";
import { TrlDraft } from "../lens/draft.ts";
import type { TrlPlan } from "../lens/plan.ts";

export interface RewardPlan extends Plan {
  /** `reward_weights`, where they are not all 1. */
  readonly weights: readonly number[] | undefined;
}

/** @param messages prompts of the data are lists of messages */
export function rewardPlan(config: RunConfig, plan: TrlPlan, messages: boolean, version: string): RewardPlan {
  const draft = new TrlDraft();
  const { body } = plan.stage;
  const terms = termsOf({ config, body, messages, alone: false }, draft);
  const combine = combiner(body.reward.combine, config.file, draft);
  const factors = terms.map(({ weight }) => weight * plan.rewardFactor);
  return {
    text: fileText({
      says: `The reward of ${config.name} as TRL calls it. Gradus ${version} wrote it; ${weighing[combine.kind]}`,
      terms,
      combine,
      parts: ["trl_rows", "scored", ...(combine.kind === "python" ? ["combined"] : [])],
      imports: ["sys"],
      hook: "from gradus_hook import log_rollouts",
      functions: functionsOf(terms, combine),
    }),
    weights:
      combine.kind === "sum"
        ? factors.every((one) => one === 1)
          ? undefined
          : factors
        : plan.rewardFactor === 1
          ? undefined
          : [plan.rewardFactor],
    ...carried(terms),
    missing: draft.missing,
  };
}

const weighing: Readonly<Record<Combine["kind"], string>> = {
  sum: "`reward_weights` of config.yaml weights the terms.",
  python: "the terms are combined at its end.",
  served: "a server combines the terms.",
};

function functionsOf(terms: readonly Term[], combine: Combine): string {
  if (combine.kind !== "python") return listText("functions", callsOf(terms, combine));
  const weights = literal(terms.map(({ weight }) => weight));
  return `${listText("TERMS", terms.map(termText))}\nfunctions = [combined("reward", TERMS, ${weights}, ${combine.expression})]`;
}
