/** What came of a JavaScript program. */
import { z } from "zod";
import { mostOutput, type SandboxFailure, type SandboxProgram, type SandboxResult } from "../sandbox.ts";
import type { JavaScriptRan } from "../messages.ts";

export const javaScriptRan = z.object({
  language: z.literal("javascript"),
  stdout: z.string(),
  stderr: z.string(),
  thrown: z
    .object({ name: z.string(), message: z.string(), stack: z.string(), code: z.number().optional() })
    .optional(),
  flooded: z.boolean(),
  late: z.boolean(),
  took: z.number(),
  seconds: z.number().nonnegative(),
});

export function javaScriptOutcome(ran: JavaScriptRan, program: SandboxProgram): SandboxResult {
  const { failure, told } = outcomeOf(ran, program);
  const { stdout, stderr, seconds } = ran;
  return { stdout, stderr: `${stderr}${told}`, seconds, ...(failure && { failure }) };
}

/** `told`: what belongs to the errors that are printed. */
interface Outcome {
  readonly failure: SandboxFailure | undefined;
  readonly told: string;
}

function outcomeOf(ran: JavaScriptRan, { seconds, memory }: SandboxProgram): Outcome {
  const silently = (failure?: SandboxFailure): Outcome => ({ failure, told: "" });
  if (ran.flooded) return silently({ kind: "output", message: `printed more than ${mostOutput} characters` });
  if (ran.late) return silently({ kind: "timeout", message: `took longer than ${seconds} s` });
  if (ran.thrown === undefined) return silently();
  const { name, message, stack, code } = ran.thrown;
  if (name === "Exit")
    return silently(
      code === 0 ? undefined : { kind: "exception", name, message: `left with ${String(code)}` },
    );
  const line = /program\.js:(\d+)/.exec(stack)?.[1];
  const named = { name, ...(line !== undefined && { line: Number(line) }) };
  // Where nothing is left there may not be enough for the error either.
  const isFull = message === "" && ran.took > 0.7 * memory;
  if (isFull || (name === "InternalError" && message.includes("memory")))
    return silently({ kind: "memory", message: `asked for more than ${memory} MiB`, ...named });
  if (name === "Refused") return silently({ kind: "refused", message: `asked for ${message}`, ...named });
  const failure: SandboxFailure = { kind: "exception", message: `${name}: ${message}`, ...named };
  return { failure, told: `${name}: ${message}\n${stack}` };
}
