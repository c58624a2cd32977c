/** Tokens a second of training and decoding: `npm run bench -- engine [width,layers,heads,hidden] [length,rows] [lanes]`. */
import { adamwChoice } from "../server/methods/optimizer/adamw.ts";
import { openLanguageModel } from "../server/engine/index.ts";
import { Stream } from "../server/engine/random.ts";
import { evenBatch, likelier } from "./batch.ts";
import { measured } from "./report.ts";

const numbers = (index: number, otherwise: string): number[] =>
  (process.argv[index] ?? otherwise).split(",").map(Number);
const [width = 128, layers = 4, heads = 4, hidden = 384] = numbers(2, "128,4,4,384");
const [length = 64, rows = 64] = numbers(3, "64,64");
const [lanes = 256] = numbers(4, "256");
const rounds = Number(process.env["ROUNDS"] ?? 8);

const policy = await openLanguageModel({
  model: {
    base: "tiny",
    size: { width, layers, heads, kv_heads: heads, hidden, context: 2 * length, tied: true },
  },
  optimizer: adamwChoice({ lr: 1e-3 }),
  backend: process.env["BACKEND"] === "wasm" ? "wasm" : "native",
  seed: 1,
  micro_tokens: process.env["MICRO"] === undefined ? undefined : Number(process.env["MICRO"]),
  kept_bytes: process.env["KEPT"] === undefined ? undefined : Number(process.env["KEPT"]),
});
const random = new Stream("bench");
const count = rows * length;
const tokens = Int32Array.from({ length: count }, () => 3 + Math.floor(random.next() * 96));
const batch = evenBatch(rows, new Int32Array(rows).fill(1), tokens, {
  logp_old: new Float64Array(count).fill(-4),
  entropy: new Float64Array(count),
});
const weigh = likelier(count);
/** Wall clock, and processor time of all threads: the one to compare while others use the machine. */
const processor = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
const least = (values: readonly number[]): string => `${Math.min(...values).toFixed(0)} ms of processor time`;
const milliseconds = (values: readonly number[]): string =>
  `min ${Math.min(...values).toFixed(1)} ms (${values.map((value) => value.toFixed(0)).join(" ")})`;

for (const fresh of [true, false]) {
  const times: number[] = [];
  const work: number[] = [];
  let mode = "";
  for (let round = 0; round < rounds + 2; round++) {
    const start = performance.now();
    const before = processor();
    ({ mode } = await policy.update(batch, { channels: ["logp"], unit: "sequence", fresh }, weigh));
    if (round > 1) times.push(performance.now() - start);
    if (round > 1) work.push(processor() - before);
  }
  measured({
    what: `update, ${mode}`,
    value: count / Math.min(...times),
    unit: "k tokens/s",
    setting: `${rows} × ${length} tokens, width ${width}, ${layers} layers, best of ${rounds}`,
  });
  console.log(
    `update, ${mode}: ${milliseconds(times)}, ${(count / Math.min(...times)).toFixed(2)} k tokens/s, ${least(work)}`,
  );
}
const times: number[] = [];
const work: number[] = [];
for (let round = 0; round < rounds; round++) {
  await policy.score(batch, { model: "policy", channels: ["logp"] });
  const start = performance.now();
  const before = processor();
  await policy.score(batch, { model: "policy", channels: ["logp"] });
  times.push(performance.now() - start);
  work.push(processor() - before);
}
console.log(`score: ${milliseconds(times)}, ${least(work)}`);
const prompts = Array.from({ length: lanes }, (_, index) => ({ tokens: Int32Array.of(1), key: [index] }));
const speeds: number[] = [];
const durations: number[] = [];
const decoding: number[] = [];
for (let round = 0; round < 5; round++) {
  let written = 0;
  const before = processor();
  const start = performance.now();
  for await (const sample of policy.generate(prompts, { max_tokens: length, temperature: 1, seed: round }))
    written += sample.tokens.length;
  durations.push(performance.now() - start);
  decoding.push(processor() - before);
  speeds.push(written / (performance.now() - start));
}
measured({
  what: "generate",
  value: Math.max(...speeds),
  unit: "k tokens/s",
  setting: `${lanes} lanes of ${length} tokens, width ${width}, ${layers} layers, best of 5`,
});
console.log(
  `generate: ${milliseconds(durations)}, ${least(decoding)}, best ${Math.max(...speeds).toFixed(2)} k tokens/s; tensors ${policy.counters().tensors}; ${(process.memoryUsage.rss() / 1e6).toFixed(0)} MB`,
);
policy.close();
