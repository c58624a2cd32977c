import { basename } from "node:path";
import { at as nodeAt, firstTime, mine, underneath, type Rule } from "../rule.ts";

/** What a run refuses to start with, on the line that asks for it. */
export const pythonReward: Rule = {
  id: "python-reward",
  title: "Reward written in Python",
  why: "This version of Gradus runs your own rewards only in TypeScript and JavaScript. A run with a Python reward stops before its first step.\n\nWrite the function as `export function score({ prompt, response, task })` in a `.ts` or `.js` file, use a built-in reward (`exact_match`, `numeric`, `equation`, `format`, …), or remove the term. `gradus explain` and `gradus curriculum` need no reward function: they read recorded rewards.",
  check({ stages, file, root, report, edits }) {
    const fresh = firstTime();
    for (const view of stages) {
      for (const { name, term } of view.config.body.reward.terms) {
        const written = nodeAt(view.body, "reward", "terms", name, "use");
        if (term.declaration.name !== "python" || !fresh(written ?? term)) continue;
        const at =
          mine(file, written?.origin ?? nodeAt(view.body, "reward", "terms", name)?.origin) ?? root.origin;
        const path = [
          ...(at.stage === undefined ? [] : ["stages", view.config.name]),
          "reward",
          "terms",
          name,
        ];
        report({
          rule: pythonReward.id,
          message: `The reward \`${name}\` is Python (\`${basename(String(term.params["file"]))}\`), and this version runs only TypeScript and JavaScript rewards. Write it as \`export function score({ prompt, response, task })\` in a .ts or .js file, or remove the term.`,
          key: underneath(view, at, `reward.terms.${name}.use`),
          at,
          fileFixes: [edits.remove(path, `Remove the term \`${name}\``, false)],
        });
      }
    }
  },
};
