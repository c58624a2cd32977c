import { z } from "zod";
import { taskGate } from "../../../core/declaration.ts";

export const roundTrip = taskGate({
  name: "round_trip",
  summary: "The task that the environment parses from the prompt has the same answer.",
  formula: "answer(read(prompt)) = answer",
  sources: ["CodeV-R1: Reasoning-Enhanced Verilog Generation"],
  status: "approximate",
  params: z.object({}),
  create: () => ({
    tries: false,
    admit: ({ read, task }) => {
      if (read === undefined || read === null)
        return { admitted: false, reason: "its environment cannot parse it" };
      return read.answer === task.answer
        ? { admitted: true }
        : { admitted: false, reason: "its environment computes another answer" };
    },
  }),
});
