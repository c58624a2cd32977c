/** What came of a Python program. It may have written on the harness's descriptor itself: nothing of that is taken on trust. */
import { z } from "zod";
import { mostOutput, type SandboxFailure, type SandboxProgram, type SandboxResult } from "../sandbox.ts";
import { jsonSaid } from "../jsonSaid.ts";
import type { PythonRan } from "../messages.ts";

export const pythonRan = z.object({
  language: z.literal("python"),
  fault: z.string(),
  denied: z.boolean(),
  flooded: z.boolean(),
  asked: z.string(),
  fired: z.boolean(),
  said: z.string(),
  stdout: z.string(),
  stderr: z.string(),
  seconds: z.number().nonnegative(),
});

const line = z.int().nonnegative();
const saidSchema = z.object({
  failure: z
    .object({
      kind: z.enum(["exception", "memory"]),
      name: z.string(),
      message: z.string(),
      line: line.nullable(),
      os: z.boolean().optional(),
    })
    .optional(),
  lines: z.array(line).optional(),
  missed: z.array(line).optional(),
  value: z.string().optional(),
});
type Said = z.output<typeof saidSchema>;

/** silent: it was ended, or left, before the harness could tell; false: what was told is not the harness's. */
type Heard = { readonly kind: "said"; readonly said: Said } | { readonly kind: "silent" | "false" };

export function pythonOutcome(ran: PythonRan, program: SandboxProgram): SandboxResult {
  const heard = heardOf(ran, program);
  const failure = failureOf(ran, heard, program);
  const { lines, missed, value } = heard.kind === "said" ? heard.said : ({} as Said);
  return {
    stdout: ran.stdout,
    stderr: ran.stderr,
    seconds: ran.seconds,
    ...(failure && { failure }),
    ...(lines && { lines }),
    ...(missed && { missed }),
    ...(value !== undefined && { value }),
  };
}

function heardOf({ said, fault }: PythonRan, { code, lines, value }: SandboxProgram): Heard {
  if (said === "") return { kind: "silent" };
  const read = saidSchema.safeParse(jsonSaid(said));
  // The harness tells as its last deed: who leaves after it was told has told it.
  if (!read.success || fault !== "") return { kind: "false" };
  const { lines: ranLines, missed, value: given } = read.data;
  const last = code.split(/\r\n|[\n\r\f]/).length;
  const isOf = (list: readonly number[] | undefined): boolean =>
    list === undefined || (lines === true && list.every((one) => one <= last));
  const isAsked = isOf(ranLines) && isOf(missed) && (given === undefined || value === true);
  return isAsked ? { kind: "said", said: read.data } : { kind: "false" };
}

function failureOf(
  ran: PythonRan,
  heard: Heard,
  { seconds, memory }: SandboxProgram,
): SandboxFailure | undefined {
  const failure = heard.kind === "said" ? heard.said.failure : undefined;
  const at = failure?.line == null ? {} : { line: failure.line };
  if (ran.flooded) return { kind: "output", message: `printed more than ${mostOutput} characters` };
  if (ran.fired) return { kind: "timeout", message: `took longer than ${seconds} s`, ...at };
  const outOfMemory: SandboxFailure = { kind: "memory", message: `asked for more than ${memory} MiB` };
  if (failure !== undefined) {
    const named = { name: failure.name, ...at };
    if (failure.kind === "memory") return { ...outOfMemory, ...named };
    if (failure.message.includes("there are no processes here"))
      return { kind: "refused", message: "asked for a process", ...named };
    if (ran.asked !== "" && failure.os === true)
      return { kind: "refused", message: `asked for ${ran.asked}`, ...named };
    return { kind: "exception", message: failure.message, ...named };
  }
  if (heard.kind === "said") return undefined;
  if (heard.kind === "false")
    return { kind: "exception", message: "wrote on a descriptor that is not its own" };
  return leftOf(ran, outOfMemory);
}

/** It said nothing. */
function leftOf({ fault, denied }: PythonRan, outOfMemory: SandboxFailure): SandboxFailure | undefined {
  const exit = /^exit (-?\d+)$/.exec(fault)?.[1];
  if (exit === "0") return undefined;
  if (denied) return outOfMemory;
  if (exit !== undefined) return { kind: "exception", name: "SystemExit", message: `left with ${exit}` };
  return { kind: "exception", message: fault === "" ? "ended the interpreter" : fault };
}
