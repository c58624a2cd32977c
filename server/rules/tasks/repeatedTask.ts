import { isOwn, placeOf, type Rule } from "../rule.ts";

/** No two entries of `tasks` draw the very same tasks. */
export const repeatedTask: Rule = {
  id: "repeated-task",
  title: "Duplicate tasks",
  why: "Two entries of `tasks` with the same source and the same parameters draw from the same tasks. A sampler over arms sees one arm as two, estimates each from half of the rollouts, and gives them twice the share together.\n\nGive one entry the `weight` you want, or other parameters.",
  check({ config, root, report, edits }) {
    const seen = new Map<string, number>();
    for (const [index, { name, source, play, generate }] of config.top.tasks.entries()) {
      // What is made of others may be made in two ways.
      if (generate !== undefined) continue;
      const chosen = [source, play].map((one) => one && [one.declaration.name, one.folder, one.params]);
      const key = JSON.stringify(chosen);
      const first = seen.get(key);
      const at = placeOf(root, "tasks", String(index));
      if (first === undefined) seen.set(key, index);
      else if (isOwn(at))
        report({
          rule: repeatedTask.id,
          severity: "warning",
          message: `\`${name}\` draws the same tasks as \`${config.top.tasks[first]?.name}\`, so they are one arm under two names.`,
          key: `tasks.${name}`,
          at,
          related: [{ at: placeOf(root, "tasks", String(first)), message: "the same tasks" }],
          fileFixes: [edits.remove(["tasks", index], `Remove \`${name}\``, false)],
        });
    }
  },
};
