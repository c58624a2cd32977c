import { z } from "zod";
import { messageOf } from "../../../../shared/lib/errors.ts";
import { ownProcessComponent } from "../../../../shared/rollouts/criteria.ts";
import { rewardTerm, param } from "../../../core/declaration.ts";
import { refers } from "../../../core/references.ts";
import type { RolloutRecord } from "../../../core/rollouts.ts";
import type { TermValue, TextSpans } from "../../../core/slots/reward.ts";
import type { RewardTerm } from "../../../core/reward.ts";
import { openSandbox } from "../../../lib/sandbox/openSandbox.ts";
import type { Sandboxes } from "./exchange.ts";
import { failure } from "../perRow.ts";
import { cutTo, markedText } from "./ownProcess.ts";
import { lineSpans, programOf, type Program } from "./program.ts";
import { runTest, type Tested } from "./runTest.ts";
import { testsOf, type UnitTest } from "./tests.ts";

const params = z.object({
  field: param(
    refers({ to: "field" }).default("tests"),
    "Field of the task's data with its tests: `{ inputs, outputs }` (with `fn_name`: calls), a list of `{ input, output }`, or assert lines. Without it, the task's answer.",
  ),
  language: param(
    z.enum(["auto", "python", "javascript"]).default("auto"),
    "Language of the program; auto: what its block names, else Python.",
  ),
  program: param(
    z.enum(["last_block", "response"]).default("last_block"),
    "The last fenced block (the whole response where there is none), or always the whole response.",
  ),
  value: param(
    z.enum(["all", "fraction", "ladder", "adaptive"]).default("all"),
    "all: 1 where every test passes; fraction: the share that passes; ladder: 1, −0.3 where a test fails, −0.6 where one ends in an error, −1 where the program is none; adaptive: the ladder, with −0.3 + 1.3 × the share where none ends in an error.",
  ),
  seconds: param(z.number().positive().max(600).default(4), "Seconds that a test may take."),
  memory: param(z.number().int().min(40).max(2048).default(256), "MiB that a test may take."),
  tests: param(z.number().int().min(1).optional(), "Most tests of a task, the first ones; default: all."),
  setup: param(
    z.array(refers({ to: "field" })).default(["test_imports", "test_setup_code"]),
    "Fields of the task's data with code that runs before the program, where the task has them.",
  ),
  lines: param(
    z.boolean().default(false),
    "Record which lines ran as the spans `executed` (Python), which the mask executed_lines reads.",
  ),
});
type Params = z.output<typeof params>;

/** Tests that are shown one by one. */
const mostShown = 32;
const isCompileError = ({ failure }: Tested): boolean =>
  failure?.name === "SyntaxError" || failure?.name === "IndentationError" || failure?.name === "TabError";

function valueOf(kind: Params["value"], done: readonly Tested[], count: number): number {
  const passed = done.filter((one) => one.passed).length;
  const share = passed / count;
  if (kind === "fraction") return share;
  if (share === 1) return 1;
  if (kind === "all") return 0;
  if (done.some(isCompileError)) return -1;
  // A failed assertion is a failed test, not an error of the program.
  const isError = ({ failure }: Tested): boolean =>
    failure !== undefined && failure.name !== "AssertionError";
  if (done.some(isError)) return -0.6;
  return kind === "ladder" ? -0.3 : -0.3 + 1.3 * share;
}

const described = (test: UnitTest): string =>
  test.kind === "printed"
    ? `reads ${JSON.stringify(test.stdin)}`
    : test.kind === "returned"
      ? `${test.name}(${test.args.map((one) => JSON.stringify(one)).join(", ")})`
      : test.code.trim();

function textOf(test: UnitTest, one: Tested | undefined): string {
  const reason = one?.reason === undefined ? "" : `: ${cutTo(one.reason, 360)}`;
  const text = `${cutTo(described(test), 160)}${reason}`;
  return one?.within === undefined ? text : markedText(text, one.within);
}

const criterionOf = (test: UnitTest, one: Tested | undefined, k: number) => ({
  name: `test ${k + 1}`,
  text: textOf(test, one),
  points: 1,
  met: one === undefined ? null : one.passed ? 1 : 0,
});

/**
 * The lines that ran in some test, and that an error points to, as characters of the response. A line without code of its own
 * (a comment, an empty line, an `else:`) goes with the next that has.
 */
