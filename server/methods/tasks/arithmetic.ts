import { z } from "zod";
import { template } from "../../core/references.ts";
import { taskSource, param } from "../../core/declaration.ts";
import type { Random } from "../../lib/random.ts";
import type { Task } from "../../core/task.ts";
import { fill } from "../../core/templates.ts";
import { generated, unfill, wholeKnob } from "./generated.ts";

/** What a template may take. */
const places = ["left", "operator", "right"] as const;
const params = z.object({
  digits: param(
    z.array(z.number().int().min(1).max(9)).min(1).default([1, 2]),
    "Digits of the longer operand: the difficulties, one arm each.",
  ),
  operators: param(
    z
      .array(z.enum(["+", "-", "*"]))
      .min(1)
      .default(["+"]),
    "The operations that tasks ask for.",
  ),
  prompt: param(
    template(...places).default("{left}{operator}{right}="),
    "Template of the prompt: `{left}`, `{operator}`, `{right}`.",
  ),
  begin: param(
    template(...places).optional(),
    "Template of the response's beginning: it is prefilled, and the model continues it.",
  ),
});
type Params = z.output<typeof params>;

const apply = {
  "+": (a: number, b: number) => a + b,
  "-": (a: number, b: number) => a - b,
  "*": (a: number, b: number) => a * b,
} as const;

function make(name: string, chosen: Params, digits: number, random: Random): Task {
  const long =
    digits === 1 ? random.integer(10) : 10 ** (digits - 1) + random.integer(9 * 10 ** (digits - 1));
  const short = random.integer(10 ** digits);
  const [left, right] = random.integer(2) === 0 ? [long, short] : [short, long];
  const operator = chosen.operators[random.integer(chosen.operators.length)]!;
  return taskOf(name, chosen, { left, right, operator, digits });
}

/** What is asked: both operands, and the digits of the longer. */
interface Sum {
  readonly left: number;
  readonly right: number;
  readonly operator: Params["operators"][number];
  readonly digits: number;
}

function taskOf(name: string, chosen: Params, { left, right, operator, digits }: Sum): Task {
  const parts = { left: String(left), right: String(right), operator };
  const answer = String(apply[operator](left, right));
  // Swapped operands of + and * are the same task, and must fall on the same side of the split.
  const [first, second] = operator === "-" || left <= right ? [left, right] : [right, left];
  return {
    id: `arithmetic:${first}${operator}${second}`,
    source: name,
    env: "arithmetic",
    prompt: fill(chosen.prompt, parts),
    ...(chosen.begin === undefined ? {} : { begin: fill(chosen.begin, parts) }),
    answer,
    data: { left, right, operator, digits },
    solution: answer,
  };
}

function read(name: string, chosen: Params, prompt: string): Task | null {
  const number = "\\d{1,9}";
  const found = unfill(chosen.prompt, prompt, { left: number, operator: "[-+*]", right: number });
  const operator = chosen.operators.find((one) => one === found?.["operator"]);
  if (found === null || operator === undefined) return null;
  const [left, right] = [Number(found["left"]), Number(found["right"])];
  return taskOf(name, chosen, { left, right, operator, digits: String(Math.max(left, right)).length });
}

export const arithmetic = taskSource({
  name: "arithmetic",
  summary: "Sums, differences or products of whole numbers of a given length.",
  formula: "a ∘ b, the longer of the two with the given number of digits",
  sources: ["Teaching Arithmetic to Small Transformers"],
  params,
  create: (chosen, context) => {
    const name = context.name ?? "arithmetic";
    return generated({
      env: "arithmetic",
      name,
      values: [...new Set(chosen.digits)].map(String),
      make: (value, random) => make(name, chosen, Number(value), random),
      box: [wholeKnob("digits", [1], 9)],
      makeAt: ({ digits = 1 }, random) => make(name, chosen, digits, random),
      range: [1, 9],
      read: (prompt) => read(name, chosen, prompt),
      valueOf: (task) => (typeof task.data["digits"] === "number" ? String(task.data["digits"]) : undefined),
    });
  },
});
