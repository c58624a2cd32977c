/** Importing what verl wrote: megabytes a second, the memory of a small and of a large import, and reading a step. `[--small=100] [--large=1000]` in MB */
import { fork } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { Store } from "../server/store/store.ts";
import { measured, median, option } from "./report.ts";
import { formScore, group, importWith, verlLine } from "./verlDump.ts";

const prompts = 128;
/** 5 KB a rollout, 5 MB a step. */
const words = "so the answer follows from what is given, ".repeat(118);
const megabyte = 1e6;

const config = `name: sums
tasks: [{ env: countdown, numbers: [3] }]
reward: { terms: { answer: { use: equation } } }
rollout: { prompts: ${prompts}, group: ${group} }
steps: 200
`;

/** A folder of verl's with so many MB of rollouts. */
function written(folder: string, megabytes: number): void {
  const rollouts = join(folder, "rollouts");
  mkdirSync(rollouts, { recursive: true });
  let bytes = 0;
  for (let step = 1; bytes < megabytes * megabyte; step++) {
    const file = openSync(join(rollouts, `${step}.jsonl`), "w");
    for (let row = 0; row < prompts * group; row++) {
      const score = (row * 7) % 3 === 0 ? 1 : formScore;
      bytes += writeSync(file, verlLine(words, { step, row, off: 0, score }));
    }
    closeSync(file);
  }
}

interface Imported {
  readonly run: string;
  readonly rate: number;
  readonly peak: number;
}

/** In a process of its own: its peak of memory is the import's. */
function imported(folder: string): Promise<Imported> {
  const child = fork(process.argv[1]!, [`--child=${folder}`], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  return new Promise((done, failed) => {
    child.once("message", (message) => done(message as Imported));
    child.once("exit", (code) => failed(new Error(`the import ended with ${code}`)));
  });
}

async function importHere(folder: string): Promise<void> {
  const file = join(folder, "sums.gradus.yaml");
  const began = performance.now();
  const { run, bytes } = await importWith(
    { store: join(folder, ".gradus"), from: folder },
    { file, text: config },
  );
  const seconds = (performance.now() - began) / 1000;
  const peak = (process.resourceUsage().maxRSS * 1024) / megabyte;
  process.send?.({ run, rate: bytes / megabyte / seconds, peak } satisfies Imported);
}

async function readSteps(folder: string, run: string): Promise<void> {
  const store = new Store(join(folder, ".gradus"), { anyThread: true });
  store.ingestAll(run);
  await store.ready();
  const steps = store.queries.rolloutSteps(run).slice(-12);
  const times = steps.toReversed().map((step) => {
    const began = performance.now();
    store.queries.rollouts({ run, step, tokens: false, limit: 256 });
    return performance.now() - began;
  });
  store.close();
  const setting = `${prompts * group} rollouts of 5 KB, their advantages, and a page of them`;
  measured({
    what: "a step, read when it is asked for",
    value: median(times.slice(1)),
    unit: "ms",
    goal: 200,
    setting,
  });
  measured({ what: "the first step, with its config", value: times[0]!, unit: "ms", goal: 1000, setting });
}

const child = process.argv.find((word) => word.startsWith("--child="))?.slice("--child=".length);
if (child !== undefined) await importHere(child);
else {
  const base = mkdtempSync(join(tmpdir(), "gradus-import-"));
  try {
    const peaks: number[] = [];
    for (const [name, size] of [
      ["small", option("small", 100)],
      ["large", option("large", 1000)],
    ] as const) {
      if (size === 0) continue;
      const folder = join(base, name);
      written(folder, size);
      writeFileSync(join(folder, "sums.gradus.yaml"), config);
      const { run, rate, peak } = await imported(folder);
      peaks.push(peak);
      measured({ what: `import, ${size} MB`, value: rate, unit: "MB/s", goal: 200, least: true });
      measured({ what: `peak memory, ${size} MB`, value: peak, unit: "MB" });
      if (name === "small") await readSteps(folder, run);
    }
    if (peaks.length === 2)
      measured({
        what: "memory that the large import adds",
        value: peaks[1]! - peaks[0]!,
        unit: "MB",
        goal: 20,
      });
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}
