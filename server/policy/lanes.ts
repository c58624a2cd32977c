/** Lanes of generation: prompts on their way, the KV caches they lie in, and moving between caches. */
import { UserError } from "../../shared/errors.ts";
import type { DecodeOptions, Finish, Prompt, Tokenizer } from "../seams.ts";
import { ROUND, roundSize, roundUp } from "./layout.ts";
import type { Programs } from "./programs.ts";
import { Stream } from "./random.ts";
import { freeAll, under, type DeviceTensor, type Tensors } from "./runtime.ts";
import { moveSpec, prefillSpec } from "./transformer/decode.ts";
import { headWidth } from "./transformer/weights.ts";

export interface Generator {
  readonly programs: Programs;
  readonly weights: Tensors;
  readonly rotary: DeviceTensor;
  readonly tokenizer: Tokenizer;
  readonly bos: number;
  readonly context: number;
  readonly version: number;
}

/** One prompt on its way. */
export interface Lane {
  readonly index: number;
  /** Prompt and prefix. */
  readonly given: Int32Array;
  readonly limit: number;
  readonly random: Stream;
  readonly tokens: number[];
  readonly logp: number[];
  readonly logpSampled: number[];
  readonly entropy: number[];
  finish: Finish | undefined;
}

/** The lanes of one stream and their caches; dead lanes stay until the next move. */
export interface Part {
  lanes: Lane[];
  caches: Record<string, DeviceTensor>;
  capacity: number;
}

const CAPACITY_STEP = 32;
/** Lanes decoded at once at most, and the bytes of their caches; more prompts wait for the next wave. */
const MOST_LANES = 1024;
const CACHE_BYTES = 2 ** 30;

export function laneOf(generator: Generator, prompt: Prompt, index: number, decode: DecodeOptions): Lane {
  const { context, bos } = generator;
  const prefix = prompt.prefix ?? new Int32Array();
  const start = prompt.tokens.length === 0 ? [bos] : prompt.tokens;
  const given = Int32Array.from([...start, ...prefix]);
  if (given.length >= context) {
    throw new UserError(
      `Prompt ${index} has ${given.length} tokens, and the model's context is ${context}.`,
      {
        code: "prompt-too-long",
        action:
          "Shorten the prompts (max_prompt of the task) or give the model a longer context (model.size.context).",
      },
    );
  }
  return {
    index,
    given,
    limit: Math.min(decode.max_tokens, context - given.length),
    random: new Stream(decode.seed, "token", ...prompt.key),
    tokens: [],
    logp: [],
    logpSampled: [],
    entropy: [],
    finish: undefined,
  };
}

/** Caches of the lanes' given tokens but the last, which is the first decoding step's input. Equal prompts are computed once. */
export function prefill(generator: Generator, parts: readonly Lane[][]): Part[] {
  const { programs, weights, rotary, tokenizer } = generator;
  const { shape, runtime } = programs;
  const plans = parts.map((lanes) => {
    const distinct = new Map<string, { readonly number: number; readonly given: Int32Array }>();
    const prompts = lanes.map((lane) => {
      const key = lane.given.join();
      const known = distinct.get(key) ?? { number: distinct.size, given: lane.given };
      distinct.set(key, known);
      return known.number;
    });
    const givens = [...distinct.values()].map(({ given }) => given);
    const length = roundUp(Math.max(1, ...givens.map((given) => given.length - 1)), ROUND);
    const ids = new Int32Array(givens.length * length).fill(tokenizer.pad);
    givens.forEach((given, row) => {
      ids.set(given.subarray(0, -1), row * length);
    });
    return { lanes, prompts, count: givens.length, length, ids };
  });
  const feeds = Object.fromEntries(
    plans.map(({ ids, count, length }, stream) => [`${stream}/ids`, runtime.upload(ids, [count, length])]),
  );
  const results = programs
    .get("prefill", () => prefillSpec(shape, runtime.streams))
    .run({ ...weights, rotary, ...feeds });
  freeAll(feeds);
  return plans.map(({ lanes, prompts, count, length }, stream) => {
    const part: Part = { lanes, caches: under(results, `${stream}/`), capacity: length };
    move(generator, part, prompts, count, roundUp(length + 1, CAPACITY_STEP));
    return part;
  });
}

/** Replaces a part's caches by ones of the chosen old lanes, with more room. */
function move(
  { programs }: Generator,
  part: Part,
  chosen: readonly number[],
  count: number,
  capacity: number,
): void {
  const { runtime, shape } = programs;
  const feeds = {
    lanes: runtime.upload(Int32Array.from(chosen), [chosen.length]),
    count: runtime.upload(Int32Array.of(count), []),
    extra: runtime.upload(Int32Array.of(capacity - part.capacity), []),
  };
  try {
    const moved = programs.get("move", () => moveSpec(shape)).run({ ...part.caches, ...feeds });
    freeAll(part.caches);
    part.caches = moved;
    part.capacity = capacity;
  } finally {
    freeAll(feeds);
  }
}

/** Where a lane's next input goes: the position of its last token. */
export const positionOf = (lane: Lane): number => lane.given.length + lane.tokens.length - 1;

/** Drops finished lanes where it pays, and makes room for the next position. */
export function settle(generator: Generator, part: Part): void {
  const live = part.lanes.flatMap((lane, number) => (lane.finish === undefined ? [number] : []));
  const needed = Math.max(0, ...live.map((number) => positionOf(part.lanes[number]!))) + 1;
  // Every new size costs the preparation of its kernels, so lanes shrink over few sizes.
  const size = roundSize(live.length);
  const shrinks = size < part.lanes.length;
  if (!shrinks && needed <= part.capacity) return;
  const before = part.lanes.length;
  let chosen = part.lanes.map((_, number) => number);
  if (shrinks) {
    const dead = chosen.filter((number) => part.lanes[number]!.finish !== undefined);
    chosen = [...live, ...dead.slice(0, size - live.length)];
    part.lanes = chosen.map((number) => part.lanes[number]!);
  }
  const room =
    needed <= part.capacity ? part.capacity : roundUp(Math.max(needed, part.capacity * 1.25), CAPACITY_STEP);
  move(generator, part, chosen, before, room);
}

/** Lanes of one wave, split over the streams; a stream without any gets a dead one. */
export function split(generator: Generator, lanes: Lane[]): Lane[][] {
  const { streams } = generator.programs.runtime;
  const each = Math.ceil(lanes.length / streams);
  return Array.from({ length: streams }, (_, stream) => {
    const own = lanes.slice(stream * each, (stream + 1) * each);
    if (own.length > 0) return own;
    const idle: Lane = {
      index: -1,
      given: Int32Array.of(generator.bos),
      limit: 1,
      random: new Stream("idle"),
      tokens: [],
      logp: [],
      logpSampled: [],
      entropy: [],
      finish: "length",
    };
    return [idle];
  });
}

/** As many lanes as their caches, at full length, leave room for. */
export function lanesAtOnce({ programs: { shape } }: Generator, lanes: readonly Lane[]): number {
  const longest = Math.max(1, ...lanes.map((lane) => lane.given.length + lane.limit));
  const bytes = 4 * 2 * shape.layers * shape.kv_heads * headWidth(shape) * longest;
  return Math.max(1, Math.min(MOST_LANES, Math.floor(CACHE_BYTES / bytes)));
}
