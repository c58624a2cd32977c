import type { RewardTermConfig, StageBody } from "../../core/config/resolved.ts";
import { decidingTerms, divisorOf } from "./auxiliaryDecides.ts";
import { scheduledRange } from "../ranges.ts";
import { firstTime, isOwn, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";
import { admitsAllWrong } from "./termRoles.ts";

/** No term rewards the empty answer most. */
export const emptyAnswer: Rule = {
  id: "empty-answer",
  title: "Term that rewards the empty answer",
  why: "The empty answer is the easiest one to learn: it is a single token, always within reach. A term that rewards it even though it is not correct pulls every group there in which nothing else differs. `length` rewards the shortest response most (`shape: linear` gives 1 for an empty one), and a `format` whose pattern also matches nothing counts an empty answer as well formed.\n\nReward such a term only when the answer is correct (`reward.combine: product`), require at least one character in the pattern, or forbid empty answers with `rollout.min_tokens`. `gradus run --dry-run` shows how your own functions score an empty answer, the prompt pasted back and the reference answer.",
  check(model) {
    const fresh = firstTime();
    for (const view of model.stages) {
      const { body, kind } = view.config;
      if (kind !== "rl" || body.rollout.min_tokens > 0) continue;
      for (const term of decidingTerms(body)) {
        const found = gainFor(term, body);
        const path = ["reward", "terms", term.name];
        if (found === undefined || !isOwn(placeOf(view.body, ...path)) || !fresh(term.term)) continue;
        reportAt(model, view, emptyAnswer, [[...path, found.key], path], {
          severity: found.severity,
          message: found.message,
          fileFixes: [
            model.edits.set(
              pathIn(view, placeOf(view.body, "rollout", "min_tokens"), "rollout", "min_tokens"),
              "1",
              "Forbid empty answers: `rollout.min_tokens: 1`",
              false,
            ),
          ],
        });
      }
    }
  },
};

interface Gain {
  readonly key: string;
  readonly severity: "warning" | "info";
  readonly message: string;
}

function gainFor(term: RewardTermConfig, body: StageBody): Gain | undefined {
  const weight = Math.max(...scheduledRange(term.weight));
  if (weight <= 0) return undefined;
  const { declaration, params } = term.term;
  if (declaration.name === "format") return emptyFormat(term.name, params);
  const { shape } = params;
  // If the advantage is divided by the spread, the diagnostic about that says this too.
  const isReported = divisorOf(body.advantage) !== undefined && body.rollout.group > 1;
  if (declaration.name !== "length" || isReported || !admitsAllWrong(body)) return undefined;
  if (shape !== "linear" && shape !== "group_relative") return undefined;
  const most = Number(((shape === "linear" ? 1 : 0.5) * weight).toPrecision(4));
  return {
    key: "shape",
    severity: "info",
    message: `An empty answer earns the most that \`${term.name}\` gives, ${most}, although it is never correct. Reward it only when the answer is correct (\`reward.combine: product\`), or set \`rollout.min_tokens\`.`,
  };
}

function emptyFormat(name: string, params: Readonly<Record<string, unknown>>): Gain | undefined {
  const { pattern, tags, present, absent } = params;
  if (typeof pattern !== "string" || (Array.isArray(tags) && tags.length > 0)) return undefined;
  if (!(Number(present) > Number(absent)) || !matchesNothing(pattern)) return undefined;
  return {
    key: "pattern",
    severity: "warning",
    message: `The pattern of \`${name}\` also matches an empty answer, which then earns ${Number(present)} as well formed: require at least one character, e.g. \`.+\` instead of \`.*\`.`,
  };
}

function matchesNothing(pattern: string): boolean {
  try {
    return new RegExp(`^(?:${pattern})$`, "su").test("");
  } catch {
    // Not a regular expression: the declaration's own check says so.
    return false;
  }
}
