import { z } from "zod";
import { UserError } from "../../../../shared/lib/errors.ts";
import { valueAt } from "../../../core/schedule.ts";
import { arms, param } from "../../../core/declaration.ts";
import { refers } from "../../../core/references.ts";
import type { Random } from "../../../lib/random.ts";
import type { Task } from "../../../core/task.ts";
import type { TaskPool } from "../../../core/slots/tasks.ts";
import type { Arm, Clock } from "../../../core/basics.ts";
import { NamedArms } from "../armSet.ts";
import { fieldOf } from "../fields.ts";
import type { Division, SourceOf } from "../../../core/slots/curriculum.ts";
import { poolOf, poolSize } from "./byPrompt.ts";

interface Part extends SourceOf {
  readonly pool: TaskPool;
  /** Numbers of the pool's tasks, by arm. */
  readonly members: ReadonlyMap<number, readonly number[]>;
}

/** `<task>/<first field's value>/<second's>/…`; undefined for a task without one of them. */
function nameIn(task: Task, fields: readonly string[]): Arm | undefined {
  const values = fields.map((field) => fieldOf(task, field));
  if (values.includes(undefined)) return undefined;
  const texts = values.map((value) => (typeof value === "string" ? value : JSON.stringify(value)));
  return [task.source, ...texts].join("/");
}

/** @throws UserError for a task without one of the fields */
function nameOf(task: Task, fields: readonly string[]): Arm {
  const name = nameIn(task, fields);
  if (name !== undefined) return name;
  const field = fields.find((one) => fieldOf(task, one) === undefined);
  throw new UserError(`a task of ${task.source} has no field ${field}`, {
    code: "arms-fields",
    action: `It has ${Object.keys(task.data).join(", ") || "none"}: name some of these, or add the field to every line.`,
  });
}

class FieldDivision implements Division {
  readonly arms = new NamedArms([]);
  private readonly parts: readonly Part[];

  constructor(
    sources: readonly (SourceOf & { readonly pool: TaskPool })[],
    private readonly fields: readonly string[],
  ) {
    this.parts = sources.map((one) => ({ ...one, members: this.membersOf(one.pool) }));
  }

  private membersOf(pool: TaskPool): Map<number, number[]> {
    const members = new Map<number, number[]>();
    for (let number = 0; number < pool.size; number++) {
      const arm = this.arms.add(nameOf(pool.task(number), this.fields));
      const own = members.get(arm);
      if (own === undefined) members.set(arm, [number]);
      else own.push(number);
    }
    return members;
  }

  get families(): readonly Arm[] {
    return this.arms.names;
  }
  familyOf(task: Task): Arm {
    return nameIn(task, this.fields) ?? task.source;
  }
  armOf(task: Task): number {
    const name = nameIn(task, this.fields);
    return name === undefined ? -1 : this.arms.find(name);
  }
  /** An arm's name begins with its source's: it has one part. */
  private partOf(arm: number): Part {
    return this.parts.find(({ members }) => members.has(arm))!;
  }
  prior(arm: number, clock: Clock): number {
    return valueAt(this.partOf(arm).config.weight, clock);
  }
  draw(arm: number, random: Random): Task {
    const { pool, members } = this.partOf(arm);
    const own = members.get(arm)!;
    return pool.task(own[random.integer(own.length)]!);
  }
}

export const byFields = arms({
  name: "fields",
  aliases: ["product"],
  summary: "One arm per combination of values that some fields of the tasks have: `<task>/<value>/<value>`.",
  sources: ["Self-Evolving Curriculum for LLM Reasoning"],
  params: z.object({
    fields: param(
      z.array(refers({ to: "field" }).min(1)).min(1),
      "Fields of the tasks' data, e.g. difficulty and kind.",
    ),
    pool: poolSize,
  }),
  create:
    ({ fields, pool: size }, { random }) =>
    (sources) =>
      new FieldDivision(
        sources.map((one) => ({ ...one, pool: poolOf(one, size, random) })),
        fields,
      ),
});
