import { z } from "zod";
import { UserError } from "../../../../shared/errors.ts";
import { refers } from "../../../core/references.ts";
import { signal } from "../../../core/declaration.ts";
import { numberIn } from "../fields.ts";
import { byGroup } from "./measured.ts";

export const label = signal({
  name: "label",
  summary:
    "A number that the task's data has, e.g. an author's difficulty. What the policy does changes nothing of it.",
  formula: "s = task.data[field]",
  sources: ["Kimi k1.5: Scaling Reinforcement Learning with LLMs"],
  failing: () => "even",
  params: z.object({ field: refers({ to: "field" }).min(1).describe("Field of the task's data, a number.") }),
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
