/** Ragged episodes of four turns compared with rows as long in one turn: `npm run bench -- turns [--rounds=5] [--lanes=64]`. */
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
    observations: Array.from({ length: turns - 1 }, () => tokens(between(lengths.observation))),
  }));
}
/** No response ends by itself: `min_tokens` keeps the end away. */
const longest = turns * (lengths.response[1] + lengths.observation[1]);
const decode = { max_tokens: longest, min_tokens: longest, temperature: 1, lanes };

interface Time {
  readonly seconds: number;
  /** Of all processors. */
  readonly processor: number;
}
async function timed(what: () => Promise<number>, tokens: number): Promise<Time> {
  const [start, before] = [performance.now(), process.cpuUsage()];
  const written = await what();
  const { user, system } = process.cpuUsage(before);
  if (written !== tokens) throw new Error(`${written} tokens were written instead of ${tokens}`);
  return { seconds: (performance.now() - start) / 1000, processor: (user + system) / 1e6 };
}

/** Writes responses of such lengths, each conditioned on its own prompt; their tokens. */
async function single(policy: LanguageModel, prompts: readonly Prompt[], seed: number): Promise<number> {
  let written = 0;
  for await (const { tokens } of policy.generate(prompts, { ...decode, seed })) written += tokens.length;
  return written;
}
/** Rows as long as the episodes', each written in one turn. */
const whole = (episodes: readonly Episode[]): Prompt[] =>
  episodes.map(({ prompt, responses, observations }, episode) => ({
    tokens: Int32Array.from(prompt),
    max_tokens: sum(responses) + sum(observations.map(({ length }) => length)),
    key: [episode],
  }));
/** The episodes' responses, each conditioned on the prompt alone. */
const apart = (episodes: readonly Episode[]): Prompt[] =>
  episodes.flatMap(({ prompt, responses }, episode) =>
    responses.map((max_tokens, turn) => ({
      tokens: Int32Array.from(prompt),
      max_tokens,
      key: [episode, turn],
    })),
  );
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** Plays the episodes, `lanes` of them at a time, each at its own pace; the tokens of their responses. */
async function several(policy: LanguageModel, episodes: readonly Episode[], seed: number): Promise<number> {
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
  return written;
}

const episodes = drawn(4 * lanes);
const tokens = sum(episodes.map(({ responses }) => sum(responses)));
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
  const few = episodes.slice(0, lanes);
  for (const prepare of [several(policy, few, 0), single(policy, whole(few), 0)]) await prepare; // the programs
  const [one, four, short]: [Time[], Time[], Time[]] = [[], [], []];
  const rows = whole(episodes);
  const rowTokens = sum(rows.map(({ max_tokens }) => max_tokens!));
  for (let round = 1; round <= rounds; round++) {
    one.push(await timed(() => single(policy, rows, round), rowTokens));
    four.push(await timed(() => several(policy, episodes, round), tokens));
    short.push(await timed(() => single(policy, apart(episodes), round), tokens));
  }
  policy.close();
  const setting = `${episodes.length} episodes, ${lanes} lanes, ${tokens} tokens, width ${size.width}, ${size.layers} layers, median of ${rounds} rounds, load ${loadavg()[0]!.toFixed(1)}`;
  const what = `turns, ${size.width} wide`;
  const rate = (count: number, times: readonly Time[]): number =>
    count / median(times.map(({ seconds }) => seconds)) / 1000;
  const ratio = (by: keyof Time, to: readonly Time[], count: number): number =>
    median(to.map((time, round) => tokens / four[round]![by] / (count / time[by])));
  measured({
    what: `${what}: rows as long in one turn`,
    value: rate(rowTokens, one),
    unit: "k tokens/s",
    setting,
  });
  measured({ what: `${what}: four turns`, value: rate(tokens, four), unit: "k tokens/s", setting });
  measured({
    what: `${what}: tokens a second in four turns by those in one`,
    value: ratio("seconds", one, rowTokens),
    unit: "×",
    goal: 0.8,
    least: true,
    setting,
  });
  measured({
    what: `${what}: the same by processor time`,
    value: ratio("processor", one, rowTokens),
    unit: "×",
    setting,
  });
  measured({
    what: `${what}: tokens a second in four turns by those of the responses alone, without the turns before`,
    value: ratio("seconds", short, tokens),
    unit: "×",
    setting,
  });
}
