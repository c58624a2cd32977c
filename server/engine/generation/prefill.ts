/** The caches of prompts, computed once for all that share one, and kept until the last of them has its lane. */
import type { Prefilled, Job } from "./jobs.ts";
import type { Generator } from "./generator.ts";
import { isOpen, seat, type StreamLanes } from "./lanes.ts";
import { positionBytes } from "../memory.ts";
import { ROUND, roundSize, roundUp } from "../passes/layout.ts";
import { freeAll, under } from "../devices/runtime.ts";
import { prefillSpec } from "../transformer/decode.ts";

/** Tokens of one prefill at most, padding included, in a stream. */
const PREFILL_TOKENS = 4096;
/** Of the caches' bytes, what prompts that wait for further lanes may hold. */
const KEPT_SHARE = 1 / 8;

/** A stream's jobs of one prefill. */
interface Plan {
  readonly jobs: Job[];
  readonly distinct: Map<string, Job>;
  length: number;
}
/** All prefilled tokens but the last, which is the first decoding step's input. */
const cachedTokens = (job: Job): number => Math.max(1, job.given.length - 1);

/** Jobs that wait for a lane, in order. */
export class Waiting {
  private jobs: Job[] = [];
  private next = 0;
  /** How many wait with each key. */
  private readonly wanted = new Map<string, number>();
  private kept: Prefilled[] = [];

  constructor(private readonly generator: Generator) {}

  add(jobs: readonly Job[]): void {
    this.jobs = [...this.rest(), ...jobs];
    this.next = 0;
    for (const { key } of jobs) this.wanted.set(key, (this.wanted.get(key) ?? 0) + 1);
  }
  drop(jobs: readonly Job[]): void {
    const left = this.rest().filter((job) => !jobs.includes(job));
    this.take(this.rest().filter((job) => jobs.includes(job)));
    this.jobs = left;
    this.next = 0;
  }
  get count(): number {
    return this.jobs.length - this.next;
  }
  rest(): readonly Job[] {
    return this.jobs.slice(this.next);
  }

  /** Fills free lanes of the parts while any job waits. */
  seatInto(parts: readonly StreamLanes[]): void {
    while (this.count > 0 && parts.some((part) => part.lanes.includes(undefined))) {
      this.seatKnown(parts);
      this.seatNew(parts);
    }
    this.forget();
  }
  private take(jobs: readonly Job[]): void {
    for (const { key } of jobs) {
      const left = this.wanted.get(key)! - 1;
      if (left > 0) this.wanted.set(key, left);
      else this.wanted.delete(key);
    }
  }
  /** The next jobs as far as one kept set of prompts has them all. */
  private seatKnown(parts: readonly StreamLanes[]): void {
    for (const part of parts) {
      const prefilled = this.kept.find(({ rows }) => this.count > 0 && rows.has(this.jobs[this.next]!.key));
      if (prefilled === undefined) return;
      let free = part.lanes.filter((job) => job === undefined).length;
      const jobs: Job[] = [];
      while (free-- > 0 && this.count > 0 && prefilled.rows.has(this.jobs[this.next]!.key))
        jobs.push(this.jobs[this.next++]!);
      if (jobs.length === 0) continue;
      this.take(jobs);
      seat(this.generator, part, jobs, prefilled);
    }
  }
  /** The next jobs of every part, their prompts prefilled side by side. */
  private seatNew(parts: readonly StreamLanes[]): void {
    const plans = parts.map((part) => this.plan(part));
    if (plans.every(({ jobs }) => jobs.length === 0)) return;
    const prefilled = this.prefill(plans);
    plans.forEach(({ jobs }, stream) => {
      const part = parts[stream]!;
      // A part without a job gets its caches all the same: every stream takes part in every step.
      if (jobs.length > 0 || !isOpen(part)) seat(this.generator, part, jobs, prefilled[stream]!);
    });
    this.kept.push(...prefilled);
  }
  private plan(part: StreamLanes): Plan {
    const plan: Plan = { jobs: [], distinct: new Map(), length: ROUND };
    let free = part.lanes.filter((job) => job === undefined).length;
    for (; free > 0 && this.count > 0; free--) {
      const job = this.jobs[this.next]!;
      if (!plan.distinct.has(job.key)) {
        if (this.kept.some(({ rows }) => rows.has(job.key))) break;
        const length = Math.max(plan.length, roundUp(cachedTokens(job), ROUND));
        const full = roundSize(plan.distinct.size + 1) * length > PREFILL_TOKENS;
        if (full && plan.distinct.size > 0) break;
        plan.distinct.set(job.key, job);
        plan.length = length;
      }
      plan.jobs.push(job);
      this.next += 1;
    }
    this.take(plan.jobs);
    return plan;
  }
  private prefill(plans: readonly Plan[]): Prefilled[] {
    const { programs, weights, rotary, tokenizer } = this.generator;
    const { shape, runtime } = programs;
    const sizes = plans.map(({ distinct }) => roundSize(distinct.size));
    const feeds = Object.fromEntries(
      plans.map(({ distinct, length }, stream) => {
        const ids = new Int32Array(sizes[stream]! * length).fill(tokenizer.pad);
        [...distinct.values()].forEach(({ given }, row) => ids.set(given.subarray(0, -1), row * length));
        return [`${stream}/ids`, runtime.upload(ids, [sizes[stream]!, length])];
      }),
    );
    const program = programs.get("prefill", () => prefillSpec(shape, runtime.streams));
    const results = program.run({ ...weights, rotary, ...feeds });
    freeAll(feeds);
    return plans.map(({ distinct, length }, stream) => ({
      caches: under(results, `${stream}/`),
      count: sizes[stream]!,
      length,
      rows: new Map([...distinct.keys()].map((key, row) => [key, row])),
    }));
  }

  /** Frees the prompts that nothing waits for any more, and the oldest where they hold too much. */
  private forget(): void {
    const bytes = ({ count, length }: Prefilled): number =>
      count * length * positionBytes(this.generator.programs.shape);
    const wanted = this.kept.filter(({ rows }) => [...rows.keys()].some((key) => this.wanted.has(key)));
    let held = wanted.reduce((sum, prefilled) => sum + bytes(prefilled), 0);
    while (held > KEPT_SHARE * this.generator.cache_bytes && wanted.length > 0)
      held -= bytes(wanted.shift()!);
    for (const prefilled of this.kept) if (!wanted.includes(prefilled)) freeAll(prefilled.caches);
    this.kept = wanted;
  }
  free(): void {
    for (const { caches } of this.kept) freeAll(caches);
    this.kept = [];
  }
}
