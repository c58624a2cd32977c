import { changed } from "../config/text/node.ts";
import { keyOf, mine, type Rule } from "./rule.ts";

/** What a run cannot do without. */
export const needed: Rule = {
  id: "nothing-to-do",
  title: "Nothing to train on",
  why: "A run draws tasks and scores rollouts with the terms of the reward. Without either there is nothing to learn.",
  check({ config, stages, file, root, report, edits }) {
    if (config.top.tasks.length === 0 && stages.some(({ config }) => config.body.tasks.length === 0)) {
      const at = mine(file, keyOf(root, "tasks")) ?? root.origin;
      report({
        rule: needed.id,
        message: "There are no tasks: write at least one, e.g. `tasks: [{ env: countdown }]`.",
        key: "tasks",
        at: changed(at, { range: first(at.range) }),
        fileFixes: [
          edits.set(["tasks"], "[{ env: countdown }]", "Insert `tasks: [{ env: countdown }]`", false),
        ],
      });
    }
    if (
      config.top.reward.terms.length === 0 &&
      stages.some(({ config }) => config.kind === "rl" && config.body.reward.terms.length === 0)
    ) {
      const at = mine(file, keyOf(root, "reward", "terms"), keyOf(root, "reward")) ?? root.origin;
      report({
        rule: needed.id,
        message:
          "There is no reward: write at least one term, e.g. `reward: { terms: { correct: equation } }`.",
        key: "reward.terms",
        at: changed(at, { range: first(at.range) }),
        fileFixes: [
          edits.set(
            ["reward", "terms"],
            "{ correct: equation }",
            "Insert the term `correct: equation`",
            false,
          ),
        ],
      });
    }
  },
};

/** Not the whole file underlined: its first line's beginning. */
const first = <
  R extends { start: { line: number; character: number }; end: { line: number; character: number } },
>(
  range: R,
): R => (range.start.line === range.end.line ? range : { ...range, end: range.start });