function spansOf(program: Program, done: readonly Tested[]): TextSpans {
  const lines = lineSpans(program);
  const errors = done.flatMap(({ failure }) => (failure?.line === undefined ? [] : [failure.line]));
  const spans: Record<string, (readonly [number, number])[]> = {};
  const at = (numbers: Iterable<number>): (readonly [number, number])[] =>
    [...new Set(numbers)]
      .sort((a, b) => a - b)
      .flatMap((line) => (lines[line - 1] ? [lines[line - 1]!] : []));
  if (errors.length > 0) spans["error"] = at(errors);
  const known = done.filter((one) => one.lines !== undefined && one.missed !== undefined);
  if (known.length === 0) return spans;
  const ran = new Set(known.flatMap((one) => one.lines ?? []));
  const missed = new Set(known.flatMap((one) => one.missed ?? []).filter((line) => !ran.has(line)));
  const kept: number[] = [];
  let isKept = true;
  for (let line = lines.length; line >= 1; line--) {
    if (ran.has(line)) isKept = true;
    else if (missed.has(line)) isKept = false;
    if (isKept) kept.push(line);
  }
  spans["executed"] = at(kept);
  return spans;
}

async function judged(
  sandboxes: Sandboxes,
  { task, response }: RolloutRecord,
  options: Params,
  signal: AbortSignal | undefined,
): Promise<TermValue> {
  const found = testsOf(task, options.field);
  if (typeof found === "string") return failure(found);
  const tests = found.slice(0, options.tests);
  const program = programOf(response, options.program, options.language);
  if (program === undefined) {
    const none = {
      name: "program",
      text: `no program in ${options.language === "auto" ? "Python or JavaScript" : options.language}`,
      points: 1,
      met: 0,
    };
    const value = options.value === "ladder" || options.value === "adaptive" ? -1 : 0;
    return { kind: "value", value, criteria: [none], components: { passed: 0, tests: tests.length } };
  }
  const before = options.setup
    .flatMap((name) => task.data[name] ?? [])
    .flat()
    .filter((code) => typeof code === "string" && code !== "")
    .join("\n");
  const limits = { ...options, before, lines: options.lines && program.language === "python" };
  const done = await tested(tests, options.value, (test) =>
    runTest(sandboxes, program, test, limits, signal),
  );
  const passed = done.filter((one) => one.passed).length;
  const within = done.filter((one) => one.within !== undefined).length;
  return {
    kind: "value",
    value: valueOf(options.value, done, tests.length),
    spans: spansOf(program, done),
    criteria: tests.slice(0, mostShown).map((test, k) => criterionOf(test, done[k], k)),
    components: { passed, tests: tests.length, ...(within > 0 && { [ownProcessComponent]: within }) },
  };
}

/** One after the other until one fails, where nothing hangs on how many; else all at once. */
async function tested(
  tests: readonly UnitTest[],
  value: Params["value"],
  run: (test: UnitTest) => Promise<Tested>,
): Promise<readonly Tested[]> {
  if (value !== "all") return Promise.all(tests.map(run));
  const done: Tested[] = [];
  for (const test of tests) {
    const one = await run(test);
    done.push(one);
    if (!one.passed) break;
  }
  return done;
}

export const unitTests = rewardTerm({
  name: "unit_tests",
  aliases: ["prime_code", "code_ladder"],
  summary:
    "The response's program, in Python or JavaScript, passes the task's tests: what it prints for an input, what its function returns, or assert lines. It runs in WebAssembly without files, network or processes. A program that fails, hangs or is none earns the least; the reason is recorded test by test.",
  formula: "r = 1[all k tests pass], or their share p/k; adaptive: −0.3 + 1.3·p/k",
  sources: [
    "StepCoder: Improve Code Generation with Reinforcement Learning from Compiler Feedback",
    "RLTF: Reinforcement Learning from Unit Test Feedback",
    "B-Coder: Value-Based Deep Reinforcement Learning for Program Synthesis",
    "verl",
  ],
  judges: "answer",
  range: ({ value }) => (value === "all" || value === "fraction" ? [0, 1] : [-1, 1]),
  params,
  create: (options, { sandbox = "auto" }): RewardTerm => {
    let sandboxes: Sandboxes | undefined;
    return {
      score: (batch, { signal }) => {
        const own = (sandboxes ??= {
          programs: openSandbox(sandbox),
          judges: openSandbox(sandbox, "judges"),
        });
        return Promise.all(
          batch.records.map((record) =>
            judged(own, record, options, signal).catch((error: unknown) => {
              if (signal?.aborted === true) throw error;
              return failure(`the sandbox failed: ${messageOf(error)}`);
            }),
          ),
        );
      },
      async close() {
        await Promise.all([sandboxes?.programs.close(), sandboxes?.judges.close()]);
        sandboxes = undefined;
      },
    };
  },
});
