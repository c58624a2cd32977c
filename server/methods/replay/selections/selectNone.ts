import { z } from "zod";
import { selection } from "../../../core/declaration.ts";

export const selectNone = selection({
  name: "none",
  summary:
    "None of the step's own rollouts trains: they measure the policy, and what trains is replayed. Learning from a file alone (offline).",
  sources: ["Improving Language Models with Advantage-based Offline Policy Gradients"],
  params: z.object({}),
  create: () => ({ over: "step", choose: () => [] }),
});
