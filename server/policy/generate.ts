/**
 * Generation: lanes with a KV cache, one session run a token. Prompts are prefilled once each, finished lanes are
 * dropped by moving the live ones into smaller caches.
 */
import { UserError } from "../../shared/errors.ts";
import type { DecodeOptions, Prompt, Sample, Tokenizer } from "../seams.ts";
import {
  laneOf,
  lanesAtOnce,
  positionOf,
  prefill,
  settle,
  split,
  type Generator,
  type Lane,
  type Part,
} from "./lanes.ts";
import { floats, freeAll, prefixed, take, type DeviceTensor } from "./runtime.ts";
import { chooseFiltered, type Chosen } from "./sampling.ts";
import { cacheNames, decodeSpec, type Choosing } from "./transformer/decode.ts";

/** A lane's uniform number times a total of weights stays below the total even when rounded to 32 bits. */
const BELOW_ONE = 1 - 2 ** -22;

function choosingOf(decode: DecodeOptions): Choosing {
  if (decode.temperature === 0) return "greedy";
  const filtered = (decode.top_k ?? 0) > 0 || (decode.top_p ?? 1) < 1 || (decode.min_p ?? 0) > 0;
  if (filtered) return "logits";
  return decode.temperature === 1 ? "unit" : "tempered";
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
