import { z } from "zod";
import { template } from "../../../core/references.ts";
import { taskSource, param } from "../../../core/declaration.ts";
import { fill } from "../../../core/templates.ts";
import type { Random } from "../../../lib/random.ts";
import type { Task } from "../../../core/task.ts";
import { generated, wholeKnob } from "../generated.ts";
import { stringFunctions } from "./stringFunctions.ts";

const count = stringFunctions.length;

const params = z.object({
  depths: param(
    z.array(z.number().int().min(1).max(8)).min(1).default([1, 2]),
    "How many functions are composed: the difficulties, one arm each.",
  ),
  functions: param(
    z
      .array(
        z
          .number()
          .int()
          .min(0)
          .max(count - 1),
      )
      .min(1)
      .optional(),
    `Which of the functions 0 to ${count - 1} occur; default: all. Another task with others tests functions that were held out.`,
  ),
  definitions: param(
    z.enum(["shown", "hidden"]).default("hidden"),
    "shown: the prompt defines the functions that occur (the stage that teaches them); hidden: the policy must know them.",
  ),
  length: param(z.number().int().min(1).max(20).default(4), "Letters of the argument."),
  longest: param(z.number().int().min(1).max(200).default(24), "Most letters of any value on the way."),
  alphabet: param(
    z
      .string()
      .min(2)
      .regex(/^[a-z]+$/)
      .default("abcdefghijklmnopqrstuvwxyz"),
    "Its letters.",
  ),
  prompt: param(
    template("definitions", "expression").default("{definitions}{expression}="),
    "Template of the prompt: `{definitions}` (a line each, or nothing), `{expression}`.",
  ),
});
type Params = z.output<typeof params>;

const nameOf = (at: number): string => `func_${at}`;

function make(name: string, chosen: Params, depth: number, random: Random): Task | null {
  const usable = chosen.functions ?? stringFunctions.map((_, at) => at);
  const applied = Array.from({ length: depth }, () => usable[random.integer(usable.length)]!);
  const letters = Array.from(
    { length: chosen.length },
    () => chosen.alphabet[random.integer(chosen.alphabet.length)]!,
  );
  const text = letters.join("");
  let value = text;
  for (const at of applied) {
    value = stringFunctions[at]!.apply(value);
    if (value === "" || value.length > chosen.longest) return null;
  }
  const expression = applied.reduce((inner, at) => `${nameOf(at)}(${inner})`, `"${text}"`);
  const shown = [...new Set(applied)]
    .sort((one, other) => one - other)
    .map((at) => `def ${nameOf(at)}(s): return ${stringFunctions[at]!.body}\n`);
  const definitions = chosen.definitions === "shown" ? shown.join("") : "";
  return {
    id: `string_composition:${expression}`,
    source: name,
    env: "string_composition",
    prompt: fill(chosen.prompt, { definitions, expression }),
    answer: value,
    data: { text, functions: applied },
    solution: value,
  };
}

export const stringComposition = taskSource({
  name: "string_composition",
  summary:
    "The value of secret string functions composed. Teach them with `definitions: shown`, train deeper compositions with `hidden`, and test other functions and depths with a second task.",
  formula: "answer = f_d(… f_2(f_1(s)))",
  sources: ["From f(x) and g(x) to f(g(x)): LLMs Learn New Skills in RL by Composing Old Ones"],
  params,
  create: (chosen, context) => {
    const name = context.name ?? "string_composition";
    return generated({
      env: "string_composition",
      name,
      values: [...new Set(chosen.depths)].map(String),
      make: (value, random) => make(name, chosen, Number(value), random),
      box: [wholeKnob("depth", [1], 8), wholeKnob("length", [1], 20)],
      makeAt: ({ depth = 1, length = chosen.length }, random) =>
        make(name, { ...chosen, length }, depth, random),
      range: [1, 8],
      valueOf: ({ data }) =>
        Array.isArray(data["functions"]) ? String(data["functions"].length) : undefined,
    });
  },
});
