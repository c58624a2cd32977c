/** The kept memory of a Python belongs to one library file, which a package stores otherwise than a checkout, and to one Node. */
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { openSandbox } from "../../../server/lib/sandbox/openSandbox.ts";
import { partsOf } from "../../../server/lib/sandbox/parts.ts";
import { keepImage, keptImage } from "../../../server/lib/sandbox/python/image.ts";
import { seal } from "../../../server/lib/sandbox/python/interpreter.ts";
import { sandboxProcess } from "../../support/sandboxProcess.ts";

await sandboxProcess();
const pyodide = dirname(createRequire(import.meta.url).resolve("pyodide/package.json"));
const saved = process.env["GRADUS_DATA"];
let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), "gradus-image-"));
  process.env["GRADUS_DATA"] = join(folder, "data");
});
after(() => {
  if (saved === undefined) delete process.env["GRADUS_DATA"];
  else process.env["GRADUS_DATA"] = saved;
  rmSync(folder, { recursive: true });
});

test("an image is found again for its own library, and not for the same one stored otherwise", async () => {
  const library = readFileSync(join(pyodide, "python_stdlib.zip"));
  const own = { folder: pyodide, version: "1" };
  const other = { folder: join(folder, "other"), version: "1" };
  mkdirSync(other.folder);
  writeFileSync(join(other.folder, "python_stdlib.zip"), Buffer.concat([library, Buffer.from("more")]));
  await keepImage(own, Buffer.concat([Buffer.from("memory"), seal]));
  assert.ok((await keptImage(own)) !== undefined);
  assert.equal(await keptImage(other), undefined);
  copyFileSync(join(pyodide, "python_stdlib.zip"), join(other.folder, "python_stdlib.zip"));
  assert.equal(await keptImage(other), await keptImage(own));
});

for (const [what, sealed] of [
  ["another Node made", Buffer.from("memorygradus image of Node v99.0.0")],
  ["nothing starts from", Buffer.concat([Buffer.from("memory"), seal])],
  ["was written by half", Buffer.from("memory")],
] as const)
  test(`an image that ${what} is made again`, async () => {
    const parts = await partsOf("python");
    assert.equal(parts.language, "python");
    if (parts.language !== "python") return;
    await keepImage(parts, sealed);
    const sandbox = openSandbox();
    try {
      const { stdout } = await sandbox.run({
        language: "python",
        code: "print(1 + 1)",
        seconds: 20,
        memory: 128,
      });
      assert.equal(stdout, "2\n");
    } finally {
      await sandbox.close();
    }
    assert.ok(readFileSync((await keptImage(parts)) ?? "").length > 1 << 20);
  });
