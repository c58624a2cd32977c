/** What rollouts reach of a reward's own files, in Python and TypeScript, by real processes. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { CoverageMeasure } from "../../../../server/analysis/rewardChecks/covered/measure.ts";
import { CoverageTally } from "../../../../server/analysis/rewardChecks/covered/tally.ts";
import type { RunConfig } from "../../../../server/core/config/runConfig.ts";
import { loadConfig } from "../../../../server/rules/load.ts";
import type { FileCoverage } from "../../../../shared/rollouts/coverage.ts";
import { exitNever } from "../../../../shared/rollouts/coverageText.ts";
import { responses, withoutPython } from "../../../support/pythonReward.ts";
import { rewardHost } from "../../../support/rewardHost.ts";
import { temporary } from "../../support.ts";

/** A config whose only term is a function of these files; the first is the one that `use` names. */
function configWith(files: Readonly<Record<string, string>>, name = ""): RunConfig {
  const folder = temporary();
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  return loaded(folder, `{ use: ./${Object.keys(files)[0]}${name} }`);
}

function loaded(folder: string, term: string): RunConfig {
  const file = join(folder, "c.gradus.yaml");
  writeFileSync(file, `tasks: [{ env: countdown }]\nreward: { terms: { own: ${term} } }\n`);
  const { config, diagnostics } = loadConfig(file);
  assert.ok(config, diagnostics.map(({ message }) => message).join("\n"));
  return config;
}

async function measured(
  config: RunConfig,
  ...steps: readonly (readonly string[])[]
): Promise<readonly FileCoverage[]> {
  const measure = new CoverageMeasure(config, {});
  try {
    for (const [step, texts] of steps.entries()) await measure.add(step, () => responses(texts));
    return measure.files;
  } finally {
    await measure.close();
  }
}

const named = (files: readonly FileCoverage[], name: string): FileCoverage => {
  const found = files.find(({ file }) => file.endsWith(name));
  assert.ok(found, `${name} is not among ${files.map(({ file }) => file).join(", ")}`);
  return found;
};
/** Lines from 1, each with how many reached it. */
const linesOf = ({ lines }: FileCoverage): Record<number, number> =>
  Object.fromEntries(lines.map(({ line, rollouts }) => [line + 1, rollouts]));
const branchesOf = ({ branches }: FileCoverage): Record<string, number> =>
  Object.fromEntries(
    branches.map(({ line, kind, exit, rollouts }) => [`${line + 1} ${kind} ${exit}`, rollouts]),
  );

const python = {
  "mine.py": `"""A reward."""
from helper import norm

def table():
    return {"a": 1.0}

TABLE = table()

def compute_score(solution_str, ground_truth):
    """Its own text."""
    if not solution_str:
        return 0.1
    for c in solution_str:
        if c == "z":
            break
    while solution_str == "never":
        solution_str = ""
    return 1.0 if norm(solution_str) == "a" else 0.0

def unused():
    return 2.0
`,
  "helper.py": `def norm(text):
    if text is None:
        return ""
    return text.strip()
`,
};

/** As verifiers has it: a method of a task class, of a trace. */
const traced = {
  "tasks.py": `class Data:
    def __init__(self, **row): self.__dict__.update(row)
class Sums:
    def __init__(self, data): self.data = data
    @classmethod
    def data_type(cls): return Data
    async def correct(self, trace):
        if trace.last_reply == self.data.answer:
            return 1.0
        return 0.0
`,
};

const script = {
  "mine.ts": `import { norm } from "./helper.ts";
interface Input { readonly response: string }
const table = make();
function make(): number[] { return [1]; }

/** A reward. */
export function score({ response }: Input): number {
  if (response === "") return 0.1;
  for (const c of response) {
    if (c === "z")
      break;
  }
  while (response === "never")
    response = "";
  switch (response) {
    case "k":
      return 7;
    default:
  }
  return norm(response) === "a" ? 1 : 0;
}
export const unused = (): number => 2;
`,
  "helper.ts": `export const norm = (text: string | null): string => {
  if (text === null) return "";
  else
    return text.trim();
};
`,
};

