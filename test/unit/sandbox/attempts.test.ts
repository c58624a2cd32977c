/** What policies try, one after the other in the same processes: none gets what it wants, and none spoils the next program. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openSandbox } from "../../../server/lib/sandbox/openSandbox.ts";
import type { SandboxResult } from "../../../server/lib/sandbox/sandbox.ts";
import { sandboxProcess } from "../../support/sandboxProcess.ts";
import { some } from "../../support/thorough.ts";
import type { Attempt } from "./attempts/attempt.ts";
import { attempts as javaScript } from "./attempts/javascript.ts";
import { attempts as python } from "./attempts/python.ts";
import { honest } from "./attempts/honest.ts";

await sandboxProcess();
const sandbox = openSandbox();
after(() => sandbox.close());

const run = (
  { language, code }: Pick<Attempt, "language" | "code">,
  seconds: number,
): Promise<SandboxResult> =>
  sandbox.run({ language, code, seconds, memory: 96, stdin: "" }, undefined, (question) =>
    Promise.resolve(question.slice(0, 9)),
  );

for (const attempt of some([...python, ...javaScript], 30))
  test(`${attempt.kind}: ${attempt.name}`, async () => {
    const { stdout, failure } = await run(attempt, 0.4);
    assert.doesNotMatch(stdout, /PASSED/);
    if (attempt.kind !== "poison" && attempt.kind !== "escape" && attempt.kind !== "read")
      assert.notEqual(failure, undefined);
    const { code, expected } = honest[attempt.language];
    const next = await run({ language: attempt.language, code }, 10);
    assert.deepEqual([next.failure, next.stdout], [undefined, expected]);
  });

test("there are at least sixty attempts", () => assert.ok(python.length + javaScript.length >= 60));
