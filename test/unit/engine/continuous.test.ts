import assert from "node:assert/strict";
import { test } from "node:test";
import { PromptQueue } from "../../../server/core/promptQueue.ts";
import type { DecodeOptions, PartialSample, Prompt, Sample } from "../../../server/core/policy.ts";
import { ResidentRuntime } from "../../../server/engine/devices/resident.ts";
import { loadBinding } from "../../../server/engine/devices/native.ts";
import { LanguageModel } from "../../../server/engine/policy.ts";
import { Stream } from "../../../server/engine/random.ts";
import { collect, largestDifference, open, randomRows, stir, tinyModel } from "./support.ts";

const opened = async (options: Parameters<typeof open>[0] = {}): Promise<LanguageModel> => {
  const policy = await open({ model: tinyModel({ context: 160 }), ...options });
  stir(policy, 0.2);
  return policy;
};
/** With a liking for the end, so that responses differ in length. */
const decode: DecodeOptions = { max_tokens: 14, temperature: 1, seed: 3, logit_bias: new Map([[2, 2]]) };
const random = new Stream("observations");
const [starts, observations] = [
  randomRows([
    [3, 0],
    [9, 0],
    [1, 0],
    [20, 0],
    [5, 0],
    [12, 0],
    [7, 0],
  ]).map(({ context }) => context),
  Array.from({ length: 7 }, () =>
    randomRows(Array.from({ length: 3 }, () => [1 + Math.floor(24 * random.next()), 0] as const)).map(
      ({ context }) => context,
    ),
  ),
];

interface Turn {
  readonly prompt: Prompt;
  readonly sample: Sample;
}
interface Playing {
  readonly feed?: PromptQueue;
  readonly decode?: Partial<DecodeOptions>;
  /** Whether prompts say which sample they follow. */
  readonly follow?: boolean;
  readonly own?: (episode: number) => Partial<Prompt>;
  readonly episodes?: readonly number[];
  /** What is observed after a response, in place of what is drawn. */
  readonly next?: (episode: number, turn: number, row: readonly number[]) => readonly number[];
}
/** Plays episodes of four turns, each at its own pace. */
async function play(policy: LanguageModel, how: Playing = {}): Promise<Map<string, Turn>> {
  const { feed = new PromptQueue(), follow = true, own = () => ({}), episodes = [...starts.keys()] } = how;
  const played = new Map<string, Turn>();
  const asked: { episode: number; turn: number; prompt: Prompt }[] = [];
  const ask = (episode: number, turn: number, tokens: readonly number[], after?: number): void => {
    const followed = follow && after !== undefined ? { after } : {};
    const prompt = { tokens: Int32Array.from(tokens), key: [episode, turn], ...own(episode), ...followed };
    asked.push({ episode, turn, prompt });
    feed.add(prompt);
  };
  for (const episode of episodes) ask(episode, 0, starts[episode]!);
  let left = episodes.length;
  for await (const sample of policy.generate(feed, { ...decode, ...how.decode })) {
    const { episode, turn, prompt } = asked[sample.index]!;
    played.set(`${episode}/${turn}`, { prompt, sample });
    const row = [...prompt.tokens, ...sample.tokens];
    if (turn < 3)
      ask(
        episode,
        turn + 1,
        how.next?.(episode, turn, row) ?? [...row, ...observations[episode]![turn]!],
        sample.index,
      );
    else if (--left === 0) feed.close();
  }
  assert.equal(played.size, 4 * episodes.length);
  return played;
}
/** Every turn is what its prompt gives without the turns before it. */
async function same(
  policy: LanguageModel,
  played: ReadonlyMap<string, Turn>,
  options: Partial<DecodeOptions> = {},
): Promise<void> {
  const turns = [...played.values()];
  const plain = turns.map(({ prompt: { tokens, key } }) => ({ tokens, key }));
  const together = await collect(policy, plain, { ...decode, ...options });
  for (const [index, { prompt, sample }] of turns.entries()) {
    const { temperature, stop, seed } = prompt;
    const own = {
      ...(temperature !== undefined && { temperature }),
      ...(stop !== undefined && { stop }),
      ...(seed !== undefined && { seed }),
    };
    const [alone] =
      Object.keys(own).length === 0
        ? [together[index]!]
        : await collect(policy, [plain[index]!], { ...decode, ...options, ...own });
    assert.deepEqual(sample.tokens, alone!.tokens);
    assert.equal(sample.finish, alone!.finish);
    for (const column of ["logp_old", "logp_sampled", "entropy"] as const)
      assert.ok(largestDifference(sample[column], alone![column]) < 1e-4, column);
  }
}

