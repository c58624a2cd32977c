/** Writes what `gradus_hook.py` writes, step after step, as a process of its own: `node hookWriter.mjs FOLDER`, until its stdin says `end`. */
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [, , folder = ""] = process.argv;
mkdirSync(folder, { recursive: true });
const began = Date.now();
const rollouts = join(folder, `rollouts-box-${process.pid}-${began}.jsonl`);
const metrics = join(folder, `metrics-box-${began}.jsonl`);
const training = join(folder, "training.json");
const started = began / 1000;
writeFileSync(training, JSON.stringify({ started, arguments: { max_steps: 100_000 } }));

let step = 0;
let asked = false;
process.stdin.on("data", () => (asked = true));

function write(): void {
  step++;
  const now = (): number => Math.round(Date.now()) / 1000;
  for (let index = 0; index < 4; index++) {
    const line = {
      ...{ step, time: now(), group: `g${step % 7}`, index, call: step, ms: 1, batch: 4 },
      ...{ prompt: `what is ${step} + ${index}?`, response: `ü ${step + index} `.repeat(20) },
      rewards: { right: (step + index) % 3 === 0 ? 1 : 0 },
    };
    const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
    // A buffer that is full is written where it ends.
    appendFileSync(rollouts, bytes.subarray(0, 101));
    appendFileSync(rollouts, bytes.subarray(101));
  }
  const line = { step, time: now(), data: { reward: (step % 10) / 10, loss: 1 / step } };
  appendFileSync(metrics, `${JSON.stringify(line)}\n`);
  if (!asked) return void setTimeout(write, 10);
  writeFileSync(training, JSON.stringify({ started, ended: now(), arguments: { max_steps: step } }));
  process.stdout.write(`${step}\n`);
  process.exit(0);
}
write();
