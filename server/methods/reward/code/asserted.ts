/** Test code is run by a judge: what a program returns is compared where the program never was. */
import { z } from "zod";
import { jsonSaid } from "../../../lib/sandbox/jsonSaid.ts";
import type { SandboxFailure, SandboxProgram, SandboxResult } from "../../../lib/sandbox/sandbox.ts";
import { toldBy } from "./driver.ts";
import { exchange, type Judged, type Sandboxes } from "./exchange.ts";
import { javaScriptJudge } from "./javaScriptJudge.ts";
import { insideWord, looksInside } from "./ownProcess.ts";
import { pythonJudge } from "./pythonJudge.ts";

export type Verdict =
  /** The test cannot be judged from outside. */
  | { readonly kind: "within"; readonly why: string }
  | { readonly kind: "judged"; readonly result: SandboxResult; readonly reason?: string };

/** @param own `setup` and the program's code */
export async function asserted(
  sandboxes: Sandboxes,
  own: SandboxProgram,
  test: { readonly code: string; readonly setup: string; readonly word: string },
  signal?: AbortSignal,
): Promise<Verdict> {
  const word = insideWord(test.code, own.language);
  if (word !== undefined) return { kind: "within", why: looksInside(word) };
  const code =
    own.language === "python"
      ? pythonJudge(test.code, test.setup, test.word)
      : javaScriptJudge(test.code, test.word);
  const { language, seconds, memory } = own;
  const judge = { language, code, seconds, memory: Math.max(memory, 128) };
  const judged = await exchange(sandboxes, own, judge, signal);
  const given = /^cannot cross (.*)$/s.exec(toldBy(judged.judge?.stdout ?? "", test.word) ?? "")?.[1];
  if (given !== undefined) return { kind: "within", why: `gives the program ${given}` };
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
  const said = error === undefined ? undefined : told.safeParse(jsonSaid(error)).data;
  const [, , message, , line] = said ?? [];
  const isTheirs = message !== undefined && line != null && failure.message.includes(message);
  return isTheirs ? { ...rest, line } : rest;
}
