/** Honest programs, right and wrong ones, have the verdict of a judge that they have in a process of their own. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openSandbox } from "../../../../server/lib/sandbox/openSandbox.ts";
import { driven, toldBy } from "../../../../server/methods/reward/code/driver.ts";
import { runTest } from "../../../../server/methods/reward/code/runTest.ts";
import { sandboxProcess } from "../../../support/sandboxProcess.ts";
import { count } from "../../../support/thorough.ts";
import { drawsOf, type Family } from "./honest/families.ts";
import { javaScriptFamilies } from "./honest/javaScript.ts";
import { pythonFamilies } from "./honest/python.ts";

await sandboxProcess();
const sandboxes = { programs: openSandbox(), judges: openSandbox("auto", "judges") };
after(() => Promise.all([sandboxes.programs.close(), sandboxes.judges.close()]));

const limits = { seconds: 60, memory: 256 };

interface Case {
  readonly family: Family;
  readonly code: string;
  readonly test: string;
  readonly setup: string;
  readonly passes: boolean;
}

/** Every family in turn, right and wrong. */
function caseOf(families: readonly Family[], k: number): Case {
  const family = families[k % families.length]!;
  const { right, wrong, test: code, setup = "" } = family.make(drawsOf(k));
  const passes = Math.floor(k / families.length) % 2 === 0;
  return { family, code: passes ? right : wrong, test: code, setup, passes };
}

/** The program and its test in one process. */
async function plainly({ family: { language }, code, test: asserted, setup }: Case): Promise<boolean> {
  const word = "plain ";
  const whole = driven(`${setup}\n${code}`, { kind: "asserted", code: asserted }, language, word);
  const result = await sandboxes.programs.run({ language, code: whole, ...limits });
  return result.failure === undefined && toldBy(result.stdout, word) !== undefined;
}

async function differenceOf(
  one: Case,
): Promise<{ readonly text: string | undefined; readonly within: boolean }> {
  const { family, code, test: asserted, setup, passes } = one;
  const program = { language: family.language, code, start: 0 };
  const [plain, judged] = await Promise.all([
    plainly(one),
    runTest(
      sandboxes,
      program,
      { kind: "asserted", code: asserted },
      { ...limits, lines: false, before: setup },
    ),
  ]);
  const isSame = plain === passes && judged.passed === passes;
  const text = `plain ${plain}, judged ${judged.passed} (${judged.reason ?? ""}), ${passes ? "right" : "wrong"}:\n${code}\n\n${asserted}`;
  return { text: isSame ? undefined : text, within: judged.within !== undefined };
}

async function differences(families: readonly Family[], programs: number): Promise<void> {
  const different: string[] = [];
  let within = 0;
  for (let from = 0; from < programs; from += 20) {
    const cases = Array.from({ length: Math.min(20, programs - from) }, (_, k) => caseOf(families, from + k));
    for (const one of await Promise.all(cases.map(differenceOf))) {
      if (one.text !== undefined) different.push(one.text);
      if (one.within) within++;
    }
  }
  assert.equal(
    different.length,
    0,
    `${different.length} of ${programs} differ:\n\n${different.slice(0, 12).join("\n---\n")}`,
  );
  // Those whose test gives a function of its own: one of four tests of a family.
  assert.ok(
    within <= programs / families.length,
    `${within} of ${programs} tests were graded by the program's own process`,
  );
}

test("honest programs of Python keep their verdicts", () => differences(pythonFamilies, count(60, 3500)));
test("honest programs of JavaScript keep their verdicts", () =>
  differences(javaScriptFamilies, count(54, 1500)));
