/** Generation compared with a PyTorch loop with a KV cache, in turns: `npm run bench -- decode [--rounds=5] [--seconds=0] [--ours=1]`. */
import { loadavg } from "node:os";
import { CharacterTokenizer } from "../server/engine/tokenizers/characters.ts";
import { openLanguageModel } from "../server/engine/index.ts";
import { adamwChoice } from "../server/methods/optimizer/adamw.ts";
import type { LanguageModel } from "../server/engine/policy.ts";
import { randomStream } from "../server/lib/random.ts";
import type { Prompt } from "../server/core/policy.ts";
import { countdown } from "../server/methods/tasks/countdown.ts";
import { missingPeer, PeerProcess } from "./peerProcess.ts";
import { measured, median, option, skipped } from "./report.ts";

const rounds = option("rounds", 5);

interface Size {
  readonly width: number;
  readonly layers: number;
  readonly heads: number;
  readonly hidden: number;
}
interface Case {
  readonly what: string;
  readonly size: Size;
  readonly prompts: readonly (readonly number[])[];
  /** Tokens of each response. */
  readonly lengths: readonly number[];
  /** The least and the wanted ratio of the peer's time to ours. */
  readonly least: number;
}
const small: Size = { width: 128, layers: 4, heads: 4, hidden: 384 };
const larger: Size = { width: 256, layers: 6, heads: 8, hidden: 768 };

const fixed = (what: string, size: Size, lanes: number, length: number, least: number): Case => ({
  what,
  size,
  prompts: Array.from({ length: lanes }, () => [1]),
  lengths: Array.from({ length: lanes }, () => length),
  least,
});

/** A step of the countdown example: 64 prompts × 8, each response as long as a written solution of its difficulty. */
function example(): Case {
  const tokenizer = new CharacterTokenizer();
  const random = randomStream("bench", "decode");
  const source = countdown.create(countdown.params.parse({}), {
    folder: ".",
    random,
    max_tokens: 20,
    group: 8,
  });
  const drawn = (value: string) => {
    const task = source.draw("train", value, random);
    if (task?.solution === undefined) throw new Error("countdown gave no task");
    return { prompt: task.prompt, solution: task.solution };
  };
  const prompts: number[][] = [];
  const lengths: number[] = [];
  for (let group = 0; group < 64; group++) {
    const value = source.values[group % source.values.length]!;
    const prompt = [...tokenizer.encode(drawn(value).prompt)];
    for (let member = 0; member < 8; member++) {
      prompts.push(prompt);
      lengths.push(Math.min(20, tokenizer.encode(drawn(value).solution).length + 1));
    }
  }
  return { what: "decode, the example's lengths (64 × 8)", size: small, prompts, lengths, least: 1.5 };
}

async function openCase({ size, prompts, lengths }: Case): Promise<LanguageModel> {
  const longest = Math.max(...prompts.map((prompt, row) => prompt.length + lengths[row]!));
  return openLanguageModel({
    model: { base: "tiny", size: { ...size, kv_heads: size.heads, context: longest + 1, tied: true } },
    optimizer: adamwChoice({ lr: 1e-3, clip_norm: null }),
    backend: "native",
    seed: 1,
  });
}

/** Seconds of one generation. No response ends by itself: `min_tokens` keeps the end away. */
async function ours(policy: LanguageModel, { prompts, lengths }: Case, seed: number): Promise<number> {
  const max_tokens = Math.max(...lengths);
  const asked: Prompt[] = prompts.map((tokens, row) => ({
    tokens: Int32Array.from(tokens),
    max_tokens: lengths[row]!,
    key: ["bench", row],
  }));
  const start = performance.now();
  let written = 0;
  for await (const { tokens } of policy.generate(asked, {
    max_tokens,
    min_tokens: max_tokens,
    temperature: 1,
    seed,
  }))
    written += tokens.length;
  const seconds = (performance.now() - start) / 1000;
  const wanted = lengths.reduce((sum, length) => sum + length, 0);
  if (written !== wanted) throw new Error(`${written} tokens were written instead of ${wanted}`);
  return seconds;
}

async function compare(one: Case, peer: PeerProcess | undefined): Promise<void> {
  const tokens = one.lengths.reduce((sum, length) => sum + length, 0);
  const policy = await openCase(one);
  const { size, prompts, lengths } = one;
  const asked = { ...size, vocabulary: 99, prompts, lengths };
  const own: number[] = [];
  const theirs: number[] = [];
  await ours(policy, one, 0); // prepares the programs; the other side's first is left out as well
  await peer?.seconds(asked);
  for (let round = 1; round <= rounds; round++) {
    own.push(await ours(policy, one, round));
    if (peer !== undefined) theirs.push(await peer.seconds(asked));
  }
  policy.close();
  const setting = `${one.prompts.length} lanes, ${tokens} tokens, width ${one.size.width}, ${one.size.layers} layers, median of ${rounds} rounds, load ${loadavg()[0]!.toFixed(1)}`;
  measured({ what: one.what, value: tokens / median(own) / 1000, unit: "k tokens/s", setting });
  if (peer === undefined) return;
  const ratio = median(own.map((seconds, round) => theirs[round]! / seconds));
  measured({
    what: `${one.what}: PyTorch's time over ours`,
    value: ratio,
    unit: "×",
    goal: one.least,
    least: true,
    setting,
  });
}

const missing = missingPeer("torch");
const peer = missing === undefined ? new PeerProcess("decode.py") : undefined;
if (missing !== undefined) skipped("decode beside PyTorch", missing);
for (const one of [
  fixed("decode 256 × 64, 0.87 M", small, 256, 64, 1.15),
  fixed("decode 128 × 64, 5.1 M", larger, 128, 64, 1.05),
  example(),
])
  await compare(one, peer);
peer?.close();
