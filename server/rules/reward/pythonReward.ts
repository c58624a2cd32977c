import { basename } from "node:path";
import { signatureOf } from "../../config/check/signatures/index.ts";
import { unknownText } from "../../methods/reward/own/python/convention.ts";
import { at as nodeAt, firstTime, mine, underneath, type Rule } from "../rule.ts";

/** What a run refuses to start with, on the line that asks for it. */
export const pythonReward: Rule = {
  id: "python-reward",
  title: "Python reward of no known convention",
  why: "A Python reward is called by the names of its parameters:\n\n- Gradus: `prompt`, `response`, `task`, `finish`, `index`, `group`, `length`, `step`;\n- verl: `data_source`, `solution_str` (also `predict_str`, `model_output`), `ground_truth`, `extra_info`, or all of them in the plural;\n- TRL: `completions`, `completion_ids`, `prompts` and the data's fields, as lists;\n- OpenRLHF: `queries`, `prompts`, `labels`, as lists;\n- reasoning-gym: `answer`, `entry`;\n- verifiers: `trace`, `task`, `runtime`, or of a rubric `completion`, `prompt`, `answer`, `state`, `info`.\n\nA function with other parameters, among them AReaL's, slime's and rLLM's, would stop a run before its first step. Write a function of three lines that calls it, and name that in `use`. The file is read, never run: a function that another one returns is looked at when the run starts.",
  check({ stages, file, root, report, edits }) {
    const fresh = firstTime();
    for (const view of stages) {
      for (const { name, term } of view.config.body.reward.terms) {
        const written = nodeAt(view.body, "reward", "terms", name, "use");
        const { file: path, export: called } = term.params;
        if (term.declaration.name !== "python" || !fresh(written ?? term)) continue;
        if (typeof path !== "string" || typeof called !== "string") continue;
        const found = signatureOf(path, called)?.recognised;
        if (found === undefined || found.kind === "convention") continue;
        const at =
          mine(file, written?.origin ?? nodeAt(view.body, "reward", "terms", name)?.origin) ?? root.origin;
        const stage = at.stage === undefined ? [] : ["stages", view.config.name];
        report({
          rule: pythonReward.id,
          message: `${unknownText(called, found)}. Add a function to \`${basename(path)}\` that calls it, and name that: \`${inOneLine(found.wrapper)}\`.`,
          key: underneath(view, at, `reward.terms.${name}.use`),
          at,
          fileFixes: [
            edits.remove([...stage, "reward", "terms", name], `Remove the term \`${name}\``, false),
          ],
        });
      }
    }
  },
};

/** A wrapper without its comment. */
const inOneLine = (wrapper: string): string => wrapper.replace(/\n *#.*/, "").replace(/\n */g, " ");
