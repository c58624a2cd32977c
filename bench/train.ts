/** Training steps compared with PyTorch's in turns, and the ways to a step with each other: `npm run bench -- train [--rounds=5] [--steps=5] [--ours=1]`. */
import { loadavg } from "node:os";
import { openLanguageModel, type PolicyOptions } from "../server/engine/index.ts";
import { adamwChoice } from "../server/methods/optimizer/adamw.ts";
import type { LanguageModel } from "../server/engine/policy.ts";
import { Stream } from "../server/engine/random.ts";
import type { Batch } from "../server/core/rollouts.ts";
import { evenBatch, likelier } from "./batch.ts";
import { missingPeer, PeerProcess } from "./peerProcess.ts";
import { measured, median, option, skipped } from "./report.ts";

const rounds = option("rounds", 5);
const steps = option("steps", 5);
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
  const draw = (): number => 3 + Math.floor(random.next() * (VOCABULARY - 3));
  return evenBatch(rows, new Int32Array(rows).fill(1), Int32Array.from({ length: rows * length }, draw));
}

/** Seconds of the fastest of some steps. */
async function ours(policy: LanguageModel, batch: Batch, fresh: boolean): Promise<number> {
  const weigh = likelier(batch.tokens.length);
  let least = Infinity;
  for (let step = 0; step < steps; step++) {
    const start = performance.now();
    await policy.update(batch, { channels: ["logp"], unit: "sequence", fresh }, weigh);
    least = Math.min(least, (performance.now() - start) / 1000);
  }
  return least;
}

async function compare(one: Case, peer: PeerProcess | undefined): Promise<void> {
  const batch = batchOf(one);
  const asked = { ...one, vocabulary: VOCABULARY, steps };
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
  await peer?.seconds(asked);
  for (let round = 0; round < rounds; round++) {
    for (const [way, run] of Object.entries(ways)) times.get(way)!.push(await run());
    if (peer !== undefined) theirs.push(await peer.seconds(asked));
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

const missing = missingPeer("torch");
const peer = missing === undefined ? new PeerProcess("train.py") : undefined;
if (missing !== undefined) skipped("training beside PyTorch", missing);
for (const one of cases) await compare(one, peer);
peer?.close();
