import { z } from "zod";
import { UserError } from "../../../../shared/lib/errors.ts";
import { rewardTerm, param } from "../../../core/declaration.ts";

/** Chosen by `use: PATH.py[:function]`. The rule `python-reward` says on its line that no run starts with it. */
export const python = rewardTerm({
  name: "python",
  summary: "A reward function in a Python file of the workspace.",
  sources: ["verl custom_reward_function"],
  params: z.object({
    file: param(z.string().min(1), "The Python file, relative to the config that names it."),
    export: param(z.string().default("compute_score"), "The function's name."),
    args: param(z.record(z.string(), z.json()).optional(), "Arguments for every call."),
  }),
  create: ({ file, export: name }, context) => {
    throw new UserError(
      `reward term "${context.name ?? name}" is Python (${file}:${name}), and this version runs only TypeScript and JavaScript rewards`,
      {
        file,
        code: "python-reward",
        action: `Write it as \`export function score({ prompt, response, task })\` in a .ts file, or remove the term with --set reward.terms.${context.name ?? name}=null.`,
      },
    );
  },
});
