import { resolve } from "node:path";
import { z } from "zod";
import { rewardTerm, param } from "../../../core/declaration.ts";
import { PythonReward } from "./python/pythonReward.ts";

/** Seconds a call may take where the config does not say. */
const defaultTimeout = 2;

/** Chosen by `use: PATH.py[:function]`. */
export const python = rewardTerm({
  name: "python",
  summary:
    "A reward function in a Python file of the workspace, run in a process of its own. It may follow the conventions of verl, TRL, OpenRLHF, reasoning-gym or verifiers, or take what a TypeScript reward takes, as keywords.",
  formula: "r = compute_score(prompt, response, task, …): number | None | dict(score=…, components)",
  sources: ["verl custom_reward_function"],
  params: z.object({
    file: param(z.string().min(1), "The Python file, relative to the config that names it."),
    export: param(z.string().default("compute_score"), "The function's name."),
    args: param(z.record(z.string(), z.json()).optional(), "Arguments for every call."),
    timeout: param(z.number().positive().optional(), "Seconds for one rollout; default: reward.timeout."),
    python: param(
      z.string().min(1).optional(),
      "The interpreter: a path relative to the config, a virtual environment's folder, or a command; default: VIRTUAL_ENV, `.venv`, uv, PATH.",
    ),
    messages: param(
      z.boolean().optional(),
      "TRL functions: whether completions are lists of messages; default: as the task's data has its `prompt`. Functions of a verifiers rubric get messages unless this is false.",
    ),
  }),
  create: ({ file, export: name, args, timeout, python: interpreter, messages }, context) =>
    new PythonReward({
      file: resolve(context.folder, file),
      export: name,
      term: context.name ?? name,
      args: args ?? {},
      timeout: timeout ?? context.timeout ?? defaultTimeout,
      python: interpreter,
      folder: context.folder,
      messages,
    }),
});
