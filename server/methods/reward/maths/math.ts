import { spawn } from "node:child_process";
import { once } from "node:events";
import { join, parse } from "node:path";
import { z } from "zod";
import { UserError } from "../../../../shared/lib/errors.ts";
import { rewardTerm, param, type MethodContext } from "../../../core/declaration.ts";
import type { Batch, RolloutRecord } from "../../../core/rollouts.ts";
import type { Prepared, RewardContext, RewardTerm } from "../../../core/reward.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import { finalAnswer } from "../../../lib/maths/answer.ts";
import { mathsEngine } from "../../../lib/maths/mathsEngine.ts";
import { interpreterFor } from "../../../lib/own/interpreter.ts";
import { hostFile } from "../../../lib/own/ownProcess.ts";
import { PythonReward } from "../own/python/pythonReward.ts";
import { failure, value } from "../perRow.ts";

const params = z.object({
  by: param(
    z.enum(["auto", "math_verify", "compute_engine"]).default("auto"),
    "What decides: the package math-verify in a Python of yours, or the engine that comes with Gradus; auto: math-verify where the Python has it.",
  ),
  python: param(
    z.string().min(1).optional(),
    "The interpreter with math-verify: a path relative to the config, a virtual environment's folder, or a command; default: VIRTUAL_ENV, `.venv`, uv, PATH.",
  ),
  timeout: param(
    z.number().positive().default(5),
    "Seconds for one answer; more is an error of the rollout.",
  ),
});
type Params = z.output<typeof params>;

/** The Python that would run a file of the config's folder; undefined: none, or it has no math-verify. */
export async function pythonWithMathVerify(
  { python }: Pick<Params, "python">,
  folder: string,
): Promise<string | undefined> {
  let path: string;
  try {
    ({ path } = interpreterFor({ named: python, folder, file: join(folder, "mathVerify.py") }));
  } catch (error) {
    const absent = error instanceof UserError && error.detail.code !== "untrusted";
    if (absent && python === undefined) return undefined;
    throw error;
  }
  const child = spawn(path, ["-c", "import sys; sys.path[:] = filter(None, sys.path); import math_verify"], {
    stdio: "ignore",
    windowsHide: true,
    timeout: 60_000,
    // A `math_verify.py` of the current folder is not the package. (`-I` would hide those of the user, too.)
    cwd: parse(path).root,
  });
  const [code] = (await once(child, "exit").catch(() => [1])) as [number | null];
  return code === 0 ? path : undefined;
}

const mathVerify = (path: string, { timeout }: Params, { folder, name }: MethodContext): PythonReward =>
  new PythonReward({
    file: hostFile("mathVerify.py", process.env["GRADUS_MATH_VERIFY"]),
    export: "compute_score",
    term: name ?? "math",
    args: {},
    timeout,
    python: path,
    folder,
    messages: undefined,
  });

async function judged(
  engine: ReturnType<typeof mathsEngine>,
  { task, response }: RolloutRecord,
  seconds: number,
  signal: AbortSignal | undefined,
): Promise<TermValue> {
  if (task.answer === undefined)
    return failure(`math needs an answer, and task ${task.id} has none: set \`answer\` on its dataset`);
  const answer = finalAnswer(response);
  if (answer === undefined) return value(0);
  const gold = finalAnswer(task.answer) ?? task.answer;
  const isWritten = /\\boxed|####|\$/.test(task.answer);
  const done = await engine.run({ gold: isWritten ? gold : task.answer, answer, seconds }, { signal });
  return done.kind === "same"
    ? value(done.same ? 1 : 0)
    : failure(`the answer cannot be compared: ${done.message}`);
}

function byComputeEngine({ timeout }: Params): RewardTerm {
  const engine = mathsEngine();
  return {
    score: (batch: Batch, { signal }: RewardContext) =>
      Promise.all(batch.records.map((record) => judged(engine, record, timeout, signal))),
    close: () => engine.close(),
  };
}

async function chosen(options: Params, context: MethodContext): Promise<RewardTerm> {
  if (options.by === "compute_engine") return byComputeEngine(options);
  const path = await pythonWithMathVerify(options, context.folder);
  if (path !== undefined) return mathVerify(path, options, context);
  if (options.by === "auto") return byComputeEngine(options);
  throw new UserError("`by: math_verify` needs a Python with the package math-verify, and none was found.", {
    file: context.folder,
    code: "no-math-verify",
    action:
      'Install it: pip install "math-verify[antlr4_13_2]". Or name the interpreter with `python:`, or write `by: compute_engine`.',
  });
}

export const math = rewardTerm({
  name: "math",
  aliases: ["math_verify", "math_reward", "accuracy_reward"],
  summary:
    "1 where the response's final answer is mathematically the task's: fractions and decimals, sets, intervals, equations, matrices and expressions in other forms. Decided by math-verify, as TRL and verl do, or without any Python by an engine that comes along.",
  formula: "r = 1[answer ≡ gold]",
  sources: ["TRL", "verl"],
  judges: "answer",
  range: () => [0, 1],
  computes: ({ by }) => by === "compute_engine",
  params,
  create: (options, context): RewardTerm => {
    let made: Promise<RewardTerm> | undefined;
    const own = (): Promise<RewardTerm> => (made ??= chosen(options, context));
    return {
      score: async (batch, scoring) => (await own()).score(batch, scoring),
      prepare: async (): Promise<Prepared> => (await (await own()).prepare?.()) ?? {},
      async close() {
        await (await made?.catch(() => undefined))?.close?.();
        made = undefined;
      },
    };
  },
});
