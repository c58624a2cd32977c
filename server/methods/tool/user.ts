import { resolve } from "node:path";
import { z } from "zod";
import { param, tool } from "../../core/declaration.ts";
import { OwnTools } from "./ownTools.ts";

/** Of both languages. */
export const ownParams = {
  timeout: param(
    z.number().positive().default(10),
    "Seconds that one call may take; more is an error of the rollout.",
  ),
  processes: param(
    z.number().int().min(1).max(64).default(4),
    "Processes that answer at once. The calls of an episode go to one of them.",
  ),
};

/** Chosen by `- PATH.ts[:export]` (also .mts, .js, .mjs). */
export const user = tool({
  name: "user",
  aliases: ["typescript", "javascript"],
  summary:
    "A tool in a TypeScript or JavaScript file of the workspace, run in processes of its own: `{ description, parameters, call(args, { episode, task }) }`, with the JSON Schema of its arguments.",
  formula: "call(args, { episode, task }): string | JSON",
  sources: [],
  params: z.object({
    file: param(z.string().min(1), "The file, relative to the config that names it."),
    export: param(
      z.string().default("default"),
      "The tool's export, whose name the policy calls; of the default export that is the file's.",
    ),
    ...ownParams,
  }),
  create: ({ file, export: name, timeout, processes }, { folder }) =>
    new OwnTools({ file: resolve(folder, file), export: name, folder, timeout }, processes),
});
