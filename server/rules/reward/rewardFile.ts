import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, relative } from "node:path";
import { exportsOf } from "../../config/check/exports.ts";
import { listed, nearest } from "../../lib/suggest.ts";
import { replace } from "../../config/check/report.ts";
import { at as nodeAt, firstTime, reportAt, type Rule } from "../rule.ts";
import { unfitFile } from "../nearFile.ts";
import type { RewardTermConfig } from "../../core/config/resolved.ts";

/** A reward's file exists and has the function; found by parsing, nothing is executed. */
export const rewardFile: Rule = {
  id: "reward-file",
  title: "Missing reward function",
  why: "`path` or `path:function` names a reward in your own file. The file is parsed, never executed: TypeScript and JavaScript for their exports, Python for its top-level names. A run would stop before its first step.",
  check(model) {
    const fresh = firstTime();
    for (const view of model.stages) {
      for (const term of view.config.body.reward.terms) {
        const { file: path } = term.term.params;
        const written = nodeAt(view.body, "reward", "terms", term.name, "use");
        if (typeof path !== "string" || !fresh(written ?? term.term)) continue;
        const problem = problemOf(path, term, model.file);
        if (problem === undefined) continue;
        const { message, better } = problem;
        reportAt(model, view, rewardFile, [["reward", "terms", term.name, "use"]], ({ range }) => {
          const quoted = range.start.line === range.end.line ? better : undefined;
          const fixes = quoted === undefined ? [] : [replace(range, quoted, `Change to \`${quoted}\``)];
          return { message, fixes };
        });
      }
    }
  },
};

interface RewardFileProblem {
  readonly message: string;
  readonly better?: string;
}

function problemOf(path: string, term: RewardTermConfig, config: string): RewardFileProblem | undefined {
  const name = relative(dirname(config), path);
  const inConfig = (name: string): string => {
    const short = relative(dirname(config), name);
    return short.startsWith("..") ? short : `./${short}`;
  };
  const unfit = unfitFile(path);
  if (unfit !== undefined)
    return { message: `\`${name}\` for the reward \`${term.name}\` cannot be read: ${unfit}.` };
  if (!existsSync(path)) {
    const siblings = existsSync(dirname(path)) ? readdirSync(dirname(path)) : [];
    const meant = nearest(basename(path), siblings);
    const better = meant === undefined ? undefined : inConfig(`${dirname(path)}/${meant}`);
    const hint = better === undefined ? "" : ` Did you mean \`${better}\`?`;
    return {
      message: `There is no file \`${name}\` for the reward \`${term.name}\`.${hint}`,
      ...(better === undefined ? {} : { better }),
    };
  }
  const found = exportsOf(path);
  const wanted = String(term.term.params["export"]);
  if (found.kind === "broken") return { message: `\`${name}\` does not parse: ${found.message}` };
  // Of a class's method, the class is what the file has.
  const [root = wanted] = term.term.declaration.name === "python" ? wanted.split(".") : [];
  if (found.names.includes(root) || found.open) return undefined;
  const meant = nearest(wanted, found.names) ?? (found.names.length === 1 ? found.names[0] : undefined);
  const better = meant === undefined ? {} : { better: `${inConfig(path)}:${meant}` };
  const what = term.term.declaration.name === "python" ? "function" : "export";
  return { message: `\`${name}\` has no ${what} \`${wanted}\`. It has ${listed(found.names)}.`, ...better };
}
