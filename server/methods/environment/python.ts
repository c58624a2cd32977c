import { resolve } from "node:path";
import { z } from "zod";
import { environment, param } from "../../core/declaration.ts";
import { OwnEnvironments } from "./ownEnvironment.ts";
import { ownParams } from "./user.ts";

/** Chosen by `play: PATH.py[:Class]`. */
export const python = environment({
  name: "python",
  summary:
    "An environment in a Python file of the workspace, run in processes of its own: a class with `reset(task, seed)` and `step(text)`, or one of TRL's form, whose public methods are tools and whose `get_reward` is asked at the end.",
  formula: "reset(task, seed), step(text) -> str | dict; or reset(**row), get_reward() -> float",
  sources: ["TRL GRPOTrainer environment_factory"],
  params: z.object({
    file: param(z.string().min(1), "The Python file, relative to the config that names it."),
    export: param(
      z.string().default("Environment"),
      "The name of the class, or of a function that makes one.",
    ),
    ...ownParams,
    python: param(
      z.string().min(1).optional(),
      "The interpreter: a path relative to the config, a virtual environment's folder, or a command; default: VIRTUAL_ENV, `.venv`, uv, PATH.",
    ),
  }),
  create: ({ file, export: name, timeout, processes, python: interpreter }, { folder }) =>
    new OwnEnvironments(
      { file: resolve(folder, file), export: name, folder, timeout, python: interpreter },
      processes,
    ),
});
