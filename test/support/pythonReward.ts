/** Python rewards over rows of a batch: what their tests share. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { z } from "zod";
import type { JsonObject } from "../../shared/lib/json.ts";
import type { RewardContext, RewardTerm } from "../../server/core/reward.ts";
import type { Batch } from "../../server/core/rollouts.ts";
import type { TermValue } from "../../server/core/slots/reward.ts";
import { python } from "../../server/methods/reward/own/python.ts";
import { batchOf, made, temporary } from "../unit/support.ts";

/** No build is needed: daemons and workers that a test starts find it by this, too. */
process.env["GRADUS_PYTHON_HOST"] = resolve("server/methods/reward/own/python/rewardHost.py");

/** The interpreter itself: what stands for it on PATH may be a script that looks for one. */
const found = spawnSync(
  "python3",
  ["-c", "import sys; assert sys.version_info >= (3, 8); print(sys.executable)"],
  {
    encoding: "utf8",
  },
);
const interpreter = found.status === 0 ? found.stdout.trim() : undefined;

/** Why nothing of Python can be tested here; false where it can. */
export const withoutPython: string | false =
  interpreter !== undefined ? false : "there is no python3 of 3.8 or later";

export const scoring = (step = 12): RewardContext => ({
  clock: { step, stageStep: 0 },
  models: { names: [], get: () => assert.fail(), perceptron: () => assert.fail() },
  tokenizer: { size: 0, eos: 0, pad: 0, encode: () => assert.fail(), decode: () => assert.fail() },
});

/** Responses to one task. */
export const responses = (
  texts: readonly string[],
  data: JsonObject = { target: 5, answer: "42" },
  prompt = "p",
): Batch =>
  batchOf(
    texts.map((response, index) => ({
      step: 12,
      group: "g",
      index,
      prompt,
      response,
      tokens: [index, 7],
      task: { env: "countdown", id: "t", data },
    })),
  );

/** A config whose reward is the file `mine.py` next to it. */
export const pythonRunText = `model: { base: tiny, width: 32, layers: 1, heads: 2, hidden: 64, context: 48 }
tasks: [{ env: reverse_text, lengths: [2] }]
curriculum: { admission: none }
rollout: { prompts: 2, group: 4, max_tokens: 6 }
reward: { terms: { mine: { use: ./mine.py } } }
advantage: { baseline: leave_one_out, scale: none }
update: { optimizer: { use: adamw, lr: 1.0e-3 } }
stages: [{ name: only, steps: 3 }]
checkpoint: { every: 100 }
seed: 1
`;

export interface PythonTerm extends RewardTerm {
  readonly file: string;
  readonly folder: string;
}

/** A term whose file has this text. */
export function pythonTerm(
  text: string,
  params: Partial<z.input<typeof python.params>> = {},
  folder = temporary(),
): PythonTerm {
  const file = join(folder, "reward.py");
  writeFileSync(file, text);
  const term = made(
    python,
    { file: "./reward.py", timeout: 20, python: interpreter, ...params },
    { folder, name: "own" },
  );
  return Object.assign(term, { file, folder });
}

export async function using<T>(term: PythonTerm, run: (term: PythonTerm) => Promise<T>): Promise<T> {
  try {
    return await run(term);
  } finally {
    await term.close?.();
  }
}

/** A value as a number, an error as its message without the file's path, else its kind. */
export const inShort = (value: TermValue | undefined): number | string =>
  value?.kind === "value"
    ? value.value
    : value?.kind === "error"
      ? value.message.replace(/^.*?\.py:[\w.]+: /, "")
      : (value?.kind ?? "nothing");

/** What a file's function says of some responses. */
export const told = (
  text: string,
  texts: readonly string[],
  params: Partial<z.input<typeof python.params>> = {},
  data?: JsonObject,
): Promise<(number | string)[]> =>
  using(pythonTerm(text, params), async (term) =>
    (await term.score(responses(texts, data), scoring())).map(inShort),
  );
