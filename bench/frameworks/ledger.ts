/** What `gradus validate` says of the examples of public trainers: one line a file, kept in ledger.jsonl. */
import { z } from "zod";

const hash = z.string().regex(/^[0-9a-f]{40}$/);

/** Whether an error is right: `true` names the line of source that refuses; `false` is a defect of a rule; `open` is not judged yet. */
export const proofSchema = z.discriminatedUnion("state", [
  z.strictObject({
    state: z.literal("true"),
    repository: z.string(),
    commit: hash,
    path: z.string(),
    line: z.int().positive(),
    why: z.string().min(20),
  }),
  z.strictObject({ state: z.literal("false"), why: z.string().min(20) }),
  z.strictObject({ state: z.literal("open") }),
]);

export const errorSchema = z.strictObject({
  rule: z.string(),
  key: z.string(),
  line: z.int().positive(),
  proof: proofSchema,
});

export const fileSchema = z.strictObject({
  repository: z.string(),
  commit: hash,
  path: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  kind: z.enum(["verl", "trl", "openrlhf"]),
  errors: z.array(errorSchema),
  warnings: z.record(z.string(), z.int().positive()),
});

/** How many files of a repository were looked at, and how many of them are of programs that are not known. */
export const countSchema = z.strictObject({
  repository: z.string(),
  commit: hash,
  files: z.int().nonnegative(),
  unknown: z.int().nonnegative(),
});

export type JudgedError = z.output<typeof errorSchema>;
export type JudgedFile = Omit<z.output<typeof fileSchema>, "repository" | "commit" | "kind"> & {
  readonly kind: "verl" | "trl" | "openrlhf";
};
export type Line = z.output<typeof fileSchema> | z.output<typeof countSchema>;

export const parseLedger = (text: string): Line[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => z.union([fileSchema, countSchema]).parse(JSON.parse(line)));

export const isFile = (line: Line): line is z.output<typeof fileSchema> => "path" in line;

export const written = (lines: readonly Line[]): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join("");

const nameOf = ({ rule, key, line }: JudgedError): string => `${rule} ${key} ${line}`;

/** Judged again with what was found out about the same errors of the same file before. */
export function withProofs(file: z.output<typeof fileSchema>, before: readonly Line[]): typeof file {
  const known = before
    .filter(isFile)
    .find(
      ({ repository, path, sha256 }) =>
        repository === file.repository && path === file.path && sha256 === file.sha256,
    );
  const proofs = new Map(known?.errors.map((error) => [nameOf(error), error.proof]));
  return {
    ...file,
    errors: file.errors.map((error) => ({ ...error, proof: proofs.get(nameOf(error)) ?? error.proof })),
  };
}
