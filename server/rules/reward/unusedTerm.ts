import { perObject } from "../../lib/perObject.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import { mine, keyOf, type Rule } from "../rule.ts";
import { listed } from "../../lib/suggest.ts";

const namesOf = perObject((tasks: StageBody["tasks"]) => new Set(tasks.map(({ name }) => name)));

/** The terms that score a rollout of a stage. */
function scoring({ reward, tasks }: StageBody): readonly string[] {
  const drawn = namesOf(tasks);
  return reward.terms
    .filter((term) => term.tasks?.some((name) => drawn.has(name)) ?? true)
    .map(({ name }) => name);
}

/** A term that scores no rollout of any stage: every stage removes it, or none draws its tasks. */
export const unusedTerm: Rule = {
  id: "unused-term",
  title: "Unused reward term",
  why: "Every stage removes the term, or no stage draws a task that it is for, so it never scores a rollout.",
  check({ stages, config, file, root, report, edits }) {
    const rl = stages.filter((view) => view.config.kind === "rl");
    const used = new Set(rl.flatMap(({ config: { body } }) => scoring(body)));
    for (const term of config.top.reward.terms) {
      if (used.has(term.name)) continue;
      // An unknown task name has its own diagnostic, which this one would only repeat.
      const known = new Set(
        [...config.top.tasks, ...rl.flatMap((view) => view.config.body.tasks)].map(({ name }) => name),
      );
      if (term.tasks?.some((name) => !known.has(name)) === true) continue;
      const at = mine(file, keyOf(root, "reward", "terms", term.name)) ?? root.origin;
      const why =
        rl.length === 0
          ? "there is no rl stage"
          : term.tasks === undefined
            ? "every stage removes it"
            : `no stage draws ${listed(term.tasks)}`;
      report({
        rule: unusedTerm.id,
        severity: "warning",
        message: `No stage uses the term \`${term.name}\`: ${why}.`,
        key: `reward.terms.${term.name}`,
        at,
        tags: ["unnecessary"],
        fileFixes:
          // A stage that removes it, or a list that names it, would be left with nothing to name.
          rl.length > 1 || config.top.reward.success.terms?.includes(term.name) === true
            ? []
            : [edits.remove(["reward", "terms", term.name], `Remove the term \`${term.name}\``, false)],
      });
    }
  },
};
