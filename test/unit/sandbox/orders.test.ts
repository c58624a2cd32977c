/** A program's verdict is its own: the same in whatever order programs run, and after programs that call whatever they reach. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openSandbox } from "../../../server/lib/sandbox/openSandbox.ts";
import type { SandboxLanguage, SandboxResult } from "../../../server/lib/sandbox/sandbox.ts";
import { sandboxProcess } from "../../support/sandboxProcess.ts";
import { count } from "../../support/thorough.ts";
import { attempts as javaScript } from "./attempts/javascript.ts";
import { fuzz } from "./attempts/fuzz.ts";
import { honest } from "./attempts/honest.ts";
import { attempts as python } from "./attempts/python.ts";

await sandboxProcess();
const sandbox = openSandbox();
after(() => sandbox.close());

interface Program {
  readonly language: SandboxLanguage;
  readonly code: string;
}
const run = ({ language, code }: Program, seconds = 10): Promise<SandboxResult> =>
  sandbox.run({ language, code, seconds, memory: 96 });

/** What a seed makes of a list: a linear congruence, and Fisher and Yates' swaps. */
function shuffled<Of>(list: readonly Of[], seed: number): Of[] {
  const made = [...list];
  let state = seed;
  for (let k = made.length - 1; k > 0; k--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const other = state % (k + 1);
    [made[k], made[other]] = [made[other]!, made[k]!];
  }
  return made;
}

test("two hundred programs, hostile and honest, have the same verdicts in any order", async () => {
  // Those that run until they are ended tell of the clock.
  const quick = [...python, ...javaScript].filter(
    ({ kind, tries }) => kind !== "exhaust" && !tries.startsWith("recurses"),
  );
  const good = (["python", "javascript"] as const).map((language) => ({
    language,
    code: honest[language].code,
  }));
  const programs: readonly Program[] = [...quick, ...Array.from({ length: 15 }, () => good).flat()];
  const verdicts = async (order: readonly Program[]): Promise<Map<Program, string>> =>
    new Map(
      await Promise.all(
        order.map(async (program) => {
          const { stdout, failure } = await run(program);
          return [program, JSON.stringify([failure?.kind, failure?.name, stdout])] as const;
        }),
      ),
    );
  const own = programs.map((program) => ({ ...program }));
  const [first, ...others] = [1, 2, 3, 4, 5, 6, 7, 8].slice(0, count(2, 8));
  const expected = await verdicts(shuffled(own, first ?? 1));
  assert.ok(own.length * (others.length + 1) >= 200, String(own.length));
  for (const seed of others) {
    const again = await verdicts(shuffled(own, seed));
    for (const program of own) assert.equal(again.get(program), expected.get(program), program.code);
  }
  for (const { language } of good)
    for (const program of own.filter(({ code }) => code === honest[language].code))
      assert.equal(expected.get(program), JSON.stringify([null, null, honest[language].expected]));
});

const seeds = count(4, 300);
for (const language of ["python", "javascript"] as const)
  test(`${language}: calls of whatever can be reached, with odd arguments, reach nothing of the host`, async () => {
    for (let seed = 1; seed <= seeds; seed++) {
      const { stdout } = await run({ language, code: fuzz[language](seed, 200) }, 1);
      assert.doesNotMatch(stdout, /PASSED/, `seed ${seed}`);
      const { code, expected } = honest[language];
      const next = await run({ language, code });
      assert.deepEqual([next.failure, next.stdout], [undefined, expected], `after seed ${seed}`);
    }
  });
