/** The lanes of one generation, and what their steps need. */
import type { DecodeOptions, Prompt, PromptFeed } from "../../core/policy.ts";
import { Adjustments, isAdjusted } from "./adjustments.ts";
import { catchUp } from "./catchUp.ts";
import { Chooser, type LaneFeeds } from "./chooser.ts";
import {
  advance,
  heldOf,
  inputOf,
  isLive,
  jobOf,
  positionOf,
  textOf,
  tokensOf,
  unreadOf,
  type Ending,
  type Job,
} from "./jobs.ts";
import type { Generator } from "./generator.ts";
import {
  close,
  emptyParts,
  lanesAtOnce,
  liveLanes,
  longestOfAll,
  makeRoom,
  parkedLane,
  releaseParked,
  settle,
  takenLanes,
  type StreamLanes,
} from "./lanes.ts";
import { entriesOf, freeMarks, seatMarks } from "./marks.ts";
import { Waiting } from "./prefill.ts";
import { take } from "../../core/ops.ts";
import { freeAll, type DeviceTensor } from "../devices/runtime.ts";
import { StopTexts } from "./stopTexts.ts";
import { cacheNames } from "../transformer/decode.ts";
import { marksOf, type Mark } from "../transformer/penalties.ts";
import { endsOf } from "../../core/rows/ends.ts";
import { MOST_LANES } from "../memory.ts";
import { roundUp, ROUND } from "../passes/layout.ts";

/** A lane's uniform number times a total of weights stays below the total even when rounded to 32 bits. */
const BELOW_ONE = 1 - 2 ** -22;
/** A temperature of 0 among others: all mass on the likeliest. */
const LEAST_TEMPERATURE = 1e-6;
/** Prompts wait for company, so that few prefills happen: steps that free lanes may have idled, as a share of all lanes. */
const PATIENCE = 1 / 4;
/** Lanes read what they have not read yet together once it is this share of all lanes; before, token by token in their steps. */
const UNREAD_SHARE = 1 / 2;

/** Stop texts that are known apart; beyond, all are made again. */
const MOST_STOPS = 64;

export class Decoder {
  private readonly parts: StreamLanes[];
  private readonly waiting: Waiting;
  private chooser: Chooser;
  private readonly adjustments: Adjustments | undefined;
  private readonly ending: Ending;
  private readonly stops = new Map<string, StopTexts>();
  private readonly partials;
  private readonly marks: readonly Mark[];
  /** Whether prompts have temperatures of their own. */
  private varied = false;
  /** Whether prompts have signals of their own. */
  private droppable = false;
  /** Prompts taken so far. */
  private taken = 0;
  /** Most lanes: as their caches leave room for, and no more than prompts that may come. */
  private most = 1;
  /** Steps of free lanes while prompts waited, since some were last seated. */
  private idled = 0;
  /** What is added to the logits of this step's lanes. */
  private shifts: ReadonlyMap<Job, Float32Array> = new Map();
  private readonly onToken: DecodeOptions["on_token"];
  /** Feeds of a step by name: the same from step to step, but for what a step puts in. */
  private readonly feeds: Record<string, DeviceTensor>;

  constructor(
    private readonly generator: Generator,
    private readonly feed: PromptFeed,
    private readonly decode: DecodeOptions,
  ) {
    const { programs, weights, rotary, tokenizer } = generator;
    const ends = endsOf(tokenizer);
    if (isAdjusted(decode))
      this.adjustments = new Adjustments(programs.runtime, programs.shape.vocabulary, ends, decode);
    this.chooser = new Chooser(programs, decode);
    this.marks = marksOf(this.chooser.choosing.penalised);
    this.parts = emptyParts(generator, this.marks);
    this.waiting = new Waiting(generator);
    this.ending = { ends, min_tokens: decode.min_tokens ?? 0 };
    this.partials = new Map(decode.resume?.map((partial) => [partial.index, partial]));
    this.onToken = decode.on_token;
    this.feeds = { ...weights, rotary };
  }

  get done(): boolean {
    return this.waiting.count === 0 && this.live === 0;
  }
  private get live(): number {
    return this.parts.reduce((sum, part) => sum + liveLanes(part), 0);
  }
  /** Everything that is not finished. */
  rest(): readonly Job[] {
    return [...this.parts.flatMap(({ lanes }) => lanes.filter(isLive)), ...this.waiting.rest()];
  }

  /** Takes the prompts that have come; returns the jobs that are whole already. */
  accept(): Job[] {
    const last = !this.feed.open;
    const prompts = this.feed.take();
    const jobs = prompts.map((prompt) => this.jobOf(prompt));
    this.droppable ||= prompts.some((prompt) => prompt.signal !== undefined);
    if (jobs.length > 0) {
      this.vary(prompts);
      this.waiting.add(jobs.filter((job) => job.finish === undefined && !this.goesOn(job)));
      this.measure(last);
    }
    if (last) for (const part of this.parts) releaseParked(part, true);
    return jobs.filter((job) => job.finish !== undefined);
  }
  private jobOf(prompt: Prompt): Job {
    const index = this.taken++;
    const stop = this.stopOf(prompt.stop ?? this.decode.stop ?? []);
    return jobOf(this.generator, prompt, index, this.decode, stop, this.partials.get(index));
  }
  private stopOf(texts: readonly string[]): StopTexts {
    const key = JSON.stringify(texts);
    const known = this.stops.get(key) ?? new StopTexts(texts, this.generator.tokenizer);
    if (this.stops.size > MOST_STOPS) this.stops.clear();
    this.stops.set(key, known);
    return known;
  }
  /** The first prompt with a temperature of its own changes what chooses. */
  private vary(prompts: readonly Prompt[]): void {
    const { decode } = this;
    const own = ({ temperature }: Prompt): boolean =>
      temperature !== undefined &&
      (temperature !== decode.temperature || decode.temperature_at !== undefined);
    if (this.varied || !prompts.some(own)) return;
    this.varied = true;
    this.chooser.free();
    this.chooser = new Chooser(this.generator.programs, decode, true);
  }
  /** Seats a job in the lane of the sample that it follows, if that is still there. */
  private goesOn(job: Job): boolean {
    const found = job.after === undefined ? undefined : parkedLane(this.parts, job.after);
    if (found === undefined) return false;
    job.cached = heldOf(found.job, job);
    found.part.lanes[found.lane] = job;
    seatMarks(this.generator.programs, found.part.marks, Int32Array.of(found.lane), [job]);
    return true;
  }
  private measure(last: boolean): void {
    const jobs = this.rest();
    const longest = longestOfAll(jobs);
    const wanted = Math.min(
      this.decode.lanes ?? MOST_LANES,
      this.feed.most ?? MOST_LANES,
      last ? Math.max(1, jobs.length) : MOST_LANES,
    );
    this.most = lanesAtOnce(this.generator, { longest, marks: this.marks }, wanted);
    for (const part of this.parts) part.most = roundUp(longest, ROUND);
  }

