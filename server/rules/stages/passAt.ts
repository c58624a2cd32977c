import { mine, at as nodeAt, placeOf, type Rule } from "../rule.ts";

export const passAt: Rule = {
  id: "pass-at",
  title: "pass@k with fewer than k answers",
  why: "The unbiased estimate of pass@k from n answers, 1 − C(n−c, k) / C(n, k), needs n ≥ k (Chen et al., Evaluating Large Language Models Trained on Code).",
  check({ config, root, file, report, edits }) {
    const { pass_at, samples } = config.evaluation;
    const beyond = pass_at.filter((k) => k > samples);
    if (beyond.length === 0) return;
    const list = nodeAt(root, "evaluation", "pass_at");
    const index = pass_at.findIndex((k) => k > samples);
    const item = list?.kind === "list" ? list.items[index]?.origin : undefined;
    const at = mine(file, item, list?.origin, placeOf(root, "evaluation", "samples")) ?? root.origin;
    const message = `pass@${beyond[0]} needs at least ${Math.max(...beyond)} answers per task, and \`evaluation.samples\` is ${samples}: draw more, or ask for a smaller k.`;
    const most = Math.max(...pass_at);
    const fitting = pass_at.filter((k) => k <= samples);
    report({
      rule: passAt.id,
      message,
      key: "evaluation.pass_at",
      at,
      related: [{ at: placeOf(root, "evaluation", "samples"), message: `${samples} answers a task` }],
      fileFixes: [
        edits.set(["evaluation", "samples"], String(most), `Change \`samples\` to ${most} (= the largest k)`),
        fitting.length === 0
          ? undefined
          : edits.set(
              ["evaluation", "pass_at"],
              `[${fitting.join(", ")}]`,
              `Change \`pass_at\` to [${fitting.join(", ")}] (what ${samples} answers give)`,
              false,
            ),
      ],
    });
  },
};
