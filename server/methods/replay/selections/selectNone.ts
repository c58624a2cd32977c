import { z } from "zod";
import { selection } from "../../../core/declaration.ts";

export const selectNone = selection({
  name: "none",
  summary:
    "Trains none of the step's own rollouts: they only measure the policy, and replayed rollouts train. For learning from a file alone (offline).",
  sources: ["Improving Language Models with Advantage-based Offline Policy Gradients"],
  params: z.object({}),
  create: () => ({ over: "step", choose: () => [] }),
});
