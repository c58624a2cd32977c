/**
 * Generation: lanes with a KV cache, one session run a token. Prompts are prefilled once each; a lane whose response is
 * finished is taken by the next prompt that waits, and when none does the live lanes move into smaller caches.
 */
import type { DecodeOptions, Prompt, PromptFeed, Sample } from "../../core/policy.ts";
import { Adjustments, isAdjusted } from "./adjustments.ts";
import { Chooser, type LaneFeeds } from "./chooser.ts";
import { advance, jobsOf, positionOf, sampleOf, type Ending, type Job } from "./jobs.ts";
import type { Generator } from "./generator.ts";
import { emptyParts, lanesAtOnce, liveLanes, settle, type StreamLanes } from "./lanes.ts";
import { entriesOf, freeMarks } from "./marks.ts";
import { Waiting } from "./prefill.ts";
import { take } from "../../core/ops.ts";
import { freeAll, type DeviceTensor } from "../devices/runtime.ts";
import { checkDecodeOptions } from "./sampling.ts";
import { StopTexts } from "./stopTexts.ts";
import { cacheNames } from "../transformer/decode.ts";
import { marksOf } from "../transformer/penalties.ts";
import { endsOf } from "../../core/rows/ends.ts";

/** A lane's uniform number times a total of weights stays below the total even when rounded to 32 bits. */
const BELOW_ONE = 1 - 2 ** -22;
/** A temperature of 0 among others: all mass on the likeliest. */
const LEAST_TEMPERATURE = 1e-6;
/** Prompts wait for company, so that few prefills happen: steps that free lanes may have idled, as a share of all lanes. */
const PATIENCE = 1 / 4;

/** The lanes of one call, and what their steps need. */
class Decoder {
  private readonly parts: StreamLanes[];
  private readonly waiting: Waiting;
  private readonly chooser: Chooser;
  private readonly adjustments: Adjustments | undefined;
  private readonly ending: Ending;
  private readonly lanes: number;
  /** Steps of free lanes since prompts were last seated. */
  private idled = 0;
  private readonly temperatureAt: (written: number) => number;
  private readonly onToken: DecodeOptions["on_token"];
  /** Feeds of a step by name: the same from step to step, but for what a step puts in. */
  private readonly feeds: Record<string, DeviceTensor>;

  constructor(
    private readonly generator: Generator,
    jobs: readonly Job[],
    decode: DecodeOptions,
  ) {
    const { programs, weights, rotary, tokenizer } = generator;
    const ends = endsOf(tokenizer);
    if (isAdjusted(decode))
      this.adjustments = new Adjustments(programs.runtime, programs.shape.vocabulary, ends, decode);
    this.chooser = new Chooser(programs, decode);
    const marks = marksOf(this.chooser.choosing.penalised);
    this.lanes = Math.min(jobs.length, lanesAtOnce(generator, jobs, decode.lanes, marks));
    this.parts = emptyParts(generator, this.lanes, jobs, marks);
    this.waiting = new Waiting(generator, jobs);
    const stop = new StopTexts(decode.stop ?? [], tokenizer);
    this.ending = { ends, stop, min_tokens: decode.min_tokens ?? 0 };
    this.temperatureAt = decode.temperature_at ?? (() => decode.temperature);
    this.onToken = decode.on_token;
    this.feeds = { ...weights, rotary };
  }

  get done(): boolean {
    return this.waiting.count === 0 && this.parts.every((part) => liveLanes(part) === 0);
  }
  /** Everything that is not finished. */
  rest(): readonly Job[] {
    const live = this.parts.flatMap(({ lanes }) => lanes.filter((job) => job !== undefined));
    return [...live, ...this.waiting.rest()];
  }

  /** One token more in every live lane; returns the jobs that it finishes. */
  step(): Job[] {
    this.prepare();
    const choices = this.run();
    const finished: Job[] = [];
    this.parts.forEach(({ lanes }, stream) => {
      const values = choices[stream]!;
      lanes.forEach((job, lane) => {
        if (job === undefined) return;
        const chosen = this.chooser.chosen(values, lanes.length, lane);
        advance(job, chosen, this.generator.version, this.ending);
        this.onToken?.(job.index, chosen.token);
        if (job.finish === undefined) return;
        finished.push(job);
        lanes[lane] = undefined;
      });
    });
    return finished;
  }
  private prepare(): void {
    const live = this.parts.reduce((sum, part) => sum + liveLanes(part), 0);
    this.idled += this.lanes - live;
    if (this.waiting.count > 0 && (live === 0 || this.idled >= this.lanes * PATIENCE)) {
      this.waiting.seatInto(this.parts);
      this.idled = 0;
    }
    for (const part of this.parts) settle(this.generator, part, this.waiting.count > 0);
  }

