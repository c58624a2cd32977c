import { branches } from "../../core/config/branchFacts.ts";
import { helps } from "../../core/config/guidanceFacts.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import { choosesActions, hasAttempts, playsEnvironment } from "../../core/config/shapeFacts.ts";
import { eachRlStage, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

interface Other {
  readonly path: readonly string[];
  readonly what: string;
}

/** What reads or writes a rollout as one response. */
function* others(body: StageBody): Generator<Other> {
  if (choosesActions(body.rollout)) yield* writing(body);
  yield* single(body);
}

/** What a policy that draws its turns among actions has no use for. */
function* writing({ curriculum, rollout }: StageBody): Generator<Other> {
  const chosen = "with `actions: choose` each is drawn among the actions that the environment lists";
  if (rollout.tools.length > 0)
    yield { path: ["rollout", "tools"], what: `${chosen}, and tools are called by what the policy writes` };
  if (rollout.grammar !== undefined)
    yield { path: ["rollout", "grammar"], what: `${chosen}, and a grammar is for what the policy writes` };
  if (curriculum.start.declaration.name === "mid_episode")
    yield {
      path: ["curriculum", "start"],
      what: `${chosen}, and one that was put into the middle of an episode lists none`,
    };
}

function* single({ guidance, curriculum, rollout, advantage, auxiliary }: StageBody): Generator<Other> {
  if (helps(guidance))
    yield {
      path: ["guidance", "trigger"],
      what: `\`guidance.trigger: ${guidance.trigger.declaration.name}\` helps only rollouts of one response`,
    };
  if (branches(rollout))
    yield {
      path: ["rollout", "branch"],
      what: `\`rollout.branch: ${rollout.branch.declaration.name}\` leaves rollouts of one response in the middle`,
    };
  if (curriculum.start.declaration.name === "branch")
    yield {
      path: ["curriculum", "start"],
      what: "`curriculum.start: branch` continues from any token of one response; `mid_episode` continues from the message after an attempt",
    };
  if (advantage.baseline.declaration.name === "monte_carlo")
    yield {
      path: ["advantage", "baseline"],
      what: "`advantage.baseline: monte_carlo` completes a single response from each of its steps",
    };
  for (const [index, { loss }] of auxiliary.entries())
    if (loss.declaration.name === "corrections")
      yield {
        path: ["auxiliary", String(index)],
        what: "`corrections` cuts a single response where its thought begins",
      };
}

export const shapeParts: Rule = {
  id: "shape-parts",
  title: "Episodes of several attempts with a method for single responses",
  why: "With `rollout.shape: multi_attempt`, `self_correct` or `environment` a rollout is an episode: attempts with messages between them. Help (`guidance`), branches, starts within a response, Monte-Carlo continuations and corrected thoughts put something into one response or continue from its middle, and do not define what happens to the attempts after it. What fits: every advantage, objective, KL, mask, replay and selection, `curriculum.start: mid_episode`, `reverse` and `guide`, and the greedy baseline.\n\n`curriculum.start: mid_episode` continues from the middle of an earlier episode, so it needs a shape with several attempts.\n\nWith `actions: choose` the policy writes nothing: tools and a grammar have nothing to read, and an environment that was put into the middle of an episode lists no actions.\n\nRemove one of the two, or give each a stage of its own.",
  check: eachRlStage((view, model) => {
    const { body } = view.config;
    const shape = placeOf(view.body, "rollout", "shape");
    const remove = model.edits.remove(
      pathIn(view, shape, "rollout", "shape"),
      "Remove `rollout.shape`",
      false,
    );
    if (!hasAttempts(body.rollout)) {
      if (body.curriculum.start.declaration.name !== "mid_episode") return;
      reportAt(
        model,
        view,
        shapeParts,
        [
          ["curriculum", "start"],
          ["rollout", "shape"],
        ],
        {
          severity: "error",
          message:
            "`curriculum.start: mid_episode` continues from the middle of an episode, but every rollout is a single response: choose `rollout.shape: multi_attempt` or `self_correct`.",
          fileFixes: [
            model.edits.set(
              pathIn(view, shape, "rollout", "shape"),
              "multi_attempt",
              "Set `rollout.shape: multi_attempt`",
            ),
          ],
        },
      );
      return;
    }
    for (const { path, what } of others(body)) {
      const at = placeOf(view.body, ...path);
      reportAt(model, view, shapeParts, [path, path.slice(0, 1), ["rollout", "shape"]], {
        severity: "error",
        message: `With \`rollout.shape: ${body.rollout.shape.declaration.name}\` a rollout has several ${playsEnvironment(body.rollout) ? "turns" : "attempts"}, but ${what}.`,
        fileFixes: [
          model.edits.remove(pathIn(view, at, ...path), `Remove \`${path.join(".")}\``, false),
          remove,
        ],
      });
    }
  }),
};
