/** Lanes of generation and the KV caches they lie in: seating prompts, dropping what is finished, making room. */
import type { Generator } from "./generator.ts";
import { isLive, positionOf, longestOf, tokensOf, type Job, type Prefilled } from "./jobs.ts";
import { CAPACITY_STEP, MOST_LANES, positionBytes } from "../memory.ts";
import { ROUND, roundSize, roundUp } from "../passes/layout.ts";
import { emptyMarks, markBytes, moveMarks, seatMarks, type Marks } from "./marks.ts";
import { take } from "../../core/ops.ts";
import { freeAll, prefixed, type DeviceTensor, type Tensors } from "../devices/runtime.ts";
import { moveSpec, seatSpec } from "../transformer/decode.ts";
import type { Mark } from "../transformer/penalties.ts";
import { parameterCount } from "../transformer/weights.ts";

/**
 * The lanes of one stream and their caches. A lane without a job goes on over its own cache, and it is not read. One whose job
 * has finished is parked: what its caches hold stays as it is for a prompt that goes on from there.
 */
export interface StreamLanes {
  lanes: (Job | undefined)[];
  /** Empty until the first prompts are seated. */
  caches: Record<string, DeviceTensor>;
  /** What penalties read of them. */
  readonly marks: Marks;
  /** Positions that a lane has. */
  capacity: number;
  /** Positions that any job may come to need. */
  most: number;
  /** Steps of lanes that smaller caches would have spared, since the last move. */
  wasted: number;
}

/** Multiplications that take as long as copying a byte of a cache. An estimate: the time is flat around it. */
const PRODUCTS_PER_BYTE = 3;

/**
 * What reading a token of a prompt costs, in steps of a lane, as a parked lane is given up by. Measured about a quarter; less,
 * because most prompts that follow a sample follow it soon or never.
 */
const READ_COST = 1 / 8;

/** The positions that jobs may come to need, and what is kept of each. */
export interface Demand {
  readonly longest: number;
  readonly marks: readonly Mark[];
}
export const longestOfAll = (jobs: readonly Job[]): number =>
  jobs.reduce((most, job) => Math.max(most, longestOf(job)), 1);

/** As many lanes as their caches, at full length, leave room for. */
export function lanesAtOnce(
  { programs: { shape }, cache_bytes }: Generator,
  { longest, marks }: Demand,
  wanted = MOST_LANES,
): number {
  const bytes = positionBytes(shape) * roundUp(longest, CAPACITY_STEP) + markBytes(marks, shape.vocabulary);
  const room = Math.floor(cache_bytes / bytes);
  return Math.max(1, Math.min(MOST_LANES, wanted, room));
}

/** Of so many lanes, those of one stream; every stream has one. */
function shareOf(lanes: number, stream: number, streams: number): number {
  const each = Math.ceil(lanes / streams);
  return Math.max(1, Math.min(each, lanes - stream * each));
}

/** Parts without a job, one a stream. */
export const emptyParts = ({ programs }: Generator, marks: readonly Mark[]): StreamLanes[] =>
  Array.from({ length: programs.runtime.streams }, () => ({
    lanes: [undefined],
    caches: {},
    marks: emptyMarks(programs, marks, 1),
    capacity: 0,
    most: 0,
    wasted: 0,
  }));
export const isOpen = (part: StreamLanes): boolean => part.capacity > 0;

export const liveLanes = (part: StreamLanes): number =>
  part.lanes.reduce((count, job) => count + (isLive(job) ? 1 : 0), 0);
/** Live and parked. */
export const takenLanes = (part: StreamLanes): number =>
  part.lanes.reduce((count, job) => count + (job === undefined ? 0 : 1), 0);

