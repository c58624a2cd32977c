import { isOwn, placeOf, type Rule } from "../rule.ts";

/** Evaluations fall into the run. */
export const lateEvaluation: Rule = {
  id: "late-evaluation",
  title: "No evaluation while the run trains",
  why: "Held-out tasks are measured when the rl stages begin, every `evaluation.every` steps, and at the end. Where the interval is longer than all rl steps, the curve has its two ends: a policy that was best in the middle is not found, nor when it began to fall (and `checkpoint.best` chooses between the two ends).\n\nA tenth to a fifth of the steps is usual.",
  check({ config, stages, capped, root, report, edits }) {
    const steps = stages.reduce((sum, { config: { kind, steps } }) => sum + (kind === "rl" ? steps : 0), 0);
    const at = placeOf(root, "evaluation", "every");
    if (capped || config.evaluation.every <= steps || !isOwn(at)) return;
    const fitting = Math.max(1, Math.round(steps / 10));
    report({
      rule: lateEvaluation.id,
      severity: "info",
      message: `An evaluation every ${config.evaluation.every} steps, and ${steps} steps: held-out tasks are measured before and after, never between.`,
      key: "evaluation.every",
      at,
      mends: [
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