test("turns that go on in their lanes are what their prompts alone give, and no tensor is left", async () => {
  const policy = await opened();
  await play(policy);
  const { tensors } = policy.counters();
  const played = await play(policy);
  assert.equal(policy.counters().tensors, tensors);
  assert.ok(new Set([...played.values()].map(({ sample }) => sample.tokens.length)).size > 2);
  await same(policy, played);
  const tokens = (of: ReadonlyMap<string, Turn>) =>
    [...of].map(([key, { sample }]) => [key, ...sample.tokens]).sort();
  for (const how of [{ follow: false }, { feed: new PromptQueue(2) }, { decode: { lanes: 3 } }])
    assert.deepEqual(tokens(await play(policy, how)), tokens(played));
  policy.close();
});

test("other ways of choosing go on as well: penalties, filters, a repeated prompt written differently", async () => {
  const policy = await opened();
  for (const options of [
    { repetition_penalty: 1.3, presence_penalty: 0.4, frequency_penalty: 0.2 },
    { top_p: 0.8, temperature: 0.8 },
  ])
    await same(policy, await play(policy, { decode: options, episodes: [1, 3, 5] }), options);
  // The next prompt keeps only a part of what its lane holds.
  const rerendered = (episode: number, turn: number, row: readonly number[]): readonly number[] => [
    ...row.slice(0, row.length - 3),
    ...observations[episode]![turn]!,
  ];
  await same(policy, await play(policy, { next: rerendered, episodes: [0, 1, 3] }));
  const shorter = (_: number, __: number, row: readonly number[]): readonly number[] =>
    row.slice(0, row.length - 2);
  await same(policy, await play(policy, { next: shorter, episodes: [1, 3] }));
  policy.close();
});

for (const [name, make] of [
  ["WebAssembly", () => opened({ backend: "wasm" })],
  [
    "values kept in the session",
    async () => {
      const native = await opened();
      const policy = new LanguageModel({
        ...native.setup,
        runtime: new ResidentRuntime(loadBinding(0, 1), "CPU"),
      });
      stir(policy, 0.2);
      return policy;
    },
  ],
  [
    "learned positions, as many key heads as heads",
    () => opened({ model: tinyModel({ context: 160, kv_heads: 4 }) }),
  ],
] as const)
  test(`turns go on in their lanes: ${name}`, async () => {
    const policy = await make();
    await same(policy, await play(policy, { episodes: [0, 1, 3] }));
    policy.close();
  });

test("prompts have their own temperature, stop texts and seed", async () => {
  const policy = await opened();
  const own = [
    { temperature: 0 },
    { temperature: 0.5 },
    { seed: 11 },
    { stop: [..."abcdefghijklmnopqrstuvwxyz"] },
    { temperature: 0, seed: 4 },
    {},
  ];
  const played = await play(policy, { own: (episode) => own[episode % own.length]! });
  await same(policy, played);
  assert.ok(
    [...played].some(
      ([key, { sample }]) => key.startsWith("3/") && sample.finish === "stop" && sample.tokens.at(-1) !== 2,
    ),
  );
  for (const [key, { sample }] of played)
    if (key.startsWith("0/")) assert.ok(sample.logp_sampled.every((logp) => logp === 0));
  await assert.rejects(
    collect(policy, [{ tokens: Int32Array.of(4), key: [], temperature: -1 }]),
    /temperature is -1/,
  );
  policy.close();
});

test("many come and go: lanes are taken, grow and shrink", async () => {
  const policy = await opened({ cache_bytes: 120_000 });
  const feed = new PromptQueue();
  const prompts = Array.from({ length: 60 }, (_, index) => ({
    tokens: Int32Array.from(starts[index % starts.length]!),
    key: ["many", index],
    ...(index % 9 === 5 && { max_tokens: 100 }),
  }));
  const samples: Sample[] = [];
  let added = 0;
  const add = (count: number): void => {
    for (; count > 0 && added < prompts.length; count--) feed.add(prompts[added++]!);
  };
  add(3);
  for await (const sample of policy.generate(feed, { ...decode, max_tokens: 120 })) {
    samples.push(sample);
    add(samples.length % 7 === 0 ? 9 : 1);
    if (samples.length === prompts.length) feed.close();
  }
  const alone = await collect(policy, prompts, { ...decode, max_tokens: 120 });
  for (const sample of samples) assert.deepEqual(sample.tokens, alone[sample.index]!.tokens);
  policy.close();
});

