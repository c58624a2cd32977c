import { resolve } from "node:path";
import { z } from "zod";
import { param, tool } from "../../core/declaration.ts";
import { OwnTools } from "./ownTools.ts";
import { ownParams } from "./user.ts";

/** Chosen by `- PATH.py:function`. */
export const python = tool({
  name: "python",
  summary:
    "A tool in a Python file of the workspace, run in processes of its own: a function, plain or asynchronous, described by its docstring (Google style) and type hints, as TRL's `tools` are.",
  formula: "f(**arguments) -> str | JSON",
  sources: ["TRL GRPOTrainer tools"],
  params: z.object({
    file: param(z.string().min(1), "The Python file, relative to the config that names it."),
    export: param(z.string().default("tool"), "The function, whose name the policy calls."),
    ...ownParams,
    python: param(
      z.string().min(1).optional(),
      "The interpreter: a path relative to the config, a virtual environment's folder, or a command; default: VIRTUAL_ENV, `.venv`, uv, PATH.",
    ),
  }),
  create: ({ file, export: name, timeout, processes, python: interpreter }, { folder }) =>
    new OwnTools(
      { file: resolve(folder, file), export: name, folder, timeout, python: interpreter },
      processes,
    ),
});
