import { nameOf } from "../method.ts";
import { join, type SourceNode } from "../node.ts";
import { unknownName, type Report } from "../report.ts";
import { at as nodeAt, mine, underneath, type Rule } from "./rule.ts";

/** Two tasks or two stages of one name: overrides and arms could not tell them apart. */
export const duplicateName: Rule = {
  id: "duplicate-name",
  check({ root, stages, report }) {
    duplicates(nodeAt(root, "tasks"), "task", "tasks", report);
    duplicates(nodeAt(root, "stages"), "stage", "stages", report);
    for (const view of stages) {
      const tasks = nodeAt(view.body, "tasks");
      if (tasks?.origin.stage !== undefined) duplicates(tasks, "task", `${view.path}.tasks`, report);
    }
  },
};

function duplicates(
  list: SourceNode | undefined,
  what: "task" | "stage",
  path: string,
  report: Report,
): void {
  if (list?.kind !== "list") return;
  const seen = new Set<string>();
  list.items.forEach((item, index) => {
    const name = nameOf(item, what);
    if (name === undefined) return;
    if (seen.has(name)) {
      const written = nodeAt(item, "name")?.origin ?? item.origin;
      const message = `Two ${what}s are called \`${name}\`: give this one a \`name\` of its own.`;
      report({ rule: duplicateName.id, message, key: join(path, index), at: written });
    }
    seen.add(name);
  });
}

/** `reward.success.terms` names terms of the same stage. */
export const successTerm: Rule = {
  id: "success-term",
  check({ stages, file, root, report }) {
    for (const view of stages) {
      const { terms, success } = view.config.body.reward;
      const known = terms.map(({ name }) => name);
      const list = nodeAt(view.body, "reward", "success", "terms");
      success.terms?.forEach((name, index) => {
        if (known.includes(name)) return;
        const at =
          mine(file, list?.kind === "list" ? list.items[index]?.origin : undefined, list?.origin) ??
          root.origin;
        const { hint, fixes } = unknownName(name, known, at);
        report({
          rule: successTerm.id,
          message: `\`reward.success.terms\` names no reward term: \`${name}\`. ${hint}`,
          key: underneath(view, at, `reward.success.terms.${index}`),
          at,
          fixes,
        });
      });
    }
  },
};

/** A term's `tasks` names tasks of the config. */
export const termTasks: Rule = {
  id: "term-tasks",
  check({ stages, config, file, root, report }) {
    const everywhere = [...config.top.tasks, ...stages.flatMap((view) => view.config.body.tasks)].map(
      ({ name }) => name,
    );
    const known = [...new Set(everywhere)];
    for (const view of stages) {
      for (const term of view.config.body.reward.terms) {
        const list = nodeAt(view.body, "reward", "terms", term.name, "tasks");
        term.tasks?.forEach((name, index) => {
          if (known.includes(name)) return;
          const at =
            mine(file, list?.kind === "list" ? list.items[index]?.origin : undefined, list?.origin) ??
            root.origin;
          const { hint, fixes } = unknownName(name, known, at);
          report({
            rule: termTasks.id,
            message: `There is no task \`${name}\`. ${hint}`,
            key: underneath(view, at, `reward.terms.${term.name}.tasks.${index}`),
            at,
            fixes,
          });
        });
      }
    }
  },
};
