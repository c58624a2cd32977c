/**
 * Generation: lanes with a KV cache, one session run a token. Prompts are prefilled once each, finished lanes are
 * dropped by moving the live ones into smaller caches.
 */
import { UserError } from "../../shared/errors.ts";
import type { DecodeOptions, Finish, Prompt, Sample, Tokenizer } from "../seams.ts";
import { ROUND, roundSize, roundUp } from "./layout.ts";
import type { Programs } from "./programs.ts";
import { Stream } from "./random.ts";
import { floats, freeAll, prefixed, take, under, type DeviceTensor, type Tensors } from "./runtime.ts";
import { chooseFiltered, type Chosen } from "./sampling.ts";
import { headWidth } from "./transformer/weights.ts";
import { cacheNames, decodeSpec, moveSpec, prefillSpec, type Choosing } from "./transformer/decode.ts";

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
interface Lane {
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
interface Part {
  lanes: Lane[];
  caches: Record<string, DeviceTensor>;
  capacity: number;
}

const CAPACITY_STEP = 32;
/** Lanes decoded at once at most, and the bytes of their caches; more prompts wait for the next wave. */
const MOST_LANES = 1024;
const CACHE_BYTES = 2 ** 30;
/** A lane's uniform number times a total of weights stays below the total even when rounded to 32 bits. */
const BELOW_ONE = 1 - 2 ** -22;

function choosingOf(decode: DecodeOptions): Choosing {
  if (decode.temperature === 0) return "greedy";
  const filtered = (decode.top_k ?? 0) > 0 || (decode.top_p ?? 1) < 1 || (decode.min_p ?? 0) > 0;
  if (filtered) return "logits";
  return decode.temperature === 1 ? "unit" : "tempered";
}

function laneOf(generator: Generator, prompt: Prompt, index: number, decode: DecodeOptions): Lane {
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
function prefill(generator: Generator, parts: readonly Lane[][]): Part[] {
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
const positionOf = (lane: Lane): number => lane.given.length + lane.tokens.length - 1;

/** Drops finished lanes where it pays, and makes room for the next position. */
function settle(generator: Generator, part: Part): void {
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

/** One step's inputs of a part. */
function stepFeeds({ programs }: Generator, part: Part): Record<string, DeviceTensor> {
  const { runtime, shape } = programs;
  const n = part.lanes.length;
  const current = new Int32Array(n);
  const position = new Int32Array(n);
  const rows = new Int32Array(n * shape.kv_heads);
  const uniform = new Float32Array(n);
  part.lanes.forEach((lane, number) => {
    // A dead lane goes on over its own cache, within bounds, and nobody reads it.
    const at = Math.min(positionOf(lane), part.capacity - 1);
    current[number] = lane.tokens.at(-1) ?? lane.given.at(-1) ?? 0;
    position[number] = at;
    uniform[number] = Math.min(BELOW_ONE, lane.random.at(lane.tokens.length));
    for (let head = 0; head < shape.kv_heads; head++)
      rows[number * shape.kv_heads + head] = (number * shape.kv_heads + head) * part.capacity + at;
  });
  return {
    current: runtime.upload(current, [n]),
    position: runtime.upload(position, [n]),
    rows: runtime.upload(rows, [n * shape.kv_heads]),
    uniform: runtime.upload(uniform, [n]),
  };
}

/** Runs one decoding step; returns each part's choices in lane order. */
function step(
  generator: Generator,
  parts: readonly Part[],
  choosing: Choosing,
  inverse: DeviceTensor,
): Float32Array[] {
  const { programs, weights, rotary } = generator;
  const { shape, runtime } = programs;
  const program = programs.get(`decode ${choosing}`, () => decodeSpec(shape, runtime.streams, choosing));
  const inputs: Record<string, DeviceTensor> = Object.assign(
    {},
    ...parts.map((part, stream) => prefixed(`${stream}/`, stepFeeds(generator, part))),
  );
  const caches: Record<string, DeviceTensor> = Object.assign(
    {},
    ...parts.map((part, stream) => prefixed(`${stream}/`, part.caches)),
  );
  try {
    const results = program.run({ ...weights, rotary, inverseTemperature: inverse, ...inputs, ...caches });
    freeAll(caches);
    return parts.map((part, stream) => {
      part.caches = Object.fromEntries(
        cacheNames(shape).map((name) => [name, take(results, `${stream}/${name}`)]),
      );
      const chosen = take(results, `${stream}/chosen`);
      const values = floats(chosen);
      chosen.free();
      return values;
    });
  } finally {
    freeAll(inputs);
  }
}

/** The choice of lane `number` among `n`, from what the program returned. */
function chosenOf(
  values: Float32Array,
  n: number,
  number: number,
  lane: Lane,
  choosing: Choosing,
  decode: DecodeOptions,
): Chosen {
  if (choosing === "logits") {
    const vocabulary = values.length / n;
    const filters = {
      temperature: decode.temperature,
      top_k: decode.top_k ?? 0,
      top_p: decode.top_p ?? 1,
      min_p: decode.min_p ?? 0,
    };
    return chooseFiltered(
      values.subarray(number * vocabulary, (number + 1) * vocabulary),
      filters,
      lane.random.at(lane.tokens.length),
    );
  }
  const at = (field: number): number => values[field * n + number] ?? NaN;
  // Greedy decoding draws from a distribution with all its mass on one token.
  return { token: at(0), logp: at(1), logpSampled: choosing === "greedy" ? 0 : at(2), entropy: at(3) };
}

function record(lane: Lane, chosen: Chosen, tokenizer: Tokenizer, stop: readonly string[]): void {
  lane.tokens.push(chosen.token);
  lane.logp.push(chosen.logp);
  lane.logpSampled.push(chosen.logpSampled);
  lane.entropy.push(chosen.entropy);
  if (!Number.isFinite(chosen.logp)) lane.finish = "error";
  else if (chosen.token === tokenizer.eos) lane.finish = "stop";
  else if (stop.length > 0 && endsByText(lane, tokenizer, stop)) lane.finish = "stop";
  else if (lane.tokens.length >= lane.limit) lane.finish = "length";
}

/** A stop text is complete with the last token; a token is at least one character or byte of it. */
function endsByText(lane: Lane, tokenizer: Tokenizer, stop: readonly string[]): boolean {
  const longest = Math.max(...stop.map((text) => Buffer.byteLength(text)));
  const tail = tokenizer.decode(lane.tokens.slice(-(longest + 4)));
  return stop.some((text) => text !== "" && tail.includes(text));
}

const sampleOf = (lane: Lane, version: number): Sample => ({
  index: lane.index,
  tokens: Int32Array.from(lane.tokens),
  logp_old: Float64Array.from(lane.logp),
  logp_sampled: Float64Array.from(lane.logpSampled),
  entropy: Float64Array.from(lane.entropy),
  versions: new Int32Array(lane.tokens.length).fill(version),
  finish: lane.finish ?? "length",
});

/** Lanes of one wave, split over the streams; a stream without any gets a dead one. */
function split(generator: Generator, lanes: Lane[]): Lane[][] {
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
function lanesAtOnce({ programs: { shape } }: Generator, lanes: readonly Lane[]): number {
  const longest = Math.max(1, ...lanes.map((lane) => lane.given.length + lane.limit));
  const bytes = 4 * 2 * shape.layers * shape.kv_heads * headWidth(shape) * longest;
  return Math.max(1, Math.min(MOST_LANES, Math.floor(CACHE_BYTES / bytes)));
}

/** Lets other work of this thread in: a run blocks it. */
const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function* wave(generator: Generator, lanes: Lane[], decode: DecodeOptions): AsyncGenerator<Sample> {
  const choosing = choosingOf(decode);
  const { runtime } = generator.programs;
  const parts = prefill(generator, split(generator, lanes));
  const inverse = runtime.upload(Float32Array.of(decode.temperature === 0 ? 1 : 1 / decode.temperature), []);
  try {
    let left = lanes.length;
    while (left > 0) {
      decode.signal?.throwIfAborted();
      for (const part of parts) settle(generator, part);
      const values = step(generator, parts, choosing, inverse);
      const finished: Lane[] = [];
      parts.forEach((part, stream) => {
        part.lanes.forEach((lane, number) => {
          if (lane.finish !== undefined) return;
          record(
            lane,
            chosenOf(values[stream]!, part.lanes.length, number, lane, choosing, decode),
            generator.tokenizer,
            decode.stop ?? [],
          );
          if (lane.finish !== undefined) finished.push(lane);
        });
      });
      left -= finished.length;
      for (const lane of finished) yield sampleOf(lane, generator.version);
      await breathe();
    }
  } finally {
    inverse.free();
    for (const part of parts) freeAll(part.caches);
  }
}

/**
 * Samples as they finish, in no particular order.
 *
 * @throws UserError where a prompt leaves no room in the context; the signal's reason when aborted.
 */
export async function* generate(
  generator: Generator,
  prompts: readonly Prompt[],
  decode: DecodeOptions,
): AsyncGenerator<Sample> {
  if (!(decode.temperature >= 0))
    throw new UserError(`temperature is ${decode.temperature}.`, {
      code: "temperature",
      action: "Give a number ≥ 0; 0 is greedy.",
    });
  if (!(decode.max_tokens >= 1))
    throw new UserError(`max_tokens is ${decode.max_tokens}.`, {
      code: "max-tokens",
      action: "Ask for at least 1 token.",
    });
  const lanes = prompts.map((prompt, index) => laneOf(generator, prompt, index, decode));
  const most = lanesAtOnce(generator, lanes);
  for (let start = 0; start < lanes.length; start += most)
    yield* wave(generator, lanes.slice(start, start + most), decode);
}
