/** Ragged episodes of four turns compared with single turns of the same lengths, in turns: `npm run bench -- turns [--rounds=5] [--lanes=64]`. */
import { loadavg } from "node:os";
import { PromptQueue } from "../server/core/promptQueue.ts";
import type { Prompt } from "../server/core/policy.ts";
import { openLanguageModel } from "../server/engine/index.ts";
import type { LanguageModel } from "../server/engine/policy.ts";
import { randomStream } from "../server/lib/random.ts";
import { adamwChoice } from "../server/methods/optimizer/adamw.ts";
import { measured, median, option } from "./report.ts";

const rounds = option("rounds", 5);
const lanes = option("lanes", 64);
const turns = 4;
/** Lengths of prompts, responses and observations: drawn evenly between the two. */
const lengths = { prompt: [16, 64], response: [8, 96], observation: [8, 40] } as const;

interface Episode {
  readonly prompt: readonly number[];
  readonly responses: readonly number[];
  readonly observations: readonly (readonly number[])[];
}
function drawn(count: number): Episode[] {
  const random = randomStream("bench", "turns");
  const between = ([low, high]: readonly [number, number]): number =>
    low + Math.floor(random.next() * (high - low + 1));
  const tokens = (count: number): number[] =>
    Array.from({ length: count }, () => 3 + Math.floor(90 * random.next()));
  return Array.from({ length: count }, () => ({
    prompt: tokens(between(lengths.prompt)),
    responses: Array.from({ length: turns }, () => between(lengths.response)),
    observations: Array.from({ length: turns }, () => tokens(between(lengths.observation))),
  }));
}
const decode = { max_tokens: lengths.response[1], min_tokens: lengths.response[1], temperature: 1, lanes };

/** Seconds for every response by itself, conditioned on its episode's prompt. */
async function single(policy: LanguageModel, episodes: readonly Episode[], seed: number): Promise<number> {
  const prompts: Prompt[] = episodes.flatMap(({ prompt, responses }, episode) =>
    responses.map((max_tokens, turn) => ({
      tokens: Int32Array.from(prompt),
      max_tokens,
      key: [episode, turn],
    })),
  );
  const start = performance.now();
  let written = 0;
  for await (const { tokens } of policy.generate(prompts, { ...decode, seed })) written += tokens.length;
  check(written, episodes);
  return (performance.now() - start) / 1000;
}
/** Seconds for the episodes, `lanes` of them at a time, each at its own pace. */
async function several(policy: LanguageModel, episodes: readonly Episode[], seed: number): Promise<number> {
  const start = performance.now();
  const feed = new PromptQueue(lanes);
  const asked: { episode: number; turn: number; row: readonly number[] }[] = [];
  const ask = (episode: number, turn: number, row: readonly number[], after?: number): void => {
    asked.push({ episode, turn, row });
    feed.add({
      tokens: Int32Array.from(row),
      max_tokens: episodes[episode]!.responses[turn]!,
      key: [episode, turn],
      ...(after !== undefined && { after }),
    });
  };
  let [begun, left, written] = [0, episodes.length, 0];
  const begin = (): void => {
    if (begun < episodes.length) ask(begun, 0, episodes[begun++]!.prompt);
  };
  for (let lane = 0; lane < lanes; lane++) begin();
  for await (const { index, tokens } of policy.generate(feed, { ...decode, seed })) {
    const { episode, turn, row } = asked[index]!;
    written += tokens.length;
    if (turn < turns - 1) {
      ask(episode, turn + 1, [...row, ...tokens, ...episodes[episode]!.observations[turn]!], index);
      continue;
    }
    begin();
    if (--left === 0) feed.close();
  }
  check(written, episodes);
  return (performance.now() - start) / 1000;
}
const tokensOf = (episodes: readonly Episode[]): number =>
  episodes.reduce((sum, { responses }) => sum + responses.reduce((a, b) => a + b, 0), 0);
function check(written: number, episodes: readonly Episode[]): void {
  if (written !== tokensOf(episodes))
    throw new Error(`${written} tokens were written instead of ${tokensOf(episodes)}`);
}

const episodes = drawn(4 * lanes);
for (const size of [
  { width: 128, layers: 4, heads: 4, kv_heads: 4, hidden: 384 },
  { width: 256, layers: 6, heads: 8, kv_heads: 8, hidden: 768 },
]) {
  const policy = await openLanguageModel({
    model: { base: "tiny", size: { ...size, context: 640, tied: true } },
    optimizer: adamwChoice({ lr: 1e-3, clip_norm: null }),
    backend: "native",
    seed: 1,
  });
  await several(policy, episodes.slice(0, lanes), 0); // prepares the programs
  await single(policy, episodes.slice(0, lanes), 0);
  const [one, four]: [number[], number[]] = [[], []];
  for (let round = 1; round <= rounds; round++) {
    one.push(await single(policy, episodes, round));
    four.push(await several(policy, episodes, round));
  }
  policy.close();
  const tokens = tokensOf(episodes);
  const setting = `${episodes.length} episodes, ${lanes} lanes, ${tokens} tokens, width ${size.width}, ${size.layers} layers, median of ${rounds} rounds, load ${loadavg()[0]!.toFixed(1)}`;
  const what = `turns, ${size.width} wide`;
  measured({
    what: `${what}: single turns`,
    value: tokens / median(one) / 1000,
    unit: "k tokens/s",
    setting,
  });
  measured({ what: `${what}: four turns`, value: tokens / median(four) / 1000, unit: "k tokens/s", setting });
  measured({
    what: `${what}: tokens a second of four turns by those of single ones`,
    value: median(one.map((seconds, round) => seconds / four[round]!)),
    unit: "×",
    goal: 0.8,
    least: true,
    setting,
  });
}
