import { unknownName } from "../../config/check/report.ts";
import { reportAt, type Rule } from "../rule.ts";

/** A term's `tasks` names tasks of the config. */
export const termTasks: Rule = {
  id: "term-tasks",
  title: "Reward term for a missing task",
  why: "A term's `tasks` restricts it to rollouts of these tasks, by their names. A name that no task has would leave the term without effect.",
  check(model) {
    const { stages, config } = model;
    const tasks = [config.top.tasks, ...stages.map((view) => view.config.body.tasks)];
    let names: readonly string[] | undefined;
    const everywhere = (): readonly string[] =>
      (names ??= [...new Set(tasks.flat().map(({ name }) => name))]);
    for (const view of stages) {
      for (const term of view.config.body.reward.terms) {
        if (term.tasks === undefined) continue;
        const known = everywhere();
        const path = ["reward", "terms", term.name, "tasks"];
        term.tasks.forEach((name, index) => {
          if (known.includes(name)) return;
          reportAt(model, view, termTasks, [[...path, String(index)], path], (at) => {
            const { hint, fixes } = unknownName(name, known, at);
            const key = `reward.terms.${term.name}.tasks.${index}`;
            return { key, message: `There is no task \`${name}\`. ${hint}`, fixes };
          });
        });
      }
    }
  },
};
