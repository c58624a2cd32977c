/** Lanes of generation and the KV caches they lie in: seating prompts, dropping what is finished, making room. */
import type { Generator } from "./generator.ts";
import { positionOf, longestOf, type Job, type Prefilled } from "./jobs.ts";
import { CAPACITY_STEP, MOST_LANES, positionBytes } from "../memory.ts";
import { ROUND, roundSize, roundUp } from "../passes/layout.ts";
import { emptyMarks, markBytes, moveMarks, seatMarks, type Marks } from "./marks.ts";
import { take } from "../../core/ops.ts";
import { freeAll, prefixed, type DeviceTensor, type Tensors } from "../devices/runtime.ts";
import { moveSpec, seatSpec } from "../transformer/decode.ts";
import type { Mark } from "../transformer/penalties.ts";
import { parameterCount } from "../transformer/weights.ts";

/** The lanes of one stream and their caches. A lane without a job goes on over its own cache, and it is not read. */
export interface StreamLanes {
  lanes: (Job | undefined)[];
  /** Empty until the first prompts are seated. */
  caches: Record<string, DeviceTensor>;
  /** What penalties read of them. */
  readonly marks: Marks;
  /** Positions that a lane has. */
  capacity: number;
  /** Positions that any job may come to need. */
  readonly most: number;
  /** Steps of lanes that smaller caches would have spared, since the last move. */
  wasted: number;
}

/** Multiplications that take as long as copying a byte of a cache. An estimate: the time is flat around it. */
const PRODUCTS_PER_BYTE = 3;

/** As many lanes as their caches, at full length, leave room for. */
export function lanesAtOnce(
  { programs: { shape }, cache_bytes }: Generator,
  jobs: readonly Job[],
  wanted = MOST_LANES,
  marks: readonly Mark[] = [],
): number {
  const longest = roundUp(
    jobs.reduce((most, job) => Math.max(most, longestOf(job)), 1),
    CAPACITY_STEP,
  );
  const bytes = positionBytes(shape) * longest + markBytes(marks, shape.vocabulary);
  const room = Math.floor(cache_bytes / bytes);
  return Math.max(1, Math.min(MOST_LANES, wanted, room));
}

/** Empty parts, one a stream, with `lanes` lanes together; none without a lane. */
export function emptyParts(
  { programs }: Generator,
  lanes: number,
  jobs: readonly Job[],
  marks: readonly Mark[],
): StreamLanes[] {
  const { streams } = programs.runtime;
  const most = roundUp(
    jobs.reduce((longest, job) => Math.max(longest, longestOf(job)), 1),
    ROUND,
  );
  const each = Math.ceil(lanes / streams);
  return Array.from({ length: streams }, (_, stream) => {
    const own = Math.max(1, Math.min(each, lanes - stream * each));
    return {
      lanes: new Array<Job | undefined>(own).fill(undefined),
      caches: {},
      marks: emptyMarks(programs, marks, own),
      capacity: 0,
      most,
      wasted: 0,
    };
  });
}
export const isOpen = (part: StreamLanes): boolean => part.capacity > 0;

export const liveLanes = (part: StreamLanes): number =>
  part.lanes.reduce((count, job) => count + (job === undefined ? 0 : 1), 0);

/** The positions that a part's next step needs. */
const neededBy = (jobs: readonly (Job | undefined)[]): number =>
  jobs.reduce((most, job) => Math.max(most, job === undefined ? 0 : positionOf(job) + 1), 1);

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
  const size = Math.min(part.lanes.length, roundSize(liveLanes(part)));
  part.wasted += part.lanes.length - size;
  const shrinks =
    !waiting &&
    size < part.lanes.length &&
    (grows || part.wasted >= size * moveCost(generator, part.capacity));
  if (shrinks) shrink(generator, part, size, capacity);
  else if (grows) grow(generator, part, capacity);
}
function shrink(generator: Generator, part: StreamLanes, size: number, capacity: number): void {
  const slots = Array.from(part.lanes.keys());
  const live = slots.filter((slot) => part.lanes[slot] !== undefined);
  const free = slots.filter((slot) => part.lanes[slot] === undefined);
  const chosen = Int32Array.from([...live, ...free.slice(0, size - live.length)]);
  const from = { caches: part.caches, count: part.lanes.length, capacity: part.capacity };
  const caches = moved(generator, from, chosen, capacity);
  moveMarks(generator.programs, part.marks, chosen);
  part.lanes = Array.from(chosen, (slot) => part.lanes[slot]);
  replaceCaches(part, caches, capacity);
}
