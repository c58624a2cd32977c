/** Whether a daemon that reads a run's log delays the run: step times of one run while the daemon sleeps and while it works, in blocks. `[--steps=200] [--block=20] [--prompts=64] [--tokens=20]`: the example's sizes; 32 and 12 make steps ten times as short */
import { writeFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { ask } from "../shared/daemon/request.ts";
import { logStart, readCommitted } from "../shared/log/reader.ts";
import { runsControl, runsShow, runsStart, subscribe } from "../shared/protocol/protocol.ts";
import { Sandbox } from "../test/rpc/daemon.ts";
import { measured, median, option } from "./report.ts";

/** Steps measured in each state. */
const steps = option("steps", 200);
const block = option("block", 20);
const prompts = option("prompts", 64);
const maxTokens = option("tokens", 20);

const config = `name: worker
model: { base: tiny, width: 128, layers: 4, heads: 4, hidden: 384, context: 64 }
tasks: [{ env: countdown, numbers: [3, 4] }]
rollout: { prompts: ${prompts}, group: 8, max_tokens: ${maxTokens} }
reward: { terms: { correct: { use: equation } } }
steps: 100000
evaluation: { every: 100000, prompts: 4, pass_at: [1] }
checkpoint: { every: 100000, every_seconds: 100000, keep: 1 }
`;

interface Step {
  /** Milliseconds since the epoch. */
  readonly begin: number;
  readonly end: number;
}

function stepsOf(folder: string): Step[] {
  const ends: number[] = [];
  for (let position = logStart; ;) {
    const read = readCommitted(folder, 0, position, 1 << 24);
    for (const { records } of read.steps)
      for (const record of records) if (record.kind === "metrics") ends.push(record.time);
    position = read.position;
    if (!read.more) break;
  }
  return ends.slice(1).map((end, index) => ({ begin: ends[index] ?? 0, end }));
}

/** A run's process is its own: a daemon that is stopped by a signal is, to it, none. */
const box = await Sandbox.make();
try {
  writeFileSync(box.file, config);
  const link = await box.link({ environment: { GRADUS_IDLE_MS: "0" } });
  const connection = link.connection();
  await ask(connection, subscribe, {});
  const { run, folder } = await ask(connection, runsStart, { file: box.file });
  const warm = 10;
  while (stepsOf(folder).length < warm) await wait(200);
  const length = median(stepsOf(folder).map(({ begin, end }) => end - begin));
  /** While it catches up, the store's step runs ahead of what the run can make in that time. */
  const caughtUp = async (): Promise<void> => {
    const look = 500;
    for (let before = -Infinity; ;) {
      const { step } = await ask(connection, runsShow, { run });
      if (step - before < (1.5 * look) / length) return;
      before = step;
      await wait(look);
    }
  };
  const blocks: { attached: boolean; from: number; to: number }[] = [];
  for (let index = 0; index < 2 * Math.ceil(steps / block); index++) {
    const attached = index % 2 === 0;
    process.kill(link.hello.pid, attached ? "SIGCONT" : "SIGSTOP");
    // What it slept through is read first: that is the last block's work, not this one's.
    if (attached) await caughtUp();
    const from = Date.now();
    await wait(length * (block + 1));
    blocks.push({ attached, from, to: Date.now() });
  }
  process.kill(link.hello.pid, "SIGCONT");
  await ask(connection, runsControl, { run, action: "stop", now: true });
  const all = stepsOf(folder);
  // A step over the edge of two blocks belongs to neither.
  const times = (wanted: boolean): number[] =>
    blocks
      .filter(({ attached }) => attached === wanted)
      .flatMap(({ from, to }) => all.filter(({ begin, end }) => begin >= from && end <= to))
      .map(({ begin, end }) => end - begin);
  const [with_, without] = [times(true), times(false)];
  const setting = `${with_.length} and ${without.length} steps in blocks of ${block}`;
  measured({ what: "step with the daemon, median", value: median(with_), unit: "ms", setting });
  measured({ what: "step without the daemon, median", value: median(without), unit: "ms", setting });
  measured({
    what: "delay by the daemon",
    value: (median(with_) / median(without) - 1) * 100,
    unit: "%",
    goal: 3,
    setting,
  });
} finally {
  await box.end();
}
