import { z } from "zod";
import { start, param } from "../../../core/declaration.ts";
import { firstTokens, units } from "../../../core/templates.ts";
import type { StartState } from "../../../core/slots/guidance.ts";
import type { Arm } from "../../../core/basics.ts";

const saved = z.record(
  z.string(),
  z.object({ share: z.number(), rollouts: z.number(), successes: z.number() }),
);
type Progress = z.output<typeof saved>[string];

export const reverse = start({
  name: "reverse",
  summary:
    "Rollouts start after the first part of the task's solution, near its end at first; once an arm succeeds often enough, the prefilled part shrinks.",
  formula: "share ← share − step, where successes / rollouts ≥ advance_at over the window",
  sources: ["StepCoder: Improve Code Generation with Reinforcement Learning from Compiler Feedback"],
  params: z.object({
    by: param(z.enum(units).default("line"), "What the solution is cut between."),
    from: param(z.number().min(0).max(1).default(0.9), "Share of the solution that is prefilled at first."),
    step: param(z.number().gt(0).max(1).default(0.1), "By how much the share shrinks."),
    advance_at: param(
      z.number().min(0).max(1).default(0.8),
      "Success rate of an arm at which its share shrinks.",
    ),
    window: param(z.number().int().min(1).default(64), "Rollouts of the arm that the rate is taken over."),
  }),
  create: ({ by, from, step, advance_at, window }) => {
    const arms = new Map<Arm, Progress>();
    const of = (arm: Arm): Progress => arms.get(arm) ?? { share: from, rollouts: 0, successes: 0 };
    return {
      begin: (drawn, { tokenizer }) =>
        Promise.resolve(
          drawn.map(({ task, arm }): StartState => {
            const { share } = of(arm);
            const tokens = firstTokens(task.solution ?? "", share, by, tokenizer);
            if (tokens.length === 0) return { task, arm };
            return { task, arm, lead: [{ kind: "given", tokens }], help: { use: "reverse", share } };
          }),
        ),
      observe: (groups) => {
        for (const { arm, rollouts } of groups) {
          const before = of(arm);
          const now = {
            ...before,
            rollouts: before.rollouts + rollouts.length,
            successes: before.successes + rollouts.filter(({ success }) => success).length,
          };
          const due = now.rollouts >= window;
          const shrinks = due && now.successes / now.rollouts >= advance_at;
          // Rounded, so that tenths taken off nine tenths end at nothing.
          const share = shrinks ? Math.max(0, Number((now.share - step).toFixed(9))) : now.share;
          arms.set(arm, due ? { share, rollouts: 0, successes: 0 } : now);
        }
      },
      save: () => ({ json: Object.fromEntries(arms) }),
      load: ({ json }) => {
        arms.clear();
        for (const [arm, progress] of Object.entries(saved.parse(json))) arms.set(arm, progress);
      },
    };
  },
});
