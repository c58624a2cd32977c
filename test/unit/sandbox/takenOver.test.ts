/** A process that a program has taken over may say anything: it is the failure of that program, and of no other. */
import assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { openSandbox } from "../../../server/lib/sandbox/openSandbox.ts";
import type { SandboxResult } from "../../../server/lib/sandbox/sandbox.ts";

const folder = mkdtempSync(join(realpathSync(tmpdir()), "gradus-taken-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** In the place of ours: it answers an order with the bytes that its program names. */
const script = `
import { readSync, writeSync } from "node:fs";
const exactly = (length) => { const bytes = Buffer.alloc(length); for (let at = 0; at < length; ) { const n = readSync(0, bytes, at, length - at, null); if (n === 0) process.exit(0); at += n } return bytes };
const frame = (text) => { const head = Buffer.alloc(4); head.writeUInt32LE(Buffer.byteLength(text)); writeSync(1, Buffer.concat([head, Buffer.from(text)])) };
const read = () => JSON.parse(exactly(exactly(4).readUInt32LE()).toString());
const ran = { language: "javascript", stdout: "1", stderr: "", flooded: false, late: false, took: 0, seconds: 0 };
const good = (more = {}) => frame(JSON.stringify({ kind: "ran", ran: { ...ran, ...more }, held: 0, spent: false }));
const says = {
  good: () => good(),
  long: () => writeSync(1, Buffer.from([255, 255, 255, 255, 1])),
  text: () => frame("no JSON"),
  nothing: () => frame("null"),
  kind: () => frame('{"kind":"ready","image":"AAAA"}'),
  shape: () => frame('{"kind":"ran","ran":5,"held":0,"spent":false}'),
  number: () => good({ stdout: 5 }),
  thrown: () => good({ thrown: { name: {}, message: null } }),
  language: () => good({ language: "cobol" }),
  proto: () => frame('{"__proto__":{"kind":"ran"}}'),
  question: () => frame(JSON.stringify({ kind: "asks", text: "x".repeat(5 << 20) })),
  twice: () => { good(); good(); },
  end: () => process.exit(0),
};
read();
frame('{"kind":"ready"}');
for (;;) says[read().code]();
`;
const file = join(folder, "process.mjs");
writeFileSync(file, script);
process.env["GRADUS_SANDBOX_PROCESS"] = file;
const sandbox = openSandbox();
after(() => sandbox.close());
const run = (code: string): Promise<SandboxResult> =>
  sandbox.run({ language: "javascript", code, seconds: 20, memory: 64 });

for (const code of [
  "long",
  "text",
  "nothing",
  "kind",
  "shape",
  "number",
  "thrown",
  "language",
  "proto",
  "question",
  "end",
])
  test(`what it says is none of ours: ${code}`, async () => {
    const { failure, stdout } = await run(code);
    assert.deepEqual([failure?.kind, stdout], ["exception", ""]);
    assert.equal((await run("good")).failure, undefined);
  });

test("an answer that nobody asked for is no answer to the next program", async () => {
  assert.equal((await run("twice")).stdout, "1");
  // It is heard at once or later: it may end a program that is under way, and is never its answer.
  let next: SandboxResult;
  do {
    next = await run("good");
    if (next.failure === undefined) assert.equal(next.stdout, "1");
    else assert.equal(next.failure.kind, "exception");
  } while (next.failure !== undefined);
});
