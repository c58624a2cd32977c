import { isOwn, placeOf, type Rule } from "../rule.ts";

/** Evaluations fall into the run. */
export const lateEvaluation: Rule = {
  id: "late-evaluation",
  title: "No evaluation during training",
  why: "Held-out tasks are measured when the rl stages begin, every `evaluation.every` steps, and at the end. If the interval is longer than all rl steps, the curve has only its two ends: it shows neither a policy that was best in the middle nor when performance began to fall, and `checkpoint.best` chooses between the two ends.\n\nA tenth to a fifth of the steps is usual.",
  check({ config, stages, capped, root, report, edits }) {
    const steps = stages.reduce((sum, { config: { kind, steps } }) => sum + (kind === "rl" ? steps : 0), 0);
    const at = placeOf(root, "evaluation", "every");
    if (capped || config.evaluation.every <= steps || !isOwn(at)) return;
    const fitting = Math.max(1, Math.round(steps / 10));
    report({
      rule: lateEvaluation.id,
      severity: "info",
      message: `With \`evaluation.every\` ${config.evaluation.every} and only ${steps} steps, held-out tasks are measured before and after training, but never during it.`,
      key: "evaluation.every",
      at,
      fileFixes: [
        edits.set(
          ["evaluation", "every"],
          String(fitting),
          `Change to ${fitting} (= ${steps} steps / 10)`,
          false,
        ),
      ],
    });
  },
};