/** The parked lane of a sample, if it is kept. */
export function parkedLane(
  parts: readonly StreamLanes[],
  sample: number,
): { readonly part: StreamLanes; readonly lane: number; readonly job: Job } | undefined {
  for (const part of parts) {
    const lane = part.lanes.findIndex((job) => job?.index === sample && job.finish !== undefined);
    if (lane >= 0) return { part, lane, job: part.lanes[lane]! };
  }
  return undefined;
}
/** Gives up parked lanes, of all or of those that have cost more steps than reading their tokens again would. */
export function releaseParked(part: StreamLanes, all: boolean): void {
  part.lanes.forEach((job, lane) => {
    if (job === undefined || isLive(job)) return;
    if (all || job.parked > READ_COST * tokensOf(job)) part.lanes[lane] = undefined;
  });
}
/** Gives up so many parked lanes, the longest parked first. */
function releaseOldest(parts: readonly StreamLanes[], count: number): void {
  const parked = parts
    .flatMap(({ lanes }) => lanes.map((job, lane) => ({ lanes, lane, job })))
    .flatMap(({ lanes, lane, job }) => (job === undefined || isLive(job) ? [] : [{ lanes, lane, job }]))
    .sort((a, b) => b.job.parked - a.job.parked || a.job.index - b.job.index);
  for (const { lanes, lane } of parked.slice(0, count)) lanes[lane] = undefined;
}

/**
 * Makes free lanes for `wanted` jobs, with `most` lanes in all: further ones, then those of parked jobs. A part with more
 * than it may have drops them.
 */
export function makeRoom(
  generator: Generator,
  parts: readonly StreamLanes[],
  wanted: number,
  most: number,
): void {
  const lanes = Math.min(most, wanted + parts.reduce((sum, part) => sum + takenLanes(part), 0));
  parts.forEach((part, stream) => {
    const bound = shareOf(most, stream, parts.length);
    const size = Math.min(bound, roundSize(shareOf(lanes, stream, parts.length)));
    if (part.lanes.length > bound) {
      releaseParked(part, true);
      resize(generator, part, Math.max(bound, liveLanes(part)), part.capacity);
    } else if (part.lanes.length < size) resize(generator, part, size, part.capacity);
  });
  const free = parts.reduce((sum, part) => sum + part.lanes.length - takenLanes(part), 0);
  if (wanted > free) releaseOldest(parts, wanted - free);
}
/** Lets the caches of a part without any job go. */
export const close = (part: StreamLanes): void => replaceCaches(part, {}, 0);

/** The positions that a part's next step needs, and those that its jobs still have to read. */
const neededBy = (jobs: readonly (Job | undefined)[]): number =>
  jobs.reduce((most, job) => {
    if (job === undefined) return most;
    return Math.max(most, positionOf(job) + 1, job.given.length);
  }, 1);

/** A capacity that holds `needed` positions, grown by a quarter at least so that few moves happen, if as much may be used. */
function roomFor(needed: number, { capacity, most }: StreamLanes): number {
  if (needed <= capacity) return capacity;
  const ample = roundUp(Math.max(needed, capacity * 1.25), CAPACITY_STEP);
  return Math.max(roundUp(needed, ROUND), Math.min(ample, most));
}

/** Caches of a part, or of prompts. */
interface Caches {
  readonly caches: Tensors;
  readonly count: number;
  readonly capacity: number;
  /** Prompts stay for others. */
  readonly stay?: true;
}
/**
 * New caches whose lane i is lane `chosen[i]` of the old ones, with room for `capacity` positions. One is made after
 * the other, and the old one let go: all of them are never there twice.
 */
function moved(
  { programs }: Generator,
  from: Caches,
  chosen: Int32Array,
  capacity: number,
): Record<string, DeviceTensor> {
  const { runtime, shape } = programs;
  const feeds = {
    lanes: runtime.upload(chosen, [chosen.length]),
    count: runtime.upload(Int32Array.of(from.count), []),
    extra: runtime.upload(Int32Array.of(capacity - from.capacity), []),
  };
  const made: Record<string, DeviceTensor> = {};
  try {
    const program = programs.get("move", () => moveSpec(shape));
    for (const [name, cache] of Object.entries(from.caches)) {
      made[name] = take(program.run({ cache, ...feeds }), "moved");
      if (from.stay !== true) cache.free();
    }
    return made;
  } catch (error) {
    freeAll(made);
    throw error;
  } finally {
    freeAll(feeds);
  }
}

function replaceCaches(part: StreamLanes, caches: Record<string, DeviceTensor>, capacity: number): void {
  freeAll(part.caches);
  part.caches = caches;
  part.capacity = capacity;
  part.wasted = 0;
}

