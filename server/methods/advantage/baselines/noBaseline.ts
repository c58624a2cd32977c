import { z } from "zod";
import { baseline } from "../../../core/declaration.ts";

export const noBaseline = baseline({
  name: "none",
  summary: "The reward itself is the advantage.",
  formula: "A = r",
  sources: ["REINFORCE"],
  params: z.object({}),
  create: () => ({ centre: ({ rewards }) => rewards.slice() }),
});