test("while every lane is free nothing is asked of the feed; a prompt, its end, an abort or a pause wakes it", async () => {
  const policy = await opened();
  const feed = new (class extends PromptQueue {
    taken = 0;
    idle: () => void = () => undefined;
    override take(): readonly Prompt[] {
      this.taken += 1;
      return super.take();
    }
    override next(): Promise<void> {
      setImmediate(() => this.idle());
      return super.next();
    }
  })();
  const idle = (): Promise<void> => new Promise((resolve) => (feed.idle = resolve));
  const samples: Sample[] = [];
  const generate = async (options: Partial<DecodeOptions> = {}): Promise<void> => {
    for await (const sample of policy.generate(feed, { ...decode, ...options })) samples.push(sample);
  };
  const first = idle();
  const all = generate();
  await first;
  const { taken } = feed;
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
  assert.equal(feed.taken, taken);
  const again = idle();
  feed.add({ tokens: Int32Array.of(5, 6), key: ["late"] });
  await again;
  assert.equal(samples.length, 1);
  feed.close();
  await all;
  for (const kind of ["signal", "pause"] as const) {
    const controller = new AbortController();
    feed.open = true;
    const waiting = idle();
    const kept: PartialSample[] = [];
    const options =
      kind === "signal"
        ? { signal: controller.signal }
        : {
            pause: {
              signal: controller.signal,
              keep: (rest: readonly PartialSample[]) => void kept.push(...rest),
            },
          };
    const ended = generate(options);
    await waiting;
    controller.abort(new Error("given up"));
    if (kind === "signal") await assert.rejects(ended, /given up/);
    else await ended;
    assert.deepEqual(kept, []);
  }
  policy.close();
});

test("a fed generation pauses and is resumed by the order in which prompts were taken", async () => {
  const policy = await opened();
  const whole = await play(policy, { episodes: [0, 1, 4, 6] });
  const turns = [...whole.values()].map(({ prompt: { after: _, ...prompt }, sample }) => ({
    prompt,
    sample,
  }));
  const controller = new AbortController();
  const feed = new PromptQueue();
  for (const { prompt } of turns) feed.add(prompt);
  const kept: PartialSample[] = [];
  const pause = {
    signal: controller.signal,
    keep: (rest: readonly PartialSample[]) => void kept.push(...rest),
  };
  const samples: Sample[] = [];
  for await (const sample of policy.generate(feed, { ...decode, pause })) {
    samples.push(sample);
    if (samples.length === 5) controller.abort();
  }
  assert.equal(samples.length + kept.length, turns.length);
  const rest = new PromptQueue();
  for (const { index } of kept) rest.add(turns[index]!.prompt);
  rest.close();
  const resume = kept.map((partial, index) => ({ ...partial, index }));
  for await (const sample of policy.generate(rest, { ...decode, resume }))
    samples.push({ ...sample, index: kept[sample.index]!.index });
  for (const sample of samples) assert.deepEqual(sample.tokens, turns[sample.index]!.sample.tokens);
  policy.close();
});

test("a prompt that nobody waits for ends early, and its lane is free", async () => {
  const policy = await opened();
  const [left, stays] = [new AbortController(), new AbortController()];
  const prompts = [left, stays].map(({ signal }, index) => ({
    tokens: Int32Array.of(7, 8),
    key: [index],
    signal,
  }));
  const waits = { tokens: Int32Array.of(9), key: ["waits"], signal: left.signal };
  const lengths = new Map<number, number>();
  let written = 0;
  const on_token = (): void => void (++written === 8 && left.abort());
  for await (const sample of policy.generate([...prompts, waits], {
    ...decode,
    logit_bias: new Map([[2, -50]]),
    max_tokens: 30,
    lanes: 2,
    on_token,
  }))
    lengths.set(sample.index, sample.tokens.length);
  assert.deepEqual(
    lengths,
    new Map([
      [0, 4],
      [2, 0],
      [1, 30],
    ]),
  );
  policy.close();
});
