/** reward.py: `rewarded` of the terms of the reward, which agent.py asks. */
import type { RunConfig } from "../../../../core/config/runConfig.ts";
import { decidingOrder } from "../../../../core/config/termFacts.ts";
import {
  callsOf,
  carried,
  combineName,
  combiner,
  fileText,
  listText,
  termsOf,
  type Combine,
  type RewardPlan,
  type Term,
} from "../../../carried/reward/file.ts";
import { literal } from "../../../carried/reward/literal.ts";
import { OpenRlhfDraft } from "../lens/draft.ts";
import type { OpenRlhfPlan } from "../lens/plan.ts";

/** @param messages prompts of the data are lists of messages */
export function rewardPlan(
  config: RunConfig,
  plan: OpenRlhfPlan,
  messages: boolean,
  version: string,
): RewardPlan {
  const draft = new OpenRlhfDraft();
  const { body } = plan.stage;
  const terms = termsOf({ config, body, messages, alone: true }, draft);
  const combine = combiner(body.reward.combine, config.file, draft);
  const deciding = decidingTerms(plan, combine, terms, draft);
  return {
    text: fileText({
      says: `The reward of ${config.name} as agent.py asks for it. Gradus ${version} wrote it.`,
      terms,
      combine,
      parts: ["lone_row", "scored", "openrlhf_row"],
      imports: ["json", "os", "sys", "from types import SimpleNamespace"],
      hook: "sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))\nfrom gradus_hook import log_rollouts",
      functions: [
        listText("TERMS", callsOf(terms, combine)),
        `# A rollout succeeds when the first of these that applies is at least so much.\nDECIDING, LEAST = ${literal([...deciding])}, ${literal(body.reward.success.at_least)}`,
        `# Prompts of a step.\nPROMPTS = ${literal(Number(plan.settings["rollout.batch_size"]))}`,
        rewarded(combine),
      ].join("\n\n\n"),
    }),
    ...carried(terms),
    missing: draft.missing,
  };
}

/** Those that decide a success, as far as they are scored: without them it is the reward itself that counts. */
function decidingTerms(
  { stage, settings }: OpenRlhfPlan,
  { kind }: Combine,
  terms: readonly Term[],
  draft: OpenRlhfDraft,
): readonly string[] {
  if (kind === "served") return [];
  const wanted = decidingOrder(stage.body.reward).map(({ name }) => name);
  const known = wanted.filter((name) => terms.some((term) => term.name === name));
  if (known.length < wanted.length && settings["algo.dynamic_filtering_enable"] === true)
    draft.miss(
      "curriculum.admission",
      wanted.filter((name) => !known.includes(name)).join(", "),
      "Groups are rejected without these terms, which decide what is a success and are not scored.",
    );
  return known;
}

const rewarded = (combine: Combine): string => `def rewarded(label, response, tokens):
    return outcome(TERMS, ${combineName(combine)}, label, response, tokens)`;
