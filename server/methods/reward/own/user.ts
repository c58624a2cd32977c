import { resolve } from "node:path";
import { z } from "zod";
import { rewardTerm, param } from "../../../core/declaration.ts";
import { UserReward } from "./userReward.ts";

/** Seconds a call may take where the config does not say. */
const defaultTimeout = 2;

/** Chosen by `use: PATH.ts[:export]` (also .mts, .js, .mjs). */
export const user = rewardTerm({
  name: "user",
  aliases: ["typescript", "javascript"],
  summary:
    "A reward function in a TypeScript or JavaScript file of the workspace, run in a process of its own. `spans` name characters of the response that masks read: `{ executed: [[0, 12]], error: [[4, 9]] }`.",
  formula:
    "r = score({ prompt, response, task, … }): number | null | { value, spans } | { level, values, spans }",
  sources: [],
  params: z.object({
    file: param(z.string().min(1), "The file, relative to the config that names it."),
    export: param(z.string().default("score"), "The function's name; `default` for the default export."),
    args: param(z.record(z.string(), z.json()).optional(), "Arguments for every call, as `args`."),
    timeout: param(z.number().positive().optional(), "Seconds for one rollout; default: reward.timeout."),
  }),
  create: ({ file, export: name, args, timeout }, context) =>
    new UserReward({
      file: resolve(context.folder, file),
      export: name,
      term: context.name ?? name,
      args: args ?? {},
      timeout: timeout ?? context.timeout ?? defaultTimeout,
    }),
});
