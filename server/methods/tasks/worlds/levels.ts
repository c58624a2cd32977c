/** What worlds share whose difficulty is a whole number that a task's data tell. */
import type { z } from "zod";
import type { Random } from "../../../lib/random.ts";
import type { Knob, TaskSource } from "../../../core/slots/tasks.ts";
import type { Task } from "../../../core/task.ts";
import { generated } from "../generated.ts";

interface Levels<Place> {
  readonly env: string;
  readonly name: string;
  readonly place: z.ZodType<Place>;
  readonly levels: readonly number[];
  /** Numbers that tasks can be made from, the difficulty first. */
  readonly box: readonly [Knob, ...Knob[]];
  /** Least and greatest difficulty; default: those of the box. */
  readonly range?: readonly [number, number];
  /** @param at other numbers of the box, where the task is to have them */
  make(level: number, random: Random, at: Readonly<Record<string, number>>): Task | null;
  levelOf(place: Place): number;
}

export const leveled = <Place>({
  levels,
  place,
  box,
  range,
  make,
  levelOf,
  ...named
}: Levels<Place>): TaskSource =>
  generated({
    ...named,
    values: [...new Set(levels)].map(String),
    make: (value, random) => make(Number(value), random, {}),
    box,
    makeAt: (at, random) => make(at[box[0].name] ?? box[0].low, random, at),
    range: range ?? [box[0].low, box[0].high],
    valueOf: ({ data }) => {
      const { success, data: known } = place.safeParse(data);
      return success ? String(levelOf(known)) : undefined;
    },
  });
