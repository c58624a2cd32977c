import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, relative } from "node:path";
import { exportsOf } from "../exports.ts";
import { listed, nearest } from "../suggest.ts";
import { replace } from "../report.ts";
import { at as nodeAt, mine, underneath, type Rule, type StageView } from "./rule.ts";
import type { RewardTermConfig } from "../resolved.ts";
import type { Finding } from "../report.ts";

/** A reward's file exists and has the function; found by parsing, nothing is executed. */
export const rewardFile: Rule = {
  id: "reward-file",
  check({ stages, file, root, report }) {
    for (const view of stages) {
      for (const term of view.config.body.reward.terms) {
        const { file: path } = term.term.params;
        if (typeof path !== "string") continue;
        const at = mine(file, nodeAt(view.body, "reward", "terms", term.name, "use")?.origin) ?? root.origin;
        const problem = problemOf(path, term, file);
        if (problem === undefined) continue;
        const quoted = at.range.start.line === at.range.end.line ? problem.better : undefined;
        const fixes = quoted === undefined ? [] : [replace(at.range, quoted, `Change to \`${quoted}\``)];
        report({
          rule: rewardFile.id,
          severity: problem.severity ?? "error",
          message: problem.message,
          key: underneath(view, at, `reward.terms.${term.name}.use`),
          at,
          fixes,
        });
      }
    }
  },
};

interface Problem {
  readonly message: string;
  readonly better?: string;
  readonly severity?: Finding["severity"];
}

function problemOf(path: string, term: RewardTermConfig, config: string): Problem | undefined {
  const shown = relative(dirname(config), path);
  const inConfig = (name: string): string => {
    const short = relative(dirname(config), name);
    return short.startsWith("..") ? short : `./${short}`;
  };
  if (!existsSync(path) || !statSync(path).isFile()) {
    const siblings = existsSync(dirname(path)) ? readdirSync(dirname(path)) : [];
    const meant = nearest(basename(path), siblings);
    const better = meant === undefined ? undefined : inConfig(`${dirname(path)}/${meant}`);
    const hint = better === undefined ? "" : ` Did you mean \`${better}\`?`;
    return {
      message: `There is no file \`${shown}\` for the reward \`${term.name}\`.${hint}`,
      ...(better === undefined ? {} : { better }),
    };
  }
  const found = exportsOf(path);
  const wanted = String(term.term.params["export"]);
  if (found.kind === "broken") return { message: `\`${shown}\` does not parse: ${found.message}` };
  if (found.names.includes(wanted) || found.open) return undefined;
  const meant = nearest(wanted, found.names) ?? (found.names.length === 1 ? found.names[0] : undefined);
  const better = meant === undefined ? {} : { better: `${inConfig(path)}:${meant}` };
  const what = term.term.declaration.name === "python" ? "function" : "export";
  return { message: `\`${shown}\` has no ${what} \`${wanted}\`. It has ${listed(found.names)}.`, ...better };
}

/** A dataset's file exists. */
export const datasetFile: Rule = {
  id: "dataset-file",
  check({ stages, file, root, report }) {
    for (const view of stages) {
      for (const [index, { source }] of view.config.body.tasks.entries()) {
        const { dataset } = source.params;
        if (typeof dataset !== "string" || existsSync(dataset)) continue;
        const list = nodeAt(view.body, "tasks");
        const item = list?.kind === "list" ? list.items[index] : undefined;
        const at = mine(file, nodeAt(item, "dataset")?.origin) ?? root.origin;
        report({
          rule: datasetFile.id,
          message: `There is no file \`${relative(dirname(file), dataset)}\`: a path is relative to the file that writes it.`,
          key: pathOf(view, at, index),
          at,
        });
      }
    }
  },
};

const pathOf = (view: StageView, at: Parameters<typeof underneath>[1], index: number): string =>
  underneath(view, at, `tasks.${index}.dataset`);

/** A model's folder or file exists. */
export const modelFile: Rule = {
  id: "model-file",
  check({ config, file, root, report }) {
    const { base } = config.model;
    if (base === "tiny" || base.startsWith("${env:") || existsSync(base)) return;
    const at = mine(file, nodeAt(root, "model", "base")?.origin) ?? root.origin;
    report({
      rule: modelFile.id,
      message: `There is no model at \`${relative(dirname(file), base)}\`: give \`tiny\`, a folder, a .gguf file or a checkpoint that exists.`,
      key: "model.base",
      at,
    });
  },
};
