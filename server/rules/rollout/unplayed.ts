import type { StageBody } from "../../core/config/resolved.ts";
import { byHarness, playsEnvironment } from "../../core/config/shapeFacts.ts";
import { environmentOf, hasNoPlay } from "../tasks/environments.ts";
import { eachRlStage, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

/** What asks for turns that nobody plays. */
function* unplayedParts({ tasks, rollout, reward }: StageBody): Generator<{
  readonly path: readonly string[];
  readonly what: string;
}> {
  for (const [index, task] of tasks.entries()) {
    const found = environmentOf(task);
    if (task.play !== undefined)
      yield { path: ["tasks", String(index), "play"], what: `\`play\` of \`${task.name}\` answers nothing` };
    else if (found.kind === "made" && found.plays)
      yield {
        path: ["tasks", String(index)],
        what: `the world of \`${task.name}\` answers nothing: each rollout is one response`,
      };
  }
  if (rollout.tools.length > 0)
    yield { path: ["rollout", "tools"], what: "the policy cannot call the tools of `rollout.tools`" };
  for (const { name, term } of reward.terms)
    if (term.declaration.name === "environment")
      yield { path: ["reward", "terms", name], what: `the term \`${name}\` never has a reward` };
}

export const unplayed: Rule = {
  id: "unplayed",
  title: "An environment or tools without turns",
  why: "Environments and tools answer turns only with `rollout.shape: environment`. With another shape a rollout is one response, or attempts that the shape itself answers: `play`, the worlds of tasks, `rollout.tools` and the reward term `environment` do nothing.\n\nSet `rollout.shape: environment`, or remove them.",
  check: eachRlStage((view, model) => {
    const { body } = view.config;
    if (playsEnvironment(body.rollout) || byHarness(body.rollout)) return;
    const shape = placeOf(view.body, "rollout", "shape");
    const { name } = body.rollout.shape.declaration;
    const answered = body.rollout.tools.length > 0 || !body.tasks.some(hasNoPlay);
    for (const { path, what } of unplayedParts(body))
      reportAt(model, view, unplayed, [path, path.slice(0, 2), path.slice(0, 1)], {
        severity: "warning",
        message: `With \`rollout.shape: ${name}\` ${what}: set \`rollout.shape: environment\`.`,
        // Where nothing would answer, an episode ends after its first turn.
        fileFixes: answered
          ? [
              model.edits.set(
                pathIn(view, shape, "rollout", "shape"),
                "environment",
                "Set `rollout.shape: environment`",
              ),
            ]
          : [],
      });
  }),
};
