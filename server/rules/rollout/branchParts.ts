import { branches } from "../../core/config/branchFacts.ts";
import { helps } from "../../core/config/guidanceFacts.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import { eachRlStage, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

/** What else has a say in where rollouts begin, with the key that says it. */
function* others({ guidance, curriculum, rollout }: StageBody): Generator<{
  readonly path: readonly string[];
  readonly what: string;
}> {
  if (helps(guidance))
    yield {
      path: ["guidance", "trigger"],
      what: `\`guidance.trigger: ${guidance.trigger.declaration.name}\` also replaces rollouts of the group`,
    };
  if (curriculum.start.declaration.name !== "prompt")
    yield {
      path: ["curriculum", "start"],
      what: `\`curriculum.start: ${curriculum.start.declaration.name}\` also puts something in front of them`,
    };
  if (rollout.grammar !== undefined)
    yield {
      path: ["rollout", "grammar"],
      what: "`rollout.grammar` must be followed from a response's first token, not from a later one",
    };
}

export const branchParts: Rule = {
  id: "branch-parts",
  title: "Branches with something else that sets where rollouts begin",
  why: "A branch continues from a token of another rollout of its group. Help (`guidance`) and start states (`curriculum.start`) put their own text in front of a group's rollouts, and a grammar must be followed from a response's first token: with any of them it is undefined what a branch begins with.\n\nChoose one of them, or give each a stage of its own.",
  check: eachRlStage((view, model) => {
    const { body } = view.config;
    if (!branches(body.rollout)) return;
    for (const { path, what } of others(body)) {
      const at = placeOf(view.body, ...path);
      const own = placeOf(view.body, "rollout", "branch");
      reportAt(model, view, branchParts, [path, path.slice(0, 1), ["rollout", "branch"]], {
        severity: "error",
        message: `\`rollout.branch: ${body.rollout.branch.declaration.name}\` sets where rollouts of a group begin, but ${what}.`,
        fileFixes: [
          model.edits.remove(pathIn(view, at, ...path), `Remove \`${path.join(".")}\``, false),
          model.edits.remove(pathIn(view, own, "rollout", "branch"), "Remove `rollout.branch`", false),
        ],
      });
    }
  }),
};
