import { z } from "zod";
import { UserError } from "../../../../shared/lib/errors.ts";
import { baseline } from "../../../core/declaration.ts";

/** The chain reads the recorded columns instead of calling this; a run has none. */
export const given = baseline({
  name: "given",
  summary:
    "Takes the advantages recorded with the rollouts; scale, level, sign and token weights are then ignored. For `gradus explain`.",
  formula: "A = recorded",
  sources: [],
  params: z.object({}),
  create: () => ({
    centre: () => {
      throw new UserError("advantage.baseline: given reads recorded advantages, and a run has none", {
        code: "given-advantages",
        action: "Choose group_mean, leave_one_out or none to train; `given` is for `gradus explain`.",
      });
    },
  }),
});