  /** Seats what waits, and asks what is added to the logits of the next step. */
  async begin(): Promise<void> {
    this.prepare();
    const { logits_shift: shiftOf } = this.decode;
    if (shiftOf === undefined) return;
    const jobs = this.parts
      .flatMap(({ lanes }) => lanes)
      .filter((job): job is Job => isLive(job) && positionOf(job) + 1 === tokensOf(job));
    const shifts = jobs.length === 0 ? [] : await shiftOf(jobs.map(textOf));
    this.shifts = new Map(jobs.map((job, i) => [job, shifts[i]!]));
  }
  /** One token more in every live lane; returns the jobs that it finishes. */
  step(): Job[] {
    const choices = this.run();
    const finished: Job[] = [];
    this.parts.forEach(({ lanes }, stream) => {
      const values = choices[stream]!;
      lanes.forEach((job, lane) => {
        if (job === undefined) return;
        job.cached = positionOf(job) + 1;
        if (!isLive(job)) job.parked += 1;
        else if (job.cached === tokensOf(job)) this.advance(job, values, lanes.length, lane);
        if (isLive(job) || job.parked > 0) return;
        finished.push(job);
        if (!this.feed.open) lanes[lane] = undefined;
      });
    });
    return finished;
  }
  private advance(job: Job, values: Float32Array, lanes: number, lane: number): void {
    const chosen = this.chooser.chosen(values, lanes, lane);
    const logpSampled = job.temperature === 0 ? 0 : chosen.logpSampled;
    advance(job, { ...chosen, logpSampled }, this.generator.version, this.ending);
    this.onToken?.(job.index, chosen.token, chosen.logp);
  }
  /** Jobs that nobody waits for any more, as they are. */
  dropped(): Job[] {
    if (!this.droppable) return [];
    const dropped = this.rest().filter(({ signal }) => signal?.aborted === true);
    for (const job of dropped) job.finish = "length";
    this.waiting.drop(dropped);
    for (const { lanes } of this.parts)
      lanes.forEach((job, lane) => {
        if (job !== undefined && dropped.includes(job)) lanes[lane] = undefined;
      });
    return dropped;
  }
  private prepare(): void {
    const { live } = this;
    if (this.waiting.count > 0) {
      this.idled += Math.max(0, this.most - live);
      if (live === 0 || this.idled >= this.most * PATIENCE) {
        makeRoom(this.generator, this.parts, this.waiting.count, this.most);
        this.waiting.seatInto(this.parts);
        this.idled = 0;
      }
    }
    for (const part of this.parts) {
      releaseParked(part, false);
      settle(this.generator, part, this.waiting.count > 0);
    }
    const lanes = this.parts.flatMap((part) => part.lanes);
    const unread = lanes.reduce((sum, job) => sum + (isLive(job) ? unreadOf(job) : 0), 0);
    if (unread > lanes.length * UNREAD_SHARE) catchUp(this.generator, this.parts);
  }
  /** Before a wait: caches that nothing goes on from take no room. */
  closeEmpty(): void {
    if (this.parts.every((part) => takenLanes(part) === 0)) for (const part of this.parts) close(part);
  }

  /** Runs the program once; returns each part's choices, field after field. */
  private run(): Float32Array[] {
    const { runtime, shape } = this.generator.programs;
    const shifts = this.decode.logits_shift !== undefined;
    const all = this.parts.reduce((sum, part) => sum + part.lanes.length, 0);
    this.adjustments?.begin(shifts ? 2 * all : all, shifts);
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
      const token = job === undefined ? 0 : inputOf(job);
      ints[lane] = token;
      if (penalised > 0) marked[lane] = lane * vocabulary + token;
      floats[n + lane] = 1;
      if (!isLive(job)) continue;
      const { count } = job.written;
      floats[lane] = Math.min(BELOW_ONE, job.random.at(count));
      floats[n + lane] = 1 / Math.max(LEAST_TEMPERATURE, this.temperatureOf(job));
      if (this.adjustments !== undefined) {
        const shift = this.shifts.get(job);
        const row = this.adjustments.rowOf(job.grammar, count >= this.ending.min_tokens);
        adjustment[lane] = shift === undefined ? row : this.adjustments.shiftedRow(row, shift);
      }
    }
    // What has no live job takes any row that is there.
    return { ints, floats, adjustment, marks };
  }
  private temperatureOf({ temperature, written }: Job): number {
    return temperature ?? this.decode.temperature_at?.(written.count) ?? this.decode.temperature;
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
