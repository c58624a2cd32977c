import { z } from "zod";
import { baseline } from "../config/declaration.ts";

export const leaveOneOut = baseline({
  name: "leave_one_out",
  aliases: ["rloo"],
  summary:
    "Reward minus the mean reward of the group's other rollouts; a rollout without a scored sibling has no advantage.",
  formula: "A_i = r_i − (Σ_{j≠i} r_j) / (n − 1)",
  sources: [
    "Back to Basics: Revisiting REINFORCE Style Optimization for Learning from Human Feedback in LLMs",
  ],
  params: z.object({}),
  create: () => (totals, groups) => {
    const centred = new Float64Array(totals.length).fill(Number.NaN);
    for (const rows of groups.rows) {
      if (rows.length < 2) continue;
      const sum = rows.reduce((total, row) => total + totals[row]!, 0);
      for (const row of rows) centred[row] = totals[row]! - (sum - totals[row]!) / (rows.length - 1);
    }
    return centred;
  },
});
