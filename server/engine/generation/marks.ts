/** What lanes have been given and have written, as penalties read it: started with a job, moved with its lane. */
import type { Job } from "./jobs.ts";
import type { Programs } from "../passes/programs.ts";
import { take } from "../../core/ops.ts";
import { freeAll, type DeviceTensor } from "../devices/runtime.ts";
import { moveMarksSpec, seatMarksSpec, type Mark } from "../transformer/penalties.ts";

/** By their names; none where nothing is penalised. */
export type Marks = Partial<Record<Mark, DeviceTensor>>;

/** Bytes of a lane's. */
export const markBytes = (marks: readonly Mark[], vocabulary: number): number =>
  4 * vocabulary * marks.length;

export const emptyMarks = ({ runtime, shape }: Programs, names: readonly Mark[], lanes: number): Marks =>
  Object.fromEntries(
    names.map((name) => [
      name,
      runtime.upload(new Float32Array(lanes * shape.vocabulary), [lanes * shape.vocabulary, 1]),
    ]),
  );

/**
 * A job's marks as it begins, by token. Its lane marks every token that it reads, so the counts of those it was given and
 * has not read yet (the last one at least) begin one short.
 */
function beginning(mark: Mark, { given, base, cached }: Job): Map<number, number> {
  if (mark === "seen") return new Map(Array.from(given, (token) => [token, 1]));
  const counts = new Map<number, number>();
  const add = (token: number, by: number): void => void counts.set(token, (counts.get(token) ?? 0) + by);
  for (const token of given.subarray(base)) add(token, 1);
  for (const token of given.subarray(cached)) add(token, -1);
  return counts;
}

/** Begins the lanes `slots` with the jobs. */
export function seatMarks(programs: Programs, marks: Marks, slots: Int32Array, jobs: readonly Job[]): void {
  if (jobs.length === 0) return;
  const { runtime, shape } = programs;
  const { vocabulary } = shape;
  for (const [name, held] of entriesOf(marks)) {
    const initial = jobs.flatMap((job, number) =>
      [...beginning(name, job)].map(
        ([token, value]) => [slots[number]! * vocabulary + token, value] as const,
      ),
    );
    const feeds = {
      slots: runtime.upload(slots, [slots.length]),
      at: runtime.upload(
        Int32Array.from(initial, ([at]) => at),
        [initial.length],
      ),
      values: runtime.upload(
        Float32Array.from(initial, ([, value]) => value),
        [initial.length, 1],
      ),
    };
    const program = programs.get("seat marks", () => seatMarksSpec(vocabulary));
    replace(marks, name, program.run({ marks: held, ...feeds }));
    freeAll(feeds);
  }
}

/** Lane i becomes what lane `chosen[i]` was. */
export function moveMarks(programs: Programs, marks: Marks, chosen: Int32Array): void {
  const { runtime, shape } = programs;
  for (const [name, held] of entriesOf(marks)) {
    const lanes = runtime.upload(chosen, [chosen.length]);
    const program = programs.get("move marks", () => moveMarksSpec(shape.vocabulary));
    replace(marks, name, program.run({ marks: held, lanes }));
    lanes.free();
  }
}

export function entriesOf(marks: Marks): [Mark, DeviceTensor][] {
  const { seen, counts } = marks;
  return [
    ...(seen === undefined ? [] : [["seen", seen] satisfies [Mark, DeviceTensor]]),
    ...(counts === undefined ? [] : [["counts", counts] satisfies [Mark, DeviceTensor]]),
  ];
}
function replace(marks: Marks, name: Mark, results: Record<string, DeviceTensor>): void {
  marks[name]?.free();
  marks[name] = take(results, "marks");
}
export function freeMarks(marks: Marks): void {
  for (const [, held] of entriesOf(marks)) held.free();
}
