import { z } from "zod";
import { UserError } from "../../../../shared/lib/errors.ts";
import { estimator, param } from "../../../core/declaration.ts";
import { refers } from "../../../core/references.ts";
import type { Task } from "../../../core/task.ts";
import { Column } from "../column.ts";
import { numberIn } from "../fields.ts";
import type { ArmSet } from "../../../core/slots/arms.ts";
import type { Estimator } from "../../../core/slots/curriculum.ts";

type By = "field" | "value" | "prompt_length" | "solution_length" | "steps";

const steps = (text: string): number => text.split("\n").filter((line) => line.trim() !== "").length;

function numberOf(task: Task, by: By, field: string | undefined): number | undefined {
  const { prompt, solution } = task;
  if (by === "prompt_length") return [...prompt].length;
  if (by === "field") return field === undefined ? undefined : numberIn(task, field);
  if (solution === undefined) return undefined;
  return by === "steps" ? steps(solution) : [...solution].length;
}

/** Reads each arm's number once, when the arm is added. */
class Fixed implements Estimator {
  private readonly values = new Column(Number.NaN);
  private known = 0;

  constructor(
    private readonly by: By,
    private readonly field: string | undefined,
  ) {}

  addArms(arms: ArmSet): void {
    for (; this.known < arms.size; this.known++) this.values.set(this.known, this.read(arms, this.known));
  }
  private read(arms: ArmSet, arm: number): number {
    const task = arms.task?.(arm);
    // Reading an arm's name makes and keeps it, so it is read only where needed.
    const value =
      this.by === "value"
        ? Number(arms.name(arm).split("/").at(-1))
        : task && numberOf(task, this.by, this.field);
    if (value !== undefined && Number.isFinite(value)) return value;
    const what =
      this.by === "field"
        ? `number in its field ${this.field ?? "(`field` names none)"}`
        : this.by.replace("_", " ");
    throw new UserError(`estimator: the arm ${arms.name(arm)} has no ${what}`, {
      code: "estimator-fixed",
      action:
        task === undefined
          ? "Take `arms: prompt`, whose arms are tasks, or `by: value` where the arms' values are numbers."
          : "Name a field that is a number in every line, or choose another `by`.",
    });
  }

  observe(): void {
    // The number is fixed.
  }
  estimate(arm: number): number {
    return this.values.get(arm);
  }
  save(): { readonly json: null } {
    return { json: null };
  }
  load(): void {
    // The numbers are read from the tasks again.
  }
}

export const fixed = estimator({
  name: "static",
  aliases: ["label"],
  summary: "A number that every arm has from the start: a field of its task, a length, or its own value.",
  formula:
    "Q = task.data[field] | characters of the prompt or solution | its lines | the number after the arm's last `/`",
  sources: [
    "Angles Don't Lie: Unlocking Training-Efficient RL Through the Model's Own Signals",
    "Kimi k1.5: Scaling Reinforcement Learning with LLMs",
  ],
  gives: ["estimate"],
  failing: () => "even",
  params: z.object({
    by: param(
      z.enum(["field", "value", "prompt_length", "solution_length", "steps"]).default("value"),
      "Where the number comes from; all but `value` need `arms: prompt`.",
    ),
    field: param(
      refers({ to: "field" }).optional(),
      "With `by: field`: which, e.g. a pass rate measured elsewhere.",
    ),
  }),
  create: ({ by, field }) => new Fixed(by, field),
});
