/** Training steps beside PyTorch's in turns, and the ways to a step beside each other: `npm run bench -- train [--rounds=5] [--steps=5] [--ours=1]`. */
import { spawn, spawnSync } from "node:child_process";
import { loadavg } from "node:os";
import { createInterface, type Interface } from "node:readline";
import { openLanguageModel, type PolicyOptions } from "../server/policy/index.ts";
import { adamwChoice } from "../server/policy/optimizers/adamw.ts";
import type { LanguageModel } from "../server/policy/policy.ts";
import { Stream } from "../server/policy/random.ts";
import type { Batch, Weigh } from "../server/seams.ts";
import { measured, median, option, skipped } from "./report.ts";

const rounds = option("rounds", 5);
const steps = option("steps", 5);
const python = process.env["GRADUS_PEER_PYTHON"] ?? process.env["PYTHON"] ?? "python3";
const VOCABULARY = 99;

interface Case {
  readonly what: string;
  readonly width: number;
  readonly layers: number;
  readonly heads: number;
  readonly hidden: number;
  readonly rows: number;
  readonly length: number;
  /** The least ratio of the peer's time to ours. */
  readonly least: number;
}
const cases: readonly Case[] = [
  {
    what: "train step 64 × 64, 0.86 M",
    width: 128,
    layers: 4,
    heads: 4,
    hidden: 384,
    rows: 64,
    length: 64,
    least: 1.2,
  },
  {
    what: "train step 32 × 64, 5.1 M",
    width: 256,
    layers: 6,
    heads: 8,
    hidden: 768,
    rows: 32,
    length: 64,
    least: 1.1,
  },
];

const openCase = (one: Case, options: Partial<PolicyOptions> = {}): Promise<LanguageModel> => {
  const { width, layers, heads, hidden, length } = one;
  const size = { width, layers, heads, kv_heads: heads, hidden, context: 2 * length, tied: true };
  return openLanguageModel({
    model: { base: "tiny", size },
    optimizer: adamwChoice({ lr: 1e-3, clip_norm: null }),
    backend: "native",
    seed: 1,
    ...options,
  });
};

/** Rows of one token and `length` more that train. */
function batchOf({ rows, length }: Case): Batch {
  const random = new Stream("bench");
  const count = rows * length;
  return {
    rows,
    offsets: Int32Array.from({ length: rows + 1 }, (_, row) => row * length),
    tokens: Int32Array.from({ length: count }, () => 3 + Math.floor(random.next() * (VOCABULARY - 3))),
    origin: new Uint8Array(count),
    mask: new Uint8Array(count).fill(1),
    columns: { logp_old: new Float64Array(count).fill(-4) },
    context: {
      offsets: Int32Array.from({ length: rows + 1 }, (_, row) => row),
      values: new Int32Array(rows).fill(1),
    },
    group: new Int32Array(rows),
    groups: 1,
    records: [],
  };
}

/** Seconds of the fastest of some steps. */
async function ours(policy: LanguageModel, batch: Batch, fresh: boolean): Promise<number> {
  const count = batch.tokens.length;
  const weigh: Weigh = () => ({ loss: 0, gradients: { logp: new Float64Array(count).fill(-1 / count) } });
  let least = Infinity;
  for (let step = 0; step < steps; step++) {
    const start = performance.now();
    await policy.update(batch, { channels: ["logp"], unit: "sequence", fresh }, weigh);
    least = Math.min(least, (performance.now() - start) / 1000);
  }
  return least;
}

/** The other side: a process that trains some steps for every line it reads, and tells the fastest one's seconds. */
class Peer {
  private readonly child = spawn(python, ["bench/peer/train.py"], { stdio: ["pipe", "pipe", "inherit"] });
  private readonly reader: Interface = createInterface({ input: this.child.stdout });
  private readonly lines: AsyncIterator<string> = this.reader[Symbol.asyncIterator]();
  async seconds(one: Case): Promise<number> {
    this.child.stdin.write(`${JSON.stringify({ ...one, vocabulary: VOCABULARY, steps })}\n`);
    const { value, done } = await this.lines.next();
    if (done === true) throw new Error("the PyTorch side ended");
    return Number(value);
  }
  close(): void {
    this.child.stdin.end();
    this.reader.close();
  }
}
function missingPeer(): string | undefined {
  if (option("ours", 0) === 1) return "--ours=1 was given";
  const { status } = spawnSync(python, ["-c", "import torch"], { stdio: "ignore" });
  return status === 0 ? undefined : `${python} has no torch: name one that has by GRADUS_PEER_PYTHON`;
}

async function compare(one: Case, peer: Peer | undefined): Promise<void> {
  const batch = batchOf(one);
  const count = batch.tokens.length;
  const fast = await openCase(one);
  const again = await openCase(one, { kept_bytes: 0 });
  const layered = await openCase(one, { run_bytes: 1 });
  const apart = await openCase(one, { run_bytes: 1, kept_bytes: 0 });
  const ways = {
    fused: () => ours(fast, batch, true),
    staged: () => ours(fast, batch, false),
    recompute: () => ours(again, batch, false),
    "staged, layer by layer": () => ours(layered, batch, false),
    "recompute, layer by layer": () => ours(apart, batch, false),
  };
  const times = new Map(Object.keys(ways).map((way) => [way, [] as number[]]));
  const theirs: number[] = [];
  for (const way of Object.values(ways)) await way(); // prepares the programs
  await peer?.seconds(one);
  for (let round = 0; round < rounds; round++) {
    for (const [way, run] of Object.entries(ways)) times.get(way)!.push(await run());
    if (peer !== undefined) theirs.push(await peer.seconds(one));
  }
  for (const policy of [fast, again, layered, apart]) policy.close();
  const setting = `${one.rows} × ${one.length} tokens, width ${one.width}, ${one.layers} layers, fastest of ${steps} steps, median of ${rounds} rounds, load ${loadavg()[0]!.toFixed(1)}`;
  for (const [way, seconds] of times)
    measured({
      what: `${one.what}, ${way}`,
      value: count / median(seconds) / 1000,
      unit: "k tokens/s",
      setting,
    });
  if (peer === undefined) return;
  measured({
    what: `${one.what}: PyTorch's time over ours`,
    value: median(times.get("fused")!.map((seconds, round) => theirs[round]! / seconds)),
    unit: "×",
    goal: one.least,
    least: true,
    setting,
  });
}

const missing = missingPeer();
const peer = missing === undefined ? new Peer() : undefined;
if (missing !== undefined) skipped("training beside PyTorch", missing);
for (const one of cases) await compare(one, peer);
peer?.close();
