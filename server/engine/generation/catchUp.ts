/** Lanes that go on from what they hold read what has come since: the answers of tools, the next message. */
import type { Generator } from "./generator.ts";
import { inputOf, isLive, positionOf, unreadOf, type Job } from "./jobs.ts";
import { isOpen, type StreamLanes } from "./lanes.ts";
import { seatMarks } from "./marks.ts";
import { take } from "../../core/ops.ts";
import { freeAll, type DeviceTensor } from "../devices/runtime.ts";
import { ROUND, roundSize, roundUp } from "../passes/layout.ts";
import { cacheNames } from "../transformer/decode.ts";
import { extendSpec } from "../transformer/extend.ts";

/** Tokens of one run at most in a stream, repeated ones included. */
const RUN_TOKENS = 1024;
/** Tokens of a lane in one run at most: what a token attends to takes room for every token. */
const LANE_TOKENS = 256;

/** What one run reads into a part: lanes and, of each, the first position and how many tokens. */
interface Reading {
  readonly lanes: readonly number[];
  readonly length: number;
}

/** Reads into every lane what its job was given and the lane does not hold yet, but for the last token. */
export function catchUp(generator: Generator, parts: readonly StreamLanes[]): void {
  if (!parts.every(isOpen)) return;
  for (;;) {
    const readings = parts.map(readingOf);
    if (readings.every(({ lanes }) => lanes.length === 0)) return;
    extend(generator, parts, readings);
  }
}

/** The lanes with most to read, as many as one run takes. */
function readingOf({ lanes }: StreamLanes): Reading {
  const behind = lanes
    .flatMap((job, lane) => (isLive(job) && unreadOf(job) > 0 ? [{ lane, unread: unreadOf(job) }] : []))
    .sort((a, b) => b.unread - a.unread);
  const length = roundUp(Math.min(LANE_TOKENS, behind[0]?.unread ?? 1), ROUND);
  const count = Math.max(1, Math.floor(RUN_TOKENS / length));
  return { lanes: behind.slice(0, count).map(({ lane }) => lane), length };
}

function extend(generator: Generator, parts: readonly StreamLanes[], readings: readonly Reading[]): void {
  const { programs, weights, rotary } = generator;
  const { runtime, shape } = programs;
  const uploaded: Record<string, DeviceTensor> = {};
  const feeds: Record<string, DeviceTensor> = { ...weights, rotary };
  parts.forEach((part, stream) => {
    const { ints, slots } = intsOf(part, readings[stream]!, shape.kv_heads);
    const n = ints.length / (2 + shape.kv_heads);
    uploaded[`${stream}/ints`] = runtime.upload(ints, [ints.length / n, n]);
    uploaded[`${stream}/slots`] = runtime.upload(slots, [slots.length]);
    uploaded[`${stream}/count`] = runtime.upload(Int32Array.of(part.lanes.length), []);
    for (const [name, cache] of Object.entries(part.caches)) feeds[`${stream}/${name}`] = cache;
  });
  try {
    const program = programs.get("extend", () => extendSpec(shape, runtime.streams));
    const results = program.run({ ...feeds, ...uploaded });
    parts.forEach((part, stream) => {
      freeAll(part.caches);
      for (const name of cacheNames(shape)) part.caches[name] = take(results, `${stream}/${name}`);
    });
  } finally {
    freeAll(uploaded);
  }
  parts.forEach((part, stream) => {
    const { lanes, length } = readings[stream]!;
    const jobs = lanes.map((lane) => part.lanes[lane]!);
    for (const job of jobs) job.cached += Math.min(length, unreadOf(job));
    seatMarks(programs, part.marks, Int32Array.from(lanes), jobs);
  });
}

/**
 * Tokens, positions and cache rows. A lane with fewer tokens repeats its last, and the first lane takes the place of those
 * that round the number up; a part with nothing to read reads the next input of a lane once more.
 */
function intsOf(
  { lanes, capacity }: StreamLanes,
  { lanes: chosen, length }: Reading,
  kvHeads: number,
): { ints: Int32Array; slots: Int32Array } {
  const some = roundSize(Math.max(1, chosen.length));
  const slots = Int32Array.from({ length: some }, (_, row) => chosen[row] ?? chosen[0] ?? 0);
  const n = some * length;
  const ints = new Int32Array((2 + kvHeads) * n);
  slots.forEach((slot, row) => {
    const job = lanes[slot];
    for (let at = 0; at < length; at++) {
      const [token, position] = job === undefined ? [0, 0] : readAt(job, at);
      const column = row * length + at;
      ints[column] = token;
      ints[n + column] = position;
      for (let head = 0; head < kvHeads; head++)
        ints[2 * n + column * kvHeads + head] = (slot * kvHeads + head) * capacity + position;
    }
  });
  return { ints, slots };
}
/** The token that a lane reads at a place of the run, and its position. */
function readAt(job: Job, at: number): [number, number] {
  const unread = isLive(job) ? unreadOf(job) : 0;
  if (unread === 0) return [inputOf(job), positionOf(job)];
  const position = job.cached + Math.min(at, unread - 1);
  return [job.given[position]!, position];
}
