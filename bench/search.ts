/** Searching answers: making the index, and questions to a warm one. `[--rollouts=1000000]` */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { runFolder } from "../server/store/files.ts";
import { Store } from "../server/store/store.ts";
import { openAttempt } from "../shared/log/writer.ts";
import { measured, median, option } from "./report.ts";

const rollouts = option("rollouts", 1_000_000);
const perStep = 512;
const words = Array.from({ length: 20_000 }, (_, at) => `w${((at * 2_654_435_761) >>> 0).toString(36)}`);
const questions = [
  ["a rare word", "needle"],
  ["two common words", `${words[1]} ${words[2]}`],
  ["a phrase", `"${words[3]} ${words[4]}"`],
  ["a beginning", `${words[5]!.slice(0, 4)}*`],
] as const;

/** Words as often as in a language: the k-th with probability 1/k. */
function answer(index: number): string {
  let state = index * 7_919 + 17;
  const next = (): number => (state = (state * 1_103_515_245 + 12_345) & 0x7fffffff) / 0x7fffffff;
  const text = Array.from({ length: 60 }, () => words[Math.floor(words.length ** next()) - 1]).join(" ");
  return index % 100_000 === 99 ? `${text} needle` : text;
}

const folder = mkdtempSync(join(tmpdir(), "gradus-bench-search-"));
const store = new Store(folder, { anyThread: true });
try {
  const run = "bench-search";
  const log = openAttempt(runFolder(folder, run), 0);
  for (let index = 0; index < rollouts; index++) {
    const step = Math.floor(index / perStep);
    const row = {
      step,
      group: String(index % 64),
      index: index % 8,
      prompt: `task ${index % 64}`,
      response: answer(index),
      reward: index % 2,
    };
    log.append({ kind: "rollout", step, index: index % perStep, row, columns: {} });
    if ((index + 1) % perStep === 0 || index === rollouts - 1) log.commit(step);
  }
  log.close();
  store.ingestAll(run);
  while (store.ingest.rollouts.next(run));
  const began = performance.now();
  store.texts.make();
  let longest = 0;
  for (let more = true, before = performance.now(); more; before = performance.now()) {
    more = store.texts.next();
    longest = Math.max(longest, performance.now() - before);
  }
  measured({
    what: "search: rollouts indexed",
    value: rollouts / ((performance.now() - began) / 1000),
    unit: "rollouts/s",
  });
  measured({ what: "search: the longest slice of it", value: longest, unit: "ms" });
  for (const [name, text] of questions) {
    const times = Array.from({ length: 5 }, () => {
      const start = performance.now();
      const slices = store.searches.search({ text, limit: 50 });
      while (slices.next().done !== true);
      return performance.now() - start;
    });
    measured({ what: `search: ${name} among ${rollouts}`, value: median(times), unit: "ms", goal: 1_000 });
  }
} finally {
  store.close();
  rmSync(folder, { recursive: true, force: true });
}
