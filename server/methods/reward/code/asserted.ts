/** Test code is run by a judge: what a program returns is compared where the program never was. */
import { z } from "zod";
import type { SandboxFailure, SandboxProgram, SandboxResult } from "../../../lib/sandbox/sandbox.ts";
import { exchange, type Judged, type Sandboxes } from "./exchange.ts";
import { javaScriptJudge } from "./javaScriptJudge.ts";
import { pythonJudge } from "./pythonJudge.ts";

/** Why a test has to run in the program's own process, where it has: decided by the test alone. */
const within =
  /\bredirect_std|\bsys\s*\.\s*(?:stdout|stderr|stdin|modules)\b|\binspect\s*\.|\bglobals\s*\(|\bmock\b|\bpatch\s*\(|\bcapsys\b|\bprocess\s*\.\s*stdout\b|\basync\b|\bawait\b/;

export type Verdict =
  /** The test cannot be judged from outside: it gives the program a function or an object of its own, or looks inside. */
  | { readonly kind: "within" }
  | { readonly kind: "judged"; readonly result: SandboxResult; readonly reason?: string };

/** @param own `setup` and the program's code */
export async function asserted(
  sandboxes: Sandboxes,
  own: SandboxProgram,
  test: { readonly code: string; readonly setup: string; readonly word: string },
  signal?: AbortSignal,
): Promise<Verdict> {
  if (within.test(test.code)) return { kind: "within" };
  const code =
    own.language === "python"
      ? pythonJudge(test.code, test.setup, test.word)
      : javaScriptJudge(test.code, test.word);
  const { language, seconds, memory } = own;
  const judge = { language, code, seconds, memory: Math.max(memory, 128) };
  const judged = await exchange(sandboxes, own, judge, signal);
  if (judged.judge?.stdout.includes(`\n${test.word}cannot cross\n`) === true) return { kind: "within" };
  return verdictOf(judged, test.word);
}

function verdictOf({ program, judge, isUnanswered, error }: Judged, word: string): Verdict {
  if (program.failure !== undefined)
    return { kind: "judged", result: program, reason: program.failure.message };
  if (judge === undefined || isUnanswered)
    return { kind: "judged", result: program, reason: "left before its test" };
  if (judge.failure !== undefined) {
    const failure = failureOf(judge.failure, error);
    return { kind: "judged", result: { ...program, failure }, reason: failure.message };
  }
  if (!judge.stdout.includes(`\n${word}passed\n`))
    return { kind: "judged", result: program, reason: "its test did not come to its end" };
  return { kind: "judged", result: program };
}

const told = z.tuple([z.literal("no"), z.string(), z.string(), z.unknown(), z.int().nullable()], z.unknown());

/** The judge's failure; where it is an error of the program, with the program's line. */
function failureOf(failure: SandboxFailure, error: string | undefined): SandboxFailure {
  const { line: _ofTheTest, ...rest } = failure;
  const said = error === undefined ? undefined : told.safeParse(JSON.parse(error)).data;
  const [, , message, , line] = said ?? [];
  const isTheirs = message !== undefined && line != null && failure.message.includes(message);
  return isTheirs ? { ...rest, line } : rest;
}
