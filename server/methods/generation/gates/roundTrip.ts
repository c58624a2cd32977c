import { z } from "zod";
import { taskGate } from "../../../core/declaration.ts";

export const roundTrip = taskGate({
  name: "round_trip",
  summary: "What the environment reads in the prompt has the task's own answer.",
  formula: "answer(read(prompt)) = answer",
  sources: ["CodeV-R1: Reasoning-Enhanced Verilog Generation"],
  status: "approximate",
  params: z.object({}),
  create: () => ({
    tries: false,
    admit: ({ read, task }) => {
      if (read === undefined || read === null)
        return { admitted: false, reason: "its environment cannot read it" };
      return read.answer === task.answer
        ? { admitted: true }
        : { admitted: false, reason: "its environment works out another answer" };
    },
  }),
});