/** Takes jobs, whose prompts lie in `prefilled`, into free lanes of a part. */
export function seat(
  generator: Generator,
  part: StreamLanes,
  jobs: readonly Job[],
  prefilled: Prefilled,
): void {
  const free = part.lanes.flatMap((job, slot) => (job === undefined ? [slot] : []));
  const slots = Int32Array.from(jobs, (job, number) => {
    const slot = free[number]!;
    part.lanes[slot] = job;
    return slot;
  });
  const rows = Int32Array.from(jobs, (job) => prefilled.rows.get(job.key)!);
  for (const job of jobs) job.cached = job.given.length - 1;
  seatMarks(generator.programs, part.marks, slots, jobs);
  const capacity = roomFor(Math.max(neededBy(jobs), prefilled.length), part);
  if (!isOpen(part)) {
    const chosen = new Int32Array(part.lanes.length);
    slots.forEach((slot, number) => (chosen[slot] = rows[number]!));
    const { caches, count, length } = prefilled;
    const from: Caches = { caches, count, capacity: length, stay: true };
    replaceCaches(part, moved(generator, from, chosen, capacity), capacity);
    return;
  }
  if (capacity > part.capacity) grow(generator, part, capacity);
  write(generator, part, slots, rows, prefilled);
}

/** Copies prompts into lanes, in place. */
function write(
  { programs }: Generator,
  part: StreamLanes,
  slots: Int32Array,
  rows: Int32Array,
  prefilled: Prefilled,
): void {
  const { runtime, shape } = programs;
  const feeds = {
    slots: runtime.upload(slots, [slots.length]),
    chosen: runtime.upload(rows, [rows.length]),
    count: runtime.upload(Int32Array.of(part.lanes.length), []),
    prompts: runtime.upload(Int32Array.of(prefilled.count), []),
    extra: runtime.upload(Int32Array.of(part.capacity - prefilled.length), []),
  };
  try {
    const caches = programs
      .get("seat", () => seatSpec(shape))
      .run({
        ...part.caches,
        ...prefixed("p/", prefilled.caches),
        ...feeds,
      });
    replaceCaches(part, caches, part.capacity);
  } finally {
    freeAll(feeds);
  }
}

function grow(generator: Generator, part: StreamLanes, capacity: number): void {
  const every = Int32Array.from(part.lanes.keys());
  const from = { caches: part.caches, count: part.lanes.length, capacity: part.capacity };
  replaceCaches(part, moved(generator, from, every, capacity), capacity);
}

/** What moving a lane costs, in steps of a lane. */
const moveCost = ({ programs: { shape } }: Generator, capacity: number): number =>
  (PRODUCTS_PER_BYTE * 2 * capacity * positionBytes(shape)) / parameterCount(shape);

/**
 * Makes room for the next position and, where nothing waits for their lanes, drops finished ones: once going on with
 * them has cost as much as the move. That is at most twice what knowing all lengths would cost.
 */
export function settle(generator: Generator, part: StreamLanes, waiting: boolean): void {
  const capacity = roomFor(neededBy(part.lanes), part);
  const grows = capacity > part.capacity;
  // Every new size costs the preparation of its kernels, so lanes shrink over few sizes.
  const size = Math.min(part.lanes.length, roundSize(takenLanes(part)));
  part.wasted += part.lanes.length - size;
  const shrinks =
    !waiting &&
    size < part.lanes.length &&
    (grows || part.wasted >= size * moveCost(generator, part.capacity));
  if (shrinks) resize(generator, part, size, capacity);
  else if (grows) grow(generator, part, capacity);
}
/** So many lanes: those with a job, then free ones. */
function resize(generator: Generator, part: StreamLanes, size: number, capacity: number): void {
  const slots = Array.from(part.lanes.keys());
  const taken = slots.filter((slot) => part.lanes[slot] !== undefined);
  const free = slots.filter((slot) => part.lanes[slot] === undefined);
  const kept = [...taken, ...free].slice(0, size);
  // What further lanes hold is not read: copies of the first.
  const chosen = Int32Array.from({ length: size }, (_, lane) => kept[lane] ?? 0);
  const from = { caches: part.caches, count: part.lanes.length, capacity: part.capacity };
  const caches = isOpen(part) ? moved(generator, from, chosen, capacity) : {};
  moveMarks(generator.programs, part.marks, chosen);
  part.lanes = Array.from({ length: size }, (_, lane) =>
    lane < kept.length ? part.lanes[kept[lane]!] : undefined,
  );
  replaceCaches(part, caches, capacity);
}
