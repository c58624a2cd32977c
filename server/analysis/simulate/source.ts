/** The tasks of a simulated world: each is of a level, and a little harder or easier than that. */
import type { StageBody } from "../../core/config/resolved.ts";
import type { SourceOf } from "../../core/slots/curriculum.ts";
import type { JsonObject } from "../../../shared/lib/json.ts";
import type { Random } from "../../lib/random.ts";
import type { Task } from "../../core/task.ts";
import type { TaskSource } from "../../core/slots/tasks.ts";

export const simulatedSource = "simulated";

/** Spread of the tasks of one level, in logits. */
const spread = 0.5;

/** Where a simulated task is. */
interface SimulatedTask {
  readonly level: number;
  readonly extra: number;
}

export const simulatedOf = ({ data }: Task): SimulatedTask => ({
  level: Number(data["level"]),
  extra: Number(data["extra"]),
});

/** What the tasks of a simulation are made like. */
export interface Making {
  readonly levels: number;
  /** Fields of the data that the curriculum reads: it orders by them what is easy and what is hard. */
  readonly fields: readonly string[];
  /** Fields that say the level alone. */
  readonly labels: readonly string[];
  /** 1: they grow with how hard a task is; −1: with how easy. */
  readonly sign: 1 | -1;
}

function make(
  { fields, labels, sign }: Making,
  source: string,
  level: number,
  id: string,
  random: Random,
): Task {
  // The sum of four uniform numbers has variance 1/3: near enough to a bell.
  const bell = random.next() + random.next() + random.next() + random.next() - 2;
  const extra = spread * Math.sqrt(3) * bell;
  const data: JsonObject = Object.fromEntries([
    ...fields.map((field) => [field, sign * (level + extra)] as const),
    ...labels.map((field) => [field, level + 1] as const),
  ]);
  return {
    id,
    source,
    env: simulatedSource,
    // Whoever reads it can tell the level, and not where the task is within it.
    prompt: `A task of level ${"abcdefghijklmnopqrstuvwxyz"[level] ?? level}`,
    data: { ...data, level, extra },
    solution: Array.from({ length: level + 1 }, (_, i) => `step ${i + 1}`).join("\n"),
  };
}

/** Level i is the arm value i + 1; where only some levels are its own, it makes tasks of no others. */
function taskSourceOf(
  making: Making,
  name = simulatedSource,
  own: readonly number[] = Array.from({ length: making.levels }, (_, level) => level),
): TaskSource {
  let drawn = 0;
  const next = (level: number, random: Random): Task =>
    make(making, name, level, `${name}-task-${++drawn}`, random.fork(drawn));
  return {
    name,
    values: own.length === 1 ? [] : own.map((level) => String(level + 1)),
    draw: (_split, value, random) =>
      next(value === undefined ? own[random.integer(own.length)]! : Number(value) - 1, random),
    valueOf: (task) => (own.length === 1 ? undefined : String(simulatedOf(task).level + 1)),
    pool: (size, random) => ({
      size,
      task: (number) =>
        make(making, name, own[number % own.length]!, `${name}-pool-${number}`, random.fork(number)),
    }),
    box: [{ name: "level", low: 0.5, high: making.levels + 0.4999, whole: false }],
    drawAt: (at, _split, random) => next(Math.round(at["level"] ?? 1) - 1, random),
    save: () => ({ json: drawn }),
    load: ({ json }) => {
      drawn = Number(json);
    },
  };
}

/** Fields of a task's data whose numbers parts of the curriculum read. */
const fieldsOf = ({ signal, estimator }: StageBody["curriculum"]): string[] =>
  [signal, estimator].flatMap(({ params }) => (typeof params["field"] === "string" ? [params["field"]] : []));

/** Fields that divide tasks into arms: in a simulation each gives the level, so that an arm is a level. */
const dividing = ({ arms }: StageBody["curriculum"]): string[] =>
  arms.declaration.name === "fields" && Array.isArray(arms.params["fields"])
    ? arms.params["fields"].map(String)
    : [];

/**
 * Simulated tasks divided as the curriculum wants to see them: where each of `tasks` is an arm, a source a level.
 * @param own the levels there are tasks of, from 0; default: all
 */
export function sourcesFor(
  { arms, sampler, ...others }: StageBody["curriculum"],
  levels: number,
  own: readonly number[] = [...Array(levels).keys()],
): SourceOf[] {
  const making: Making = {
    levels,
    fields: fieldsOf({ arms, sampler, ...others }),
    labels: dividing({ arms, sampler, ...others }),
    sign: sampler.params["order"] === "ascending" ? 1 : -1,
  };
  const sources =
    arms.declaration.name === "task"
      ? own.map((level) => taskSourceOf(making, `${simulatedSource}-${level + 1}`, [level]))
      : [taskSourceOf(making, simulatedSource, own)];
  return sources.map((source) => ({ config: { name: source.name, weight: 1 }, source }));
}
