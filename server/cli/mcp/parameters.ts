/** Parameters of a tool: the agent sees their schema, and reads in our words what is wrong with its own. */
import type { StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import { z } from "zod";
import { UserError } from "../../../shared/lib/errors.ts";
import { wordsFor } from "../../config/grammar/words.ts";
import { listed, nearest } from "../../lib/suggest.ts";
import { formatCount } from "../../../shared/lib/format.ts";

/** A path or a name. */
export const named = z
  .string()
  .max(4096)
  .refine((text) => !text.includes("\0"), { error: "has a NUL character" });

/** The SDK shows this schema and passes on what comes: its own refusals are zod's. */
export const shown = (schema: z.ZodObject): StandardSchemaWithJSON<unknown, unknown> => ({
  "~standard": { ...schema["~standard"], validate: (value: unknown) => ({ value }) },
});

/** @throws UserError that names the first parameter that is wrong, and what it may be */
export function parsed<Schema extends z.ZodObject>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value ?? {});
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const known = Object.keys(schema.shape);
  if (issue?.code === "unrecognized_keys") throw unknown(issue.keys[0] ?? "", known);
  const name = String(issue?.path[0] ?? "");
  const own = schema.shape[name] as z.ZodType | undefined;
  const may = own === undefined ? listed(known) : wordsFor(own);
  if (issue?.code === "too_big" && issue.origin === "string")
    throw new UserError(`\`${name}\` is longer than ${formatCount(Number(issue.maximum))} characters.`, {
      code: "usage",
      action: "Give a shorter one.",
    });
  if (issue?.code === "custom")
    throw new UserError(`\`${name}\` ${issue.message}.`, { code: "usage", action: "Leave it out." });
  const isThere = typeof value === "object" && value !== null && name in value;
  throw new UserError(`\`${name}\` ${isThere ? "is not what it may be" : "is missing"}.`, {
    code: "usage",
    action: `Give ${may}.`,
  });
}

function unknown(name: string, known: readonly string[]): UserError {
  const meant = nearest(name, known);
  return new UserError(`There is no parameter \`${name}\`.`, {
    code: "usage",
    action: `${meant === undefined ? "" : `Did you mean \`${meant}\`? `}Parameters: ${known.join(", ")}.`,
  });
}
