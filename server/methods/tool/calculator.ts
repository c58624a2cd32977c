import { z } from "zod";
import { param, tool } from "../../core/declaration.ts";
import { ExpressionError, valueOfExpression } from "./arithmetic.ts";

/** 12 significant digits: what 0.1 + 0.2 has beyond them is rounding. */
const written = (value: number): string => String(Number(value.toPrecision(12)));

function result(expression: unknown): string {
  if (typeof expression !== "string") return "Error: `expression` must be a text.";
  try {
    return written(valueOfExpression(expression.slice(0, 10_000)));
  } catch (error) {
    if (error instanceof ExpressionError) return `Error: ${error.message}.`;
    throw error;
  }
}

export const calculator = tool({
  name: "calculator",
  summary:
    "Computes an arithmetic expression: + - * / % ^, brackets, sqrt, abs, exp, ln, log, sin, cos, tan, floor, ceil, round, min, max, pi, e.",
  sources: ["Toolformer: Language Models Can Teach Themselves to Use Tools"],
  params: z.object({
    name: param(z.string().regex(/^\w+$/).default("calculator"), "What the policy calls it."),
  }),
  create: ({ name }) => ({
    open: async () => [
      {
        name,
        description: "Computes an arithmetic expression.",
        parameters: {
          type: "object",
          properties: { expression: { type: "string", description: "For example (2+3)*4." } },
          required: ["expression"],
        },
        call: async ({ expression }) => result(expression),
      },
    ],
  }),
});
