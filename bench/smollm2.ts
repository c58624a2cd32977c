/** SmolLM2-135M compared with transformers and PEFT, in turns: load, prefill, decode, a LoRA step, peak memory. `[--rounds=3] [--ours=1]` */
import { spawnSync } from "node:child_process";
import { loadavg } from "node:os";
import { openLanguageModel, threadSettings } from "../server/engine/index.ts";
import { adamwChoice } from "../server/methods/optimizer/adamw.ts";
import { Stream } from "../server/engine/random.ts";
import { evenBatch, likelier } from "./batch.ts";
import { missingPeer, python } from "./peerProcess.ts";
import { measured, median, option, skipped } from "./report.ts";

const works = ["prefill", "decode", "lora"] as const;
const goals: Readonly<Record<string, number>> = {
  load: 5,
  "prefill 1x128": 0.9,
  "prefill 8x64": 0.9,
  "decode 1": 0.9,
  "decode 8": 0.9,
  "decode 32": 0.9,
  "lora 16x64": 1.1,
};

interface Line {
  readonly what: string;
  readonly seconds?: number;
  readonly bytes?: number;
}
const tell = (line: Line): void => console.log(JSON.stringify(line));

const random = new Stream("smollm2");
const ids = (count: number): Int32Array =>
  Int32Array.from({ length: count }, () => 100 + Math.floor(random.next() * 39_900));

async function least(rounds: number, work: () => Promise<unknown>): Promise<number> {
  await work();
  const seconds: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    await work();
    seconds.push((performance.now() - start) / 1000);
  }
  return Math.min(...seconds);
}

/** One work in a process of its own, so that its peak memory is its own. Lines as the other side's. */
async function ours(work: (typeof works)[number], base: string): Promise<void> {
  const start = performance.now();
  const policy = await openLanguageModel({
    model: {
      base,
      size: { width: 0, layers: 0, heads: 1, kv_heads: 1, hidden: 0, context: 0, tied: true },
      adapter:
        work === "lora"
          ? { rank: 16, alpha: 32, targets: ["q", "k", "v", "o", "gate", "up", "down"], dropout: 0 }
          : undefined,
    },
    optimizer: adamwChoice({ lr: 1e-4 }),
    backend: "native",
    seed: 1,
  });
  tell({ what: "load", seconds: (performance.now() - start) / 1000 });
  const generated = async (lanes: number, prompt: number, max_tokens: number): Promise<void> => {
    const prompts = Array.from({ length: lanes }, (_, lane) => ({ tokens: ids(prompt), key: [lane] }));
    for await (const sample of policy.generate(prompts, {
      max_tokens,
      min_tokens: max_tokens,
      temperature: 1,
      seed: 1,
    }))
      if (sample.tokens.length !== max_tokens) throw new Error("a response ended too early");
  };
  if (work === "prefill")
    for (const [rows, length] of [
      [1, 128],
      [8, 64],
    ] as const)
      tell({ what: `prefill ${rows}x${length}`, seconds: await least(4, () => generated(rows, length, 1)) });
  if (work === "decode")
    for (const lanes of [1, 8, 32])
      tell({ what: `decode ${lanes}`, seconds: await least(2, () => generated(lanes, 16, 24)) });
  if (work === "lora") {
    const [rows, response] = [16, 16];
    const batch = evenBatch(rows, ids(rows * (64 - response)), ids(rows * response));
    const weigh = likelier(batch.tokens.length);
    const step = () => policy.update(batch, { channels: ["logp"], unit: "sequence", fresh: true }, weigh);
    tell({ what: "lora 16x64", seconds: await least(3, step) });
  }
  tell({ what: "memory", bytes: process.resourceUsage().maxRSS * 1024 });
  policy.close();
}

function linesOf(command: string, words: readonly string[], environment: NodeJS.ProcessEnv = {}): Line[] {
  const { stdout, status } = spawnSync(command, words, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, ...environment },
  });
  if (status !== 0) throw new Error(`${command} ${words.join(" ")} ended with ${status}`);
  return stdout
    .split("\n")
    .filter((text) => text.startsWith('{"'))
    .map((text): Line => JSON.parse(text));
}

function report(what: string, own: readonly number[], theirs: readonly number[], work: string): void {
  const memory = what === "memory";
  const setting = `${work}, median of ${own.length} rounds, load ${loadavg()[0]!.toFixed(1)}`;
  const [unit, scale] = memory ? (["GB", 1e-9] as const) : (["s", 1] as const);
  measured({ what: `SmolLM2 ${what}`, value: median(own) * scale, unit, setting });
  if (theirs.length === 0) return;
  const ratios = own.map((value, round) => (memory ? value / theirs[round]! : theirs[round]! / value));
  const goal = memory ? 0.8 : goals[what];
  measured({
    what: `SmolLM2 ${what}: ${memory ? "ours over theirs" : "theirs over ours"}`,
    value: median(ratios),
    unit: "×",
    ...(goal === undefined ? {} : { goal }),
    least: !memory,
    setting,
  });
}

function compare(base: string, rounds: number): void {
  const missing = missingPeer("torch", "transformers", "gguf", "peft");
  if (missing !== undefined) skipped("SmolLM2 beside transformers and PEFT", missing);
  for (const work of works) {
    const own = new Map<string, number[]>();
    const theirs = new Map<string, number[]>();
    const keep = (into: Map<string, number[]>, { what, seconds, bytes }: Line): void => {
      into.set(what, [...(into.get(what) ?? []), seconds ?? bytes ?? Number.NaN]);
    };
    const settings = { ...threadSettings(135e6), GRADUS_BENCH_WORK: work, GRADUS_SMOLLM2: base };
    for (let round = 0; round < rounds; round++) {
      for (const line of linesOf(process.execPath, [process.argv[1] ?? ""], settings)) keep(own, line);
      if (missing === undefined)
        for (const line of linesOf(python, ["bench/peer/smollm2.py", base, work])) keep(theirs, line);
    }
    for (const [what, values] of own) report(what, values, theirs.get(what) ?? [], work);
  }
}

const base = process.env["GRADUS_SMOLLM2"];
const work = works.find((name) => name === process.env["GRADUS_BENCH_WORK"]);
if (base === undefined)
  skipped(
    "SmolLM2 beside transformers and PEFT",
    "name the model: GRADUS_SMOLLM2=$(node scripts/getSmolLm2.mjs)",
  );
else if (work === undefined) compare(base, option("rounds", 3));
else await ours(work, base);
