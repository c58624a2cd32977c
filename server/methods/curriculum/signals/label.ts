import { z } from "zod";
import { UserError } from "../../../../shared/lib/errors.ts";
import { refers } from "../../../core/references.ts";
import { signal, param } from "../../../core/declaration.ts";
import { numberIn } from "../fields.ts";
import { byGroup } from "./measured.ts";

export const label = signal({
  name: "label",
  summary: "A number in the task's data, e.g. an author's difficulty. It does not depend on the policy.",
  formula: "s = task.data[field]",
  sources: ["Kimi k1.5: Scaling Reinforcement Learning with LLMs"],
  failing: () => "even",
  params: z.object({ field: param(refers({ to: "field" }).min(1), "Field of the task's data, a number.") }),
  create: ({ field }) =>
    byGroup(({ task }) => {
      const value = numberIn(task, field);
      if (value !== undefined) return value;
      throw new UserError(`signal: the task ${task.id} has no number in its field ${field}`, {
        code: "signal-label",
        action: "Name a field that every task has, or choose another signal.",
      });
    }),
});