  /** Runs the program once; returns each part's choices, field after field. */
  private run(): Float32Array[] {
    const { runtime, shape } = this.generator.programs;
    this.adjustments?.begin(this.lanes);
    const own = this.parts.map((part) => this.laneFeeds(part));
    const table = this.adjustments?.table();
    const { feeds } = this;
    const uploaded: DeviceTensor[] = [];
    own.forEach(({ ints, floats }, stream) => {
      const n = floats.length / 2;
      uploaded.push((feeds[`${stream}/ints`] = runtime.upload(ints, [ints.length / n, n])));
      uploaded.push((feeds[`${stream}/floats`] = runtime.upload(floats, [2, n])));
      for (const [name, cache] of Object.entries(this.parts[stream]!.caches))
        feeds[`${stream}/${name}`] = cache;
      for (const [name, marks] of entriesOf(this.parts[stream]!.marks)) feeds[`${stream}/${name}`] = marks;
    });
    Object.assign(feeds, this.chooser.settings, table && { table });
    try {
      const results = this.chooser.decoding().run(feeds);
      this.parts.forEach((part, stream) => {
        freeAll(part.caches);
        for (const name of cacheNames(shape)) part.caches[name] = take(results, `${stream}/${name}`);
        for (const [name, marks] of entriesOf(part.marks)) {
          marks.free();
          part.marks[name] = take(results, `${stream}/${name}`);
        }
      });
      return own.map((lanes, stream) => this.chooser.read(results, stream, lanes, table));
    } finally {
      for (const tensor of uploaded) tensor.free();
    }
  }
  /** One step's inputs of a part's lanes, as the decoding program takes them. */
  private laneFeeds({ lanes, capacity, marks }: StreamLanes): LaneFeeds & { readonly ints: Int32Array } {
    const { kv_heads, vocabulary } = this.generator.programs.shape;
    const n = lanes.length;
    const own = (2 + kv_heads) * n;
    const adjusted = this.adjustments === undefined ? 0 : n;
    const penalised = entriesOf(marks).length === 0 ? 0 : n;
    const ints = new Int32Array(own + adjusted + penalised);
    const adjustment = ints.subarray(own, own + adjusted);
    const marked = ints.subarray(own + adjusted);
    const floats = new Float32Array(2 * n);
    for (let lane = 0; lane < n; lane++) {
      const job = lanes[lane];
      // A lane without a job writes over its first position.
      const position = job === undefined ? 0 : positionOf(job);
      ints[n + lane] = position;
      for (let head = 0; head < kv_heads; head++) {
        const row = lane * kv_heads + head;
        ints[2 * n + row] = row * capacity + position;
      }
      const token = job === undefined ? 0 : (job.written.last ?? job.given.at(-1)!);
      ints[lane] = token;
      if (penalised > 0) marked[lane] = lane * vocabulary + token;
      floats[n + lane] = 1;
      if (job === undefined) continue;
      const { count } = job.written;
      floats[lane] = Math.min(BELOW_ONE, job.random.at(count));
      floats[n + lane] = 1 / Math.max(LEAST_TEMPERATURE, this.temperatureAt(count));
      if (this.adjustments !== undefined)
        adjustment[lane] = this.adjustments.rowOf(job.grammar, count >= this.ending.min_tokens);
    }
    // What has no job takes any row that is there.
    return { ints, floats, adjustment, marks };
  }

  free(): void {
    this.waiting.free();
    this.chooser.free();
    this.adjustments?.free();
    for (const part of this.parts) {
      freeAll(part.caches);
      freeMarks(part.marks);
    }
  }
}

/** Lets other work of this thread in: a run blocks it. */
const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Samples as they finish, in no particular order. A paused generation hands the rest to `decode.pause.keep` and ends.
 *
 * @throws UserError where a prompt leaves no room in the context, an option makes no sense, or a grammar has no way on;
 * the signal's reason when aborted, and whatever `decode.between` throws.
 */
export async function* generate(
  generator: Generator,
  prompts: readonly Prompt[],
  decode: DecodeOptions,
): AsyncGenerator<Sample> {
  checkDecodeOptions(decode);
  const jobs = jobsOf(generator, prompts, decode);
  for (const job of jobs) if (job.finish !== undefined) yield sampleOf(job);
  const decoder = new Decoder(
    generator,
    jobs.filter((job) => job.finish === undefined),
    decode,
  );
  try {
    while (!decoder.done) {
      decode.signal?.throwIfAborted();
      if (decode.pause?.signal.aborted === true) {
        decode.pause.keep(decoder.rest().map((job) => job.written.partial(job.index)));
        return;
      }
      for (const job of decoder.step()) yield sampleOf(job);
      await breathe();
      await decode.between?.();
    }
  } finally {
    decoder.free();
  }
}

/**
 * Samples of prompts that come while others are written. Those that have come are written to their ends before newer ones
 * begin.
 */
export async function* generateFed(
  generator: Generator,
  feed: PromptFeed,
  decode: DecodeOptions,
): AsyncGenerator<Sample> {
  for (let taken = 0; ;) {
    decode.signal?.throwIfAborted();
    const prompts = feed.take();
    if (prompts.length === 0) {
      if (!feed.open) return;
      await feed.next();
      continue;
    }
    for await (const sample of generate(generator, prompts, decode))
      yield { ...sample, index: taken + sample.index };
    taken += prompts.length;
  }
}
