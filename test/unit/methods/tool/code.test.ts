/** Programs of the policy as a tool. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { code } from "../../../../server/methods/tool/code.ts";
import { sandboxProcess } from "../../../support/sandboxProcess.ts";
import { made } from "../../support.ts";

await sandboxProcess();

test("a program's output, its last value, its traceback, and what ended it", async () => {
  const tools = made(code, { seconds: 2, most: 200 });
  const [tool] = await tools.open();
  const run = (program: string): Promise<string> => tool!.call({ code: program }, { episode: "a" });
  assert.deepEqual([tool!.name, tool!.parameters["required"]], ["python", ["code"]]);
  assert.equal(await run("x = 6\nprint('six', x)\nx * 7"), "six 6\n42");
  assert.equal(await run("x = 1"), "(no output)");
  assert.equal(
    await run("x"),
    "Traceback (most recent call last):\n  File \"program.py\", line 1, in <module>\n    x\nNameError: name 'x' is not defined",
  );
  assert.equal(await run("while True: pass"), expectedLoop);
  assert.equal(await run("import sys\nsys.exit(2)"), "Error: the program left with 2");
  assert.match(await run("print('a' * 1000)"), /^a{70}\n… \(860 characters are left out\) …\na{70}$/);
  assert.match(await tool!.call({}, { episode: "a" }), /^Error: the argument `code`/);
  await tools.close?.();
});
const expectedLoop =
  'Traceback (most recent call last):\n  File "program.py", line 1, in <module>\n    while True: pass\n                ^^^^\nKeyboardInterrupt\nError: the program took longer than 2 s';

test("JavaScript, and an abort", async () => {
  const tools = made(code, { language: "javascript", name: "js" });
  const [tool] = await tools.open();
  assert.equal(
    await tool!.call({ code: "console.log([1, 2].map((x) => x * 2))" }, { episode: "a" }),
    "[ 2, 4 ]",
  );
  assert.match(
    await tool!.call({ code: "null.x" }, { episode: "a" }),
    /^TypeError: cannot read property 'x' of null/,
  );
  const signal = AbortSignal.timeout(100);
  await assert.rejects(tool!.call({ code: "for (;;);" }, { episode: "a", signal }));
  await tools.close?.();
});
