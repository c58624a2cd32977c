import { trainers } from "../../../shared/run/trainers.ts";
import { unknownName } from "../../config/check/report.ts";
import { nearest } from "../../lib/suggest.ts";
import { at as nodeAt, keyOf, mine, type Rule } from "../rule.ts";

/** The trainer has the settings that it is given. */
export const engineArgs: Rule = {
  id: "engine-args",
  title: "Unknown setting of the trainer",
  why: "`engine.args` are settings of the trainer that `engine.use` names, by its own names; they are written over what the config says. A trainer refuses a name that it does not have, or ignores it.\n\nThe names are those of the newest release that Gradus knows. Correct the name, or remove it.",
  check({ config, file, root, report, edits, engineKeys }) {
    const { use, args } = config.engine;
    if (use === "embedded" || args === undefined) return;
    const known = engineKeys?.(use);
    if (known === undefined) return;
    for (const name of Object.keys(args)) {
      if (known.has(name)) continue;
      const at = mine(file, keyOf(root, "engine", "args", name), nodeAt(root, "engine", "args")?.origin);
      const meant = nearest(name, known.keys);
      report({
        rule: engineArgs.id,
        message: `${trainers[use].name} has no setting \`${name}\`.${meant === undefined ? "" : ` Did you mean \`${meant}\`?`}`,
        key: `engine.args.${name}`,
        at: at ?? root.origin,
        fixes: at === undefined || meant === undefined ? [] : unknownName(name, [meant], at).fixes,
        fileFixes: [edits.remove(["engine", "args", name], `Remove \`${name}\``, false)],
      });
    }
  },
};
