/** Whether cost grows linearly in tokens, and the share of a round outside runs of TensorFlow programs: `npm run bench -- scaling [--rounds=4]`. */
import { openLanguageModel } from "../server/engine/index.ts";
import { adamwChoice } from "../server/methods/optimizer/adamw.ts";
import { Stream } from "../server/engine/random.ts";
import type { Batch } from "../server/core/rollouts.ts";
import { evenBatch, likelier } from "./batch.ts";
import { measured, median, option } from "./report.ts";

const rounds = option("rounds", 4);
const size = { width: 128, layers: 4, heads: 4, kv_heads: 4, hidden: 384, context: 64, tied: true };
const policy = await openLanguageModel({
  model: { base: "tiny", size },
  optimizer: adamwChoice({ lr: 1e-4 }),
  backend: "native",
  seed: 1,
});

/** Milliseconds inside runs of programs so far. */
let inside = 0;
const { runtime } = policy.setup;
const compile = runtime.compile.bind(runtime);
runtime.compile = (spec) => {
  const program = compile(spec);
  return {
    run(feeds) {
      const start = performance.now();
      const results = program.run(feeds);
      inside += performance.now() - start;
      return results;
    },
  };
};

const random = new Stream("scaling");
const PROMPT = 16;
const RESPONSE = 16;
const ids = (count: number): Int32Array =>
  Int32Array.from({ length: count }, () => 3 + Math.floor(random.next() * 96));

async function generate(rows: number): Promise<void> {
  const groups = Array.from({ length: Math.ceil(rows / 8) }, () => ids(PROMPT));
  const prompts = Array.from({ length: rows }, (_, row) => ({
    tokens: groups[Math.floor(row / 8)]!,
    key: [row],
  }));
  for await (const { tokens } of policy.generate(prompts, {
    max_tokens: RESPONSE,
    min_tokens: RESPONSE,
    temperature: 1,
    seed: 1,
  }))
    if (tokens.length !== RESPONSE) throw new Error("a response ended too early");
}

async function update(batch: Batch): Promise<void> {
  const weigh = likelier(batch.tokens.length);
  await policy.update(batch, { channels: ["logp"], unit: "sequence", fresh: true }, weigh);
}

interface Cost {
  readonly milliseconds: number;
  readonly outside: number;
}
async function cost(work: () => Promise<void>): Promise<Cost> {
  await work();
  const costs: Cost[] = [];
  for (let round = 0; round < rounds; round++) {
    const before = inside;
    const start = performance.now();
    await work();
    const milliseconds = performance.now() - start;
    costs.push({ milliseconds, outside: 1 - (inside - before) / milliseconds });
  }
  return {
    milliseconds: median(costs.map(({ milliseconds }) => milliseconds)),
    outside: median(costs.map(({ outside }) => outside)),
  };
}

for (const rows of [64, 128, 256, 512, 1024]) {
  const batch = evenBatch(rows, ids(rows * PROMPT), ids(rows * RESPONSE));
  const [training, writing] = [await cost(() => update(batch)), await cost(() => generate(rows))];
  const setting = `${rows} rollouts of ${PROMPT} + ${RESPONSE} tokens, 0.87 M, median of ${rounds} rounds`;
  const each = (milliseconds: number, tokens: number): number => (1000 * milliseconds) / tokens;
  measured({
    what: "update, per token",
    value: each(training.milliseconds, rows * (PROMPT + RESPONSE)),
    unit: "µs",
    setting,
  });
  measured({
    what: "generation, per token",
    value: each(writing.milliseconds, rows * RESPONSE),
    unit: "µs",
    setting,
  });
  const whole = training.milliseconds + writing.milliseconds;
  const outside = training.outside * training.milliseconds + writing.outside * writing.milliseconds;
  measured({ what: "outside TensorFlow", value: (100 * outside) / whole, unit: "%", goal: 5, setting });
}
policy.close();
