/** A method as a hover and an offer tell it: what it does, its formula, its parameters, where it comes from. */
import type { z } from "zod";
import type { Declaration } from "../../core/declaration.ts";
import { isRequired, isSchema } from "../../config/check/values.ts";
import { wordsFor } from "../../config/grammar/words.ts";
import { defaultOf, summaryOf } from "../completion/keys.ts";

/** As Markdown paragraphs. */
export function methodText(method: Declaration): string[] {
  const { name, slot, summary, formula, sources, aliases, status } = method;
  return [
    `**${name}** (${slot.replaceAll("_", " ")}): ${summary}`,
    ...(formula === undefined ? [] : [formulaText(formula)]),
    ...paramsText(method),
    ...(sources.length === 0 ? [] : [`Sources: ${sources.join("; ")}.`]),
    ...(aliases === undefined || aliases.length === 0
      ? []
      : [`Also called ${aliases.map((alias) => `\`${alias}\``).join(", ")}.`]),
    ...(status === "approximate"
      ? ["Approximate: not every part of the source's formula could be confirmed."]
      : []),
  ];
}

/** As code, whose lines wrap: a block of code is cut off where the window next to a list of completions ends. */
const formulaText = (formula: string): string =>
  formula
    .split("\n")
    .map((line) => `\`${line.replaceAll("`", "").trim()}\``)
    .join("  \n");

function paramsText({ params }: Declaration): string[] {
  const lines = Object.entries(params.shape).flatMap(([name, schema]) =>
    isSchema(schema) ? [`- \`${name}\`${paramText(schema)}`] : [],
  );
  return lines.length === 0 ? [] : [`Parameters:\n\n${lines.join("\n")}`];
}

function paramText(schema: z.ZodType): string {
  const summary = summaryOf(schema);
  const needed = isRequired(schema) ? " **Required.**" : defaultOf(schema);
  return `: ${summary === "" ? `${wordsFor(schema)}.` : summary}${needed}`;
}
