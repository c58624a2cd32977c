import { z } from "zod";
import { rescore } from "../../core/declaration.ts";

export const rescoreRecorded = rescore({
  name: "recorded",
  summary: "Replayed rollouts train with their recorded advantages.",
  sources: [
    "Squeeze the Soaked Sponge: Efficient Off-policy Reinforcement Finetuning for Large Language Model",
  ],
  params: z.object({}),
  create: () => ({ from: "recorded" }),
});
