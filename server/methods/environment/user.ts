import { resolve } from "node:path";
import { z } from "zod";
import { environment, param } from "../../core/declaration.ts";
import { OwnEnvironments } from "./ownEnvironment.ts";

/** Of both languages. */
export const ownParams = {
  timeout: param(z.number().positive().default(10), "Seconds that one call may take."),
  processes: param(
    z.number().int().min(1).max(256).default(8),
    "Most processes at once: each plays one episode, the others wait.",
  ),
};

/** Chosen by `play: PATH.ts[:export]` (also .mts, .js, .mjs). */
export const user = environment({
  name: "user",
  aliases: ["typescript", "javascript"],
  summary:
    "An environment in a TypeScript or JavaScript file of the workspace, run in processes of its own: a class or a factory of `{ reset(task, seed), step(text), state?, restore? }`.",
  formula: "reset(task, seed): text; step(text): text | { text, reward, done, actions, components }",
  sources: [],
  params: z.object({
    file: param(z.string().min(1), "The file, relative to the config that names it."),
    export: param(z.string().default("default"), "The name of the class, the factory or the object."),
    ...ownParams,
  }),
  create: ({ file, export: name, timeout, processes }, { folder }) =>
    new OwnEnvironments({ file: resolve(folder, file), export: name, folder, timeout }, processes),
});
