/** One test of one program. */
import { randomUUID } from "node:crypto";
import type { Json } from "../../../../shared/lib/json.ts";
import { jsonSaid } from "../../../lib/sandbox/jsonSaid.ts";
import type { SandboxFailure, SandboxProgram, SandboxResult } from "../../../lib/sandbox/sandbox.ts";
import { asserted } from "./asserted.ts";
import { cutTo } from "./ownProcess.ts";
import { samePrinted, sameReturned } from "./compare.ts";
import { driven, toldBy } from "./driver.ts";
import type { Sandboxes } from "./exchange.ts";
import type { Program } from "./program.ts";
import type { UnitTest } from "./tests.ts";

export interface Limits {
  readonly seconds: number;
  readonly memory: number;
}

export interface Tested {
  readonly passed: boolean;
  /** Why not. */
  readonly reason?: string;
  readonly failure?: SandboxFailure;
  /** Lines of the program that ran, and that could have and did not, where that is known. */
  readonly lines?: readonly number[];
  readonly missed?: readonly number[];
  /** Graded by the program's own process: why the test cannot be judged from outside. */
  readonly within?: string;
}

const short = (text: string): string => cutTo(text, 160);
const quoted = (value: Json): string =>
  short(typeof value === "string" ? value.trim() : JSON.stringify(value));

/** @param before code that the tests need, e.g. imports */
export async function runTest(
  sandboxes: Sandboxes,
  program: Program,
  test: UnitTest,
  limits: Limits & { readonly lines: boolean; readonly before: string },
  signal?: AbortSignal,
): Promise<Tested> {
  const word = `gradus-${randomUUID()} `;
  const shift = limits.before === "" ? 0 : limits.before.split("\n").length;
  const own = shift === 0 ? program.code : `${limits.before}\n${program.code}`;
  const whole: SandboxProgram = {
    language: program.language,
    code: own,
    stdin: test.kind === "printed" ? test.stdin : "",
    seconds: limits.seconds,
    memory: limits.memory,
    lines: limits.lines,
  };
  const { result, reason, within } = await outcome(
    sandboxes,
    whole,
    test,
    { word, setup: limits.before },
    signal,
  );
  const last = shift + program.code.split("\n").length;
  const inside = (lines: readonly number[]): number[] =>
    lines.filter((line) => line > shift && line <= last).map((line) => line - shift);
  const { failure } = result;
  return {
    passed: reason === undefined,
    ...(reason !== undefined && { reason }),
    ...(failure && { failure: movedTo(failure, shift, last) }),
    ...(result.lines && { lines: inside(result.lines) }),
    ...(result.missed && { missed: inside(result.missed) }),
    ...(within !== undefined && { within }),
  };
}

interface Outcome {
  readonly result: SandboxResult;
  readonly reason?: string | undefined;
  readonly within?: string;
}

async function outcome(
  sandboxes: Sandboxes,
  own: SandboxProgram,
  test: UnitTest,
  { word, setup }: { readonly word: string; readonly setup: string },
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  let within: string | undefined;
  if (test.kind === "asserted") {
    const verdict = await asserted(sandboxes, own, { code: test.code, setup, word }, signal);
    if (verdict.kind === "judged") return verdict;
    within = verdict.why;
  }
  const code = test.kind === "printed" ? own.code : driven(own.code, test, own.language, word);
  const result = await sandboxes.programs.run({ ...own, code }, signal);
  const reason = reasonOf(test, result, word);
  return { result, reason, ...(within !== undefined && { within }) };
}

/** The failure with the program's own line, if it has one there. */
function movedTo(failure: SandboxFailure, shift: number, last: number): SandboxFailure {
  const { line, ...rest } = failure;
  return line === undefined || line <= shift || line > last ? rest : { ...rest, line: line - shift };
}

function reasonOf(test: UnitTest, { stdout, failure }: SandboxResult, word: string): string | undefined {
  if (failure !== undefined) return failure.message;
  if (test.kind === "printed")
    return samePrinted(stdout, test.expected)
      ? undefined
      : `printed ${quoted(stdout)}, expected ${quoted(test.expected)}`;
  const told = toldBy(stdout, word);
  if (told === undefined) return "left before its test";
  if (test.kind === "asserted") return undefined;
  const value = jsonSaid(told);
  return value !== undefined && sameReturned(value, test.expected)
    ? undefined
    : `returned ${short(told)}, expected ${quoted(test.expected)}`;
}
