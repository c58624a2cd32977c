import { mine, at as nodeAt, placeOf, type Rule } from "./rule.ts";

export const passAt: Rule = {
  id: "pass-at",
  check({ config, root, file, report }) {
    const { pass_at, samples } = config.evaluation;
    const beyond = pass_at.filter((k) => k > samples);
    if (beyond.length === 0) return;
    const list = nodeAt(root, "evaluation", "pass_at");
    const index = pass_at.findIndex((k) => k > samples);
    const item = list?.kind === "list" ? list.items[index]?.origin : undefined;
    const at = mine(file, item, list?.origin, placeOf(root, "evaluation", "samples")) ?? root.origin;
    const message = `pass@${beyond[0]} needs at least ${Math.max(...beyond)} answers per task, and \`evaluation.samples\` is ${samples}: draw more, or ask for a smaller k.`;
    report({ rule: passAt.id, message, key: "evaluation.pass_at", at });
  },
};
