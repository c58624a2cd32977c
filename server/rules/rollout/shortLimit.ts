import { environmentOf } from "../tasks/environments.ts";
import { isOwn, at as nodeAt, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

/** A written solution of each difficulty fits into a response. */
export const shortLimit: Rule = {
  id: "short-limit",
  title: "Responses too short for any solution",
  why: "A tiny model generates one character per token. If the shortest solutions of a task are longer than `rollout.max_tokens`, every response to it is cut off before it can be correct: its groups are all wrong, and a curriculum keeps drawing an arm that cannot be solved.\n\nThis rule draws the solutions as the run would. Raise `rollout.max_tokens`, or leave the difficulty out.",
  check(model) {
    const { config, stages, edits } = model;
    if (config.model.base !== "tiny" || config.model.tokenizer?.use === "bpe") return;
    for (const view of stages) {
      const { tasks, rollout } = view.config.body;
      if (view.config.kind !== "rl" || rollout.prefix !== "") continue;
      for (const task of tasks) {
        const environment = environmentOf(task);
        // Nothing of a text is asked that is only to be read.
        if (task.source.params["predict"] === "text") continue;
        if (environment.kind !== "made" || "begin" in task.source.params) continue;
        const beyond = [...environment.shortestSolution].filter(([, least]) => least > rollout.max_tokens);
        const [worst] = beyond.sort(([, a], [, b]) => b - a);
        if (worst === undefined) continue;
        const paths = [["rollout", "max_tokens"], ["tasks"]];
        const at = nodeAt(view.body, "rollout", "max_tokens")?.origin;
        const [value, least] = worst;
        const what = value === "" ? `\`${task.name}\`` : `\`${task.name}/${value}\``;
        reportAt(model, view, shortLimit, paths, {
          severity: "warning",
          message: `The shortest solutions of ${what} have ${least} characters, but \`rollout.max_tokens\` is ${rollout.max_tokens} and a token is one character, so no solution fits: raise \`rollout.max_tokens\`, or leave the difficulty out.`,
          fileFixes: [
            edits.set(
              pathIn(view, isOwn(at) ? at : placeOf(view.body, "rollout"), "rollout", "max_tokens"),
              String(least + 1),
              `Change \`rollout.max_tokens\` to ${least + 1} (= ${least} characters + the end)`,
            ),
          ],
        });
      }
    }
  },
};
