import { branches } from "../../core/config/branchFacts.ts";
import { helps } from "../../core/config/guidanceFacts.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import { byHarness } from "../../core/config/shapeFacts.ts";
import { eachRlStage, isOwn, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

/** What the engine would do while it plays, and cannot where a program plays. */
function* ownPlay({ rollout, guidance, curriculum, advantage }: StageBody): Generator<readonly string[]> {
  if (rollout.shape.declaration.name !== "single") yield ["rollout", "shape"];
  if (rollout.tools.length > 0) yield ["rollout", "tools"];
  if (branches(rollout)) yield ["rollout", "branch"];
  if (rollout.grammar !== undefined) yield ["rollout", "grammar"];
  if (rollout.perturb !== undefined) yield ["rollout", "perturb"];
  if (rollout.delta_logits !== undefined) yield ["rollout", "delta_logits"];
  if (rollout.anneal !== undefined) yield ["rollout", "anneal"];
  if (helps(guidance)) yield ["guidance", "trigger"];
  if (curriculum.start.declaration.name !== "prompt") yield ["curriculum", "start"];
  if (advantage.baseline.declaration.name === "monte_carlo") yield ["advantage", "baseline"];
}

export const harness: Rule = {
  id: "harness",
  title: "A harness without a program, or with what only the engine can do",
  why: "With `rollout.use: harness` the program in `rollout.command` plays each episode: it calls the policy as a model server, and its calls become rollouts. How turns go, what the tools are and where an episode begins is the program's affair, so shapes, tools, branches, help, start states, grammars and Monte-Carlo continuations do not apply.\n\nGive the command, and leave the others to the program; or let the engine play.",
  check: eachRlStage((view, model) => {
    const { body } = view.config;
    const use = placeOf(view.body, "rollout", "use");
    if (!byHarness(body.rollout)) {
      const command = placeOf(view.body, "rollout", "command");
      if (body.rollout.command !== undefined && isOwn(command))
        reportAt(model, view, harness, [["rollout", "command"]], {
          severity: "warning",
          message: "`rollout.command` is not run: the engine plays. Set `rollout.use: harness`.",
          fileFixes: [
            model.edits.set(pathIn(view, use, "rollout", "use"), "harness", "Set `rollout.use: harness`"),
          ],
        });
      return;
    }
    if (body.rollout.command === undefined)
      reportAt(model, view, harness, [["rollout", "use"]], {
        severity: "error",
        message:
          "`rollout.use: harness` needs `rollout.command`, the program that plays an episode, e.g. `[python3, play.py]`.",
      });
    for (const path of ownPlay(body)) {
      const at = placeOf(view.body, ...path);
      reportAt(model, view, harness, [path, ["rollout", "use"]], {
        severity: "error",
        message: `With \`rollout.use: harness\` a program plays the episodes, and \`${path.join(".")}\` is what the engine does: remove it.`,
        fileFixes: [model.edits.remove(pathIn(view, at, ...path), `Remove \`${path.join(".")}\``, false)],
      });
    }
  }),
};
