import { givenBy, givenTrains, helps } from "../../core/config/guidanceFacts.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import { eachRlStage, isOwn, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

interface Idle {
  readonly key: string;
  readonly message: string;
}

const keys = [
  "source",
  "amount",
  "ratio",
  "context",
  "place",
  "trains",
  "given_advantage",
  "rollouts",
  "enter",
] as const;

/** Keys that nothing reads, and why. */
function idle({ guidance, rollout, curriculum }: StageBody): Idle[] {
  if (!helps(guidance))
    return keys.map((key) => ({
      key,
      message: `No rollout is helped (\`guidance.trigger: none\`), so \`guidance.${key}\` is not read.`,
    }));
  const gives = givenBy(guidance);
  const found: Idle[] = [];
  const source = guidance.source.declaration.name;
  if (!gives.divisible)
    found.push({
      key: "amount",
      message: `\`guidance.source: ${source}\` is always given whole, so \`guidance.amount\` is not read.`,
    });
  if (
    gives.whole === true &&
    guidance.trains === "written" &&
    gives.reads !== "attempt" &&
    source !== "guide"
  )
    found.push({
      key: "trains",
      message: `All of \`${source}\` is prefilled, so \`guidance.trains: written\` leaves no token to train.`,
    });
  if (guidance.given_advantage === "own" && !givenTrains(guidance))
    found.push({
      key: "given_advantage",
      message: "No prefilled token trains (`guidance.trains`), so `guidance.given_advantage` is not read.",
    });
  if (guidance.ratio.declaration.name === "imitation" && !givenTrains(guidance))
    found.push({
      key: "ratio",
      message:
        "No prefilled token trains (`guidance.trains`), so `guidance.ratio: imitation` has nothing to learn from: set `trains: all`.",
    });
  const rounds = guidance.amount.params["rounds"];
  const members = guidance.rollouts ?? rollout.group;
  if (guidance.amount.declaration.name === "irt" && typeof rounds === "number" && rounds > members)
    found.push({
      key: "amount",
      message: `\`guidance.amount\` divides ${members} rollouts over ${rounds} rounds: some rounds have none.`,
    });
  if (curriculum.start.declaration.name !== "prompt")
    found.push({
      key: "trigger",
      message: `Helped rollouts begin at the prompt, so \`curriculum.start: ${curriculum.start.declaration.name}\` does not apply to them.`,
    });
  return found;
}

export const guidanceIdle: Rule = {
  id: "guidance-idle",
  title: "Guidance key that is not read",
  why: "Guidance is five choices, and some leave others without effect. While no rollout is helped, nothing of it is read. An amount applies only to help that can be given in parts. A demonstration has no generated tokens to train. Rollouts divided over rounds need at least one rollout per round. Helped rollouts do not begin where `curriculum.start` says.",
  check: eachRlStage((view, model) => {
    for (const { key, message } of idle(view.config.body)) {
      const at = placeOf(view.body, "guidance", key);
      if (!isOwn(at)) continue;
      reportAt(model, view, guidanceIdle, [["guidance", key]], {
        severity: "warning",
        message,
        tags: ["unnecessary"],
        fileFixes: [model.edits.remove(pathIn(view, at, "guidance", key), `Remove \`${key}\``, false)],
      });
    }
  }),
};
