/** Programs of models in the sandbox: how many a second, and how long after one that had to be ended. `[--programs=200]` */
import { performance } from "node:perf_hooks";
import { openSandbox, sandboxProcesses } from "../server/lib/sandbox/openSandbox.ts";
import type { SandboxLanguage, SandboxProgram } from "../server/lib/sandbox/sandbox.ts";
import { builtSandboxProcess } from "../test/support/sandboxProcess.ts";
import { measured, median, option } from "./report.ts";

const programs = option("programs", 200);
const restarts = option("restarts", 8);

/** The kind of program that tasks of contests ask for: it reads, sorts, counts and prints. */
const python = `
import sys
from collections import Counter, defaultdict
import heapq
def main():
    data = sys.stdin.read().split()
    n, numbers = int(data[0]), list(map(int, data[1:]))
    best = [0] * (n + 1)
    for i in range(1, n + 1):
        best[i] = max(best[i - 1], numbers[i - 1] + (best[i - 2] if i > 1 else 0))
    heap = numbers[:]
    heapq.heapify(heap)
    print(best[n], [heapq.heappop(heap) for _ in range(3)], Counter(numbers).most_common(1))
main()
`;
const javascript = `
const data = require("fs").readFileSync(0, "utf8").split(/\\s+/).map(Number);
const [n, ...numbers] = data;
const best = [0];
for (let i = 1; i <= n; i++) best[i] = Math.max(best[i - 1], numbers[i - 1] + (i > 1 ? best[i - 2] : 0));
console.log(best[n], [...numbers].sort((a, b) => a - b).slice(0, 3), new Map(numbers.map((x) => [x, 1])).size);
`;
const stdin = `1000\n${Array.from({ length: 1000 }, (_, i) => (i * 7919) % 1009).join(" ")}\n`;

const remove = await builtSandboxProcess();
const sandbox = openSandbox();
const program = (language: SandboxLanguage, more: Partial<SandboxProgram> = {}): SandboxProgram => ({
  language,
  code: language === "python" ? python : javascript,
  stdin,
  seconds: 5,
  memory: 256,
  ...more,
});

async function seconds(count: number, made: SandboxProgram): Promise<number> {
  const at = performance.now();
  const results = await Promise.all(Array.from({ length: count }, () => sandbox.run(made)));
  const failed = results.find(({ failure }) => failure !== undefined)?.failure;
  if (failed !== undefined) throw new Error(`a program failed: ${failed.message}`);
  return (performance.now() - at) / 1000;
}

for (const language of ["python", "javascript"] as const) {
  const first = await seconds(1, program(language));
  measured({ what: `first program (${language})`, value: first, unit: "s" });
  await seconds(20, program(language));
  measured({
    what: `programs a second, warm (${language})`,
    value: programs / (await seconds(programs, program(language))),
    unit: "programs/s",
    goal: 100,
    least: true,
    setting: `${programs} programs, each in a clean state, all at once`,
  });
}

/** What the next program waits beside its own time, after one that nothing but the end of its process ends. */
async function afterwards(what: string, code: string, limit: number): Promise<void> {
  const waits: number[] = [];
  for (let k = 0; k < restarts; k++) {
    // In every process, so that no other has one free.
    const made = program("python", { code, seconds: limit });
    const ends = await Promise.all(Array.from({ length: sandboxProcesses }, () => sandbox.run(made)));
    if (ends.some(({ failure }) => failure === undefined)) throw new Error(`${what} came to its end`);
    waits.push(await seconds(1, program("python")));
  }
  measured({
    what: `next program after ${what}`,
    value: median(waits),
    unit: "s",
    setting: `median of ${restarts}; each of ${sandboxProcesses} processes had one`,
  });
}
await afterwards("a loop that hears the interpreter", "while True: pass", 0.2);
const deaf = "while True:\n  try:\n    while True: pass\n  except BaseException: pass";
await afterwards("a loop that hears nothing (its process is begun again)", deaf, 0.2);
await afterwards("a memory bomb", "x = []\nwhile True: x.append(bytearray(1 << 20))", 5);
await afterwards("a flood", "while True: print('x' * 10000)", 5);
await sandbox.close();
remove();
