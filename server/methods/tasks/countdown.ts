import { z } from "zod";
import { template } from "../../core/references.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { taskSource, param } from "../../core/declaration.ts";
import type { Random } from "../../lib/random.ts";
import type { Task } from "../../core/task.ts";
import { eachExpression, operators, write, type Operator } from "./countdownExpressions.ts";
import { fill } from "../../core/templates.ts";
import { generated, unfill, wholeKnob } from "./generated.ts";

const params = z.object({
  numbers: param(
    z.array(z.number().int().min(2).max(6)).min(1).default([3, 4]),
    "How many numbers a task gives: the difficulties, one arm each.",
  ),
  low: param(z.number().int().min(1).default(1), "Smallest number."),
  high: param(z.number().int().min(1).default(12), "Largest number."),
  operators: param(
    z.array(z.enum(operators)).min(1).default(["+", "-", "*"]),
    "Operators that a solution may need.",
  ),
  limit: param(z.number().int().min(2).default(100), "Targets are whole numbers from 1 to below this."),
  prompt: param(
    template("numbers", "target").default("{numbers}={target}:"),
    "Template of the prompt: `{numbers}` (separated by spaces) and `{target}`.",
  ),
});
type Params = z.output<typeof params>;

interface Way {
  readonly order: readonly number[];
  readonly signs: readonly Operator[];
}

/** Expressions by the target they reach. */
function solutions(
  numbers: readonly number[],
  { operators: allowed, limit }: Params,
  random: Random,
): Map<number, Way[]> {
  const found = new Map<number, Way[]>();
  eachExpression(numbers, allowed, random, (value, order, signs) => {
    if (!(value >= 1 && value < limit)) return;
    const known = found.get(value);
    if (known === undefined) found.set(value, [{ order, signs }]);
    else known.push({ order, signs });
  });
  return found;
}

const most = 6;

function make(name: string, chosen: Params, count: number, random: Random): Task | null {
  const numbers = Array.from(
    { length: count },
    () => chosen.low + random.integer(chosen.high - chosen.low + 1),
  );
  const reached = solutions(numbers, chosen, random);
  const targets = [...reached.keys()].sort((a, b) => a - b);
  const target = targets.length === 0 ? undefined : targets[random.integer(targets.length)];
  return target === undefined ? null : taskOf(name, chosen, { numbers, target }, reached, random);
}

/** The task that asks for a target, where it can be reached. */
function taskOf(
  name: string,
  chosen: Params,
  { numbers, target }: { readonly numbers: number[]; readonly target: number },
  reached: ReadonlyMap<number, Way[]>,
  random: Random,
): Task | null {
  if (!reached.has(target)) return null;
  const texts = [...new Set(reached.get(target)!.map(({ order, signs }) => write(order, signs)))];
  return {
    id: `countdown:${[...numbers].sort((a, b) => a - b).join(",")}=${target}`,
    source: name,
    env: "countdown",
    prompt: fill(chosen.prompt, { numbers: numbers.join(" "), target: String(target) }),
    data: { numbers, target },
    solution: texts[random.integer(texts.length)]!,
  };
}

/** A prompt of this template, its numbers and target within the parameters, and solvable. */
function read(name: string, chosen: Params, prompt: string, random: Random): Task | null {
  const found = unfill(chosen.prompt, prompt, { numbers: "\\d+(?: +\\d+)*", target: "\\d+" });
  if (found === null) return null;
  const numbers = (found["numbers"] ?? "").split(/ +/).map(Number);
  const target = Number(found["target"]);
  const fits = numbers.every((number) => number >= chosen.low && number <= chosen.high);
  if (!fits || numbers.length < 2 || numbers.length > most) return null;
  return taskOf(name, chosen, { numbers, target }, solutions(numbers, chosen, random), random);
}

export const countdown = taskSource({
  name: "countdown",
  aliases: ["points_24"],
  summary: "Reach a target using each of the given numbers once. Every task is solvable without brackets.",
  formula: "numbers ~ U{low … high}; target ~ U{values of all flat expressions} ∩ [1, limit)",
  sources: ["TinyZero", "Stream of Search (SoS): Learning to Search in Language"],
  params,
  create: (chosen, context) => {
    if (chosen.high < chosen.low)
      throw new UserError(`countdown: high (${chosen.high}) is below low (${chosen.low})`, {
        action: "Make `high` at least `low`.",
      });
    const name = context.name ?? "countdown";
    return generated({
      env: "countdown",
      name,
      values: [...new Set(chosen.numbers)].map(String),
      make: (value, random) => make(name, chosen, Number(value), random),
      box: [
        wholeKnob("numbers", [2], 6),
        wholeKnob("high", [chosen.low], Math.max(chosen.high, 100)),
        wholeKnob("limit", [2], Math.max(chosen.limit, 1000)),
      ],
      makeAt: ({ numbers = 2, high = chosen.high, limit = chosen.limit }, random) =>
        make(name, { ...chosen, high, limit }, numbers, random),
      range: [2, most],
      read: (prompt, random) => read(name, chosen, prompt, random),
      valueOf: (task) =>
        Array.isArray(task.data["numbers"]) ? String(task.data["numbers"].length) : undefined,
    });
  },
});
