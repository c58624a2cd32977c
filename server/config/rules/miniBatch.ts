import { mine, placeOf, underneath, type Rule } from "./rule.ts";

/** Mini-batches are equal parts of a step's rollouts, and a group compared by its loss stays whole. */
export const miniBatch: Rule = {
  id: "mini-batch",
  check({ stages, file, root, report }) {
    for (const view of stages) {
      const { rollout, update } = view.config.body;
      const size = update.mini_batch;
      if (size === undefined || view.config.kind !== "rl") continue;
      const all = rollout.prompts * rollout.group;
      const at =
        mine(
          file,
          placeOf(view.body, "update", "mini_batch"),
          placeOf(view.body, "rollout", "group"),
          placeOf(view.body, "rollout", "prompts"),
        ) ?? root.origin;
      const key = underneath(view, at, "update.mini_batch");
      const product = `${rollout.prompts} prompts × ${rollout.group} rollouts = ${all}`;
      if (size > all) {
        report({
          rule: miniBatch.id,
          severity: "warning",
          message: `A step has only ${product} rollouts, fewer than \`update.mini_batch\` ${size}: each step is one update of all of them.`,
          key,
          at,
        });
      } else if (all % size !== 0) {
        report({
          rule: miniBatch.id,
          message: `\`update.mini_batch\` ${size} does not divide a step's rollouts (${product}): the last update would be of ${all % size}. Use ${divisors(all, size).join(" or ")}.`,
          key,
          at,
        });
      } else if (size % rollout.group !== 0) {
        report({
          rule: miniBatch.id,
          severity: "warning",
          message: `\`update.mini_batch\` ${size} is no multiple of \`rollout.group\` ${rollout.group}: groups are split between updates.`,
          key,
          at,
        });
      }
    }
  },
};

/** The nearest sizes that divide, below and above. */
function divisors(all: number, wanted: number): number[] {
  const every = Array.from({ length: all }, (_, i) => i + 1).filter((n) => all % n === 0);
  return [every.filter((n) => n < wanted).at(-1), every.find((n) => n > wanted)].filter(
    (n) => n !== undefined,
  );
}
