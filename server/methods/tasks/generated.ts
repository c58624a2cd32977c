/** What the built-in environments share: a generator of endless tasks becomes a source with a held-out split. */
import { randomStream, type Random } from "../../lib/random.ts";
import type { Task } from "../../core/task.ts";
import type { Knob, TaskPool, TaskSource } from "../../core/slots/tasks.ts";
import type { Saved } from "../../core/basics.ts";
import { splitOf, type Split } from "../../core/split.ts";

/** How often a generator is asked for a task of the wanted split before the source says that it has none. */
const tries = 2_000;

export interface Generator {
  readonly name: string;
  /** What its tasks' ids begin with. */
  readonly env: string;
  /** The difficulties, as written in arm names. */
  readonly values: readonly string[];
  /** null: this draw gave no valid task; another may. */
  make(value: string, random: Random): Task | null;
  valueOf(task: Task): string | undefined;
  /** Numbers that tasks can be made from instead of a value, the difficulty first. */
  readonly box?: readonly Knob[];
  makeAt?(at: Readonly<Record<string, number>>, random: Random): Task | null;
  /** Least and greatest difficulty that `make` takes, whether or not the config names it. */
  readonly range?: readonly [number, number];
  /** The task that a prompt asks; null: none that can be solved. */
  read?(prompt: string, random: Random): Task | null;
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
  const { read, env } = generator;
  return {
    name: generator.name,
    values: generator.values,
    draw,
    vary: (task, by, random) => varied(generator, task, by, random),
    // Nothing of a task that is read depends on chance but which of its solutions is written out.
    ...(read === undefined ? {} : { read: (prompt) => read(prompt, randomStream("read", prompt)) }),
    pool: (size, random) => pooled(draw, generator.values, size, random),
    valueOf: (task) => generator.valueOf(task),
    holdsOut: ({ id, prompt }) => {
      const known = id?.startsWith(`${env}:`) === true ? id : undefined;
      const asked =
        known ?? (prompt === undefined ? undefined : read?.(prompt, randomStream("read", prompt))?.id);
      return asked !== undefined && splitOf(asked) === "evaluate";
    },
    ...(generator.box === undefined ? {} : { box: generator.box }),
    drawAt: (at, split, random) => {
      for (let i = 0; i < tries; i++) {
        const task = generator.makeAt?.(at, random) ?? null;
        if (task !== null && splitOf(task.id) === split) return task;
      }
      return null;
    },
    save: (): Saved => ({ json: null }),
    load: () => undefined,
  };
}

/** A train task `by` difficulties above the given one. */
function varied({ range, valueOf, make }: Generator, task: Task, by: number, random: Random): Task | null {
  const value = Number(valueOf(task)) + by;
  if (range === undefined || !(value >= range[0] && value <= range[1])) return null;
  for (let i = 0; i < tries; i++) {
    const made = make(String(value), random);
    if (made !== null && made.id !== task.id && splitOf(made.id) === "train") return made;
  }
  return null;
}

/** A number of different train tasks, the values in turn; fewer where the values have no more. */
function pooled(draw: TaskSource["draw"], values: readonly string[], size: number, random: Random): TaskPool {
  const tasks = new Map<string, Task>();
  const misses = new Map(values.map((value) => [value, 0]));
  for (let turn = 0; tasks.size < size && misses.size > 0; turn++)
    for (const [value, missed] of misses) {
      if (tasks.size >= size) break;
      const task = draw("train", value, random.fork(value, turn));
      const fresh = task !== null && !tasks.has(task.id);
      if (fresh) tasks.set(task.id, task);
      // Hundreds of repeats in a row: what this value still has is too rare to wait for.
      if (!fresh && missed >= 300) misses.delete(value);
      else misses.set(value, fresh ? 0 : missed + 1);
    }
  const all = [...tasks.values()];
  return { size: all.length, task: (number) => all[number]! };
}

/** A whole number of a box, from the least of some values to the largest of them or `most`. */
export const wholeKnob = (name: string, values: readonly number[], most = Math.max(...values)): Knob => ({
  name,
  low: Math.min(...values),
  high: most,
  whole: true,
});

const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/**
 * `fill` the other way round: what filled the holes of a template, each by a regular expression of its own; null:
 * the text was not made by it. Blanks around the text do not count.
 */
export function unfill(
  template: string,
  text: string,
  forms: Readonly<Record<string, string>>,
): Record<string, string> | null {
  const names: string[] = [];
  const parts = template.trim().split(/\{(\w+)\}/);
  const pattern = parts.map((part, i) => {
    if (i % 2 === 0) return literal(part);
    const form = forms[part];
    if (form === undefined) return literal(`{${part}}`);
    const seen = names.includes(part);
    if (!seen) names.push(part);
    return seen ? `\\k<${part}>` : `(?<${part}>${form})`;
  });
  const found = new RegExp(`^${pattern.join("")}$`).exec(text.trim());
  return found === null ? null : { ...found.groups };
}
