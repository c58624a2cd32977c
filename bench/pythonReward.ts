/** Python rewards: calls a second in a batch, a batch of one, and a stored run through a regular expression, ours and called in Python alone. `[--rollouts=100000]` */
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import type { Batch } from "../server/core/rollouts.ts";
import {
  pythonTerm,
  responses,
  scoring,
  withoutPython,
  type PythonTerm,
} from "../test/support/pythonReward.ts";
import { measured, median, option, skipped } from "./report.ts";

const rollouts = option("rollouts", 100_000);
const [perBatch, rounds] = [1_024, 5];

/** As verl's gsm8k does: the last number after `####`. */
const source = `import re

FINAL = re.compile(r"#### (\\-?[0-9\\.\\,]+)")

def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    found = FINAL.findall(solution_str[-300:])
    return 1.0 if found and found[-1].replace(",", "") == ground_truth else 0.0
`;
const textOf = (row: number): string =>
  `${"so the answer follows from that, ".repeat(15)}${row}\n#### ${row % 60}`;
const batchOf = (rows: number): Batch => responses(Array.from({ length: rows }, (_, row) => textOf(row)));

async function seconds(act: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await act();
  return (performance.now() - began) / 1000;
}

async function times(act: () => Promise<unknown>, count = rounds): Promise<number> {
  const found: number[] = [];
  for (let round = 0; round < count; round++) found.push(await seconds(act));
  return median(found);
}

/** The same function over the same texts, called by a loop in Python: what there is to gain. */
function alone(python: string): number {
  const program = `${source}
import time
texts = [("so the answer follows from that, " * 15) + "%d\\n#### %d" % (row, row % 60) for row in range(${perBatch})]
times = []
for _ in range(${rounds}):
    began = time.perf_counter()
    for text in texts: compute_score("d", text, "42", {})
    times.append(time.perf_counter() - began)
print(sorted(times)[len(times) // 2])
`;
  return Number(spawnSync(python, ["-c", program], { encoding: "utf8" }).stdout);
}

async function measure(term: PythonTerm): Promise<void> {
  const [large, one] = [batchOf(perBatch), batchOf(1)];
  await term.score(large, scoring());
  const batched = await times(() => term.score(large, scoring()));
  const setting = `${perBatch} responses of 500 characters, median of ${rounds}, warm`;
  measured({
    what: "Python reward, calls a second",
    value: perBatch / batched,
    unit: "",
    goal: 20_000,
    least: true,
    setting,
  });
  measured({
    what: "Python reward, our time over a loop in Python",
    value: batched / alone("python3"),
    unit: "×",
    setting,
  });
  const single = await times(() => term.score(one, scoring()), 50);
  measured({
    what: "Python reward, a batch of one",
    value: single * 1000,
    unit: "ms",
    goal: 3,
    setting: "median of 50, warm",
  });
  const batches = Array.from({ length: Math.ceil(rollouts / perBatch) }, () => large);
  const whole = await seconds(async () => {
    for (const batch of batches) await term.score(batch, scoring());
  });
  measured({
    what: "Python reward with a regular expression over stored rollouts",
    value: whole,
    unit: "s",
    goal: 2,
    setting: `${batches.length * perBatch} rollouts`,
  });
}

if (withoutPython !== false) skipped("Python rewards", withoutPython);
else {
  const term = pythonTerm(source);
  try {
    await measure(term);
  } finally {
    await term.close?.();
    rmSync(term.folder, { recursive: true });
  }
}
