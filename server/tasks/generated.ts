/** What the built-in environments share: a generator of endless tasks becomes a source with a held-out split. */
import type { Random, Saved, Task, TaskSource } from "../seams.ts";
import { splitOf, type Split } from "./split.ts";

/** How often a generator is asked for a task of the wanted split before the source says that it has none. */
const tries = 2_000;

export interface Generator {
  readonly name: string;
  /** The difficulties, as written in arm names. */
  readonly values: readonly string[];
  /** null: this draw gave no valid task; another may. */
  make(value: string, random: Random): Task | null;
  valueOf(task: Task): string | undefined;
}

/** A source without state: what it draws is a function of the random stream it is given. */
export function generated(generator: Generator): TaskSource {
  const draw = (split: Split, wanted: string | undefined, random: Random): Task | null => {
    if (wanted !== undefined && !generator.values.includes(wanted)) return null;
    for (let i = 0; i < tries; i++) {
      const value = wanted ?? generator.values[random.integer(generator.values.length)];
      const task = value === undefined ? null : generator.make(value, random);
      if (task !== null && splitOf(task.id) === split) return task;
    }
    return null;
  };
  return {
    name: generator.name,
    values: generator.values,
    draw,
    valueOf: (task) => generator.valueOf(task),
    save: (): Saved => ({ json: null }),
    load: () => undefined,
  };
}

/** Fills `{key}` places of a template. Unknown keys stay as they are written. */
export const fill = (template: string, values: Readonly<Record<string, string>>): string =>
  template.replace(/\{(\w+)\}/g, (whole, key: string) => values[key] ?? whole);