describe("coverage of a Python reward", { skip: withoutPython }, () => {
  test("counts the rollouts that reach each line and exit, over the steps, in all of the user's files", async () => {
    const files = await measured(configWith(python), ["", "b", "z"], [" a "]);
    const own = named(files, "mine.py");
    assert.equal(own.rollouts, 4);
    // Lines that only loading runs (5, 7) are none that a rollout could reach.
    assert.deepEqual(linesOf(own), { 11: 4, 12: 1, 13: 3, 14: 3, 15: 1, 16: 3, 17: 0, 18: 3, 21: 0 });
    assert.deepEqual(branchesOf(own), {
      "11 if then": 1,
      "11 if else": 3,
      "13 for body": 3,
      "13 for end": 2,
      "14 if then": 1,
      "14 if else": 2,
      "16 while body": 0,
      "16 while end": 3,
      "18 conditional then": 1,
      "18 conditional else": 2,
    });
    assert.deepEqual(linesOf(named(files, "helper.py")), { 2: 3, 3: 0, 4: 3 });
  });

  test("counts each rollout of one call for all, of asynchronous functions, and of those that throw", async () => {
    const batched = `def reward(completions, **kwargs):
    found = []
    for text in completions:
        if "e" in text:
            raise ValueError(text)
        found.append(1.0 if text == "a" else 0.0)
    return found
`;
    const trl = await measured(configWith({ "trl.py": batched }, ":reward"), ["a", "e", "b"]);
    assert.deepEqual(linesOf(named(trl, "trl.py")), { 2: 3, 3: 3, 4: 3, 5: 1, 6: 2, 7: 2 });
    const asynchronous = `import asyncio
async def compute_score(solution_str, ground_truth):
    await asyncio.sleep(0)
    if solution_str == "a":
        return 1.0
    return 0.0
`;
    const waited = await measured(configWith({ "own.py": asynchronous }), ["a", "b", "c"]);
    assert.deepEqual(linesOf(named(waited, "own.py")), { 3: 3, 4: 3, 5: 1, 6: 2 });
  });

  test("reads only what the function needs of a training script, and leaves values as they are", async () => {
    const text = `import trl_that_is_absent
def helper():
    return 1
def compute_score(solution_str, ground_truth):
    return {"score": 1.0, "parts": sum(1 if c == "a" else 0 for c in solution_str)}
`;
    const [file] = await measured(configWith({ "train.py": text }), ["aa"]);
    assert.deepEqual(linesOf(file!), { 5: 1 });
    assert.deepEqual(branchesOf(file!), { "5 conditional then": 1, "5 conditional else": 0 });
  });
});

describe("coverage of a TypeScript reward", () => {
  test("counts the rollouts that reach each line and exit, in all of the user's files", async () => {
    await rewardHost();
    const files = await measured(configWith(script), ["", "b", "z"], [" a "]);
    const own = named(files, "mine.ts");
    assert.equal(own.rollouts, 4);
    assert.deepEqual(linesOf(own), {
      8: 4, 9: 3, 10: 3, 11: 1, 13: 3, 14: 0, 15: 3, 17: 0, 20: 3, 22: 0,
    }); // oxfmt-ignore
    assert.deepEqual(branchesOf(own), {
      "8 if then": 1,
      "8 if else": 3,
      "9 for body": 3,
      "10 if then": 1,
      "10 if else": 2,
      "13 while body": 0,
      "13 while end": 3,
      "20 conditional then": 1,
      "20 conditional else": 2,
    });
    assert.deepEqual(linesOf(named(files, "helper.ts")), { 2: 3, 4: 3 });
  });
});

test("a config without a function of one's own has nothing to cover", async () => {
  await assert.rejects(measured(loaded(temporary(), "equation"), ["1"]), /no reward term is a function/);
});

test("counts add up over a term's answers; of two terms that share a file the larger count holds", () => {
  const tally = new CoverageTally();
  const reached = (rollouts: number, line: number) => ({
    rollouts,
    files: [{ file: "/r.py", lines: [{ line, rollouts }], branches: [] }],
    returned: undefined,
  });
  for (const count of [2, 3]) tally.add("one", reached(count, 4));
  tally.add("two", reached(4, 4));
  tally.add("two", reached(4, 1));
  assert.deepEqual(tally.files, [
    {
      file: "/r.py",
      rollouts: 8,
      lines: [
        { line: 1, rollouts: 4 },
        { line: 4, rollouts: 5 },
      ],
      branches: [],
    },
  ]);
});

test("an exit that none took is named by what it means", () => {
  const branch = { line: 0, character: 0, rollouts: 0 };
  assert.deepEqual(
    [
      exitNever({ ...branch, kind: "if", exit: "then" }),
      exitNever({ ...branch, kind: "conditional", exit: "then" }),
      exitNever({ ...branch, kind: "if", exit: "else" }),
      exitNever({ ...branch, kind: "for", exit: "body" }),
      exitNever({ ...branch, kind: "while", exit: "end" }),
    ],
    [
      "`if` never true",
      "the condition never true",
      "`else` never taken",
      "`for` never entered",
      "`while` never left at its end",
    ],
  );
});

test("a method of a task class is covered as a function is", { skip: withoutPython }, async () => {
  const config = configWith(traced, ":Sums.correct");
  const lines = linesOf(named(await measured(config, ["42", "41", "40"]), "tasks.py"));
  assert.deepEqual([lines[8], lines[9], lines[10]], [3, 1, 2]);
});
