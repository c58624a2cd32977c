/** The kept memory of a Python belongs to one library file: a package stores the same modules at other places than a checkout. */
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { keepImage, keptImage } from "../../../server/lib/sandbox/python/image.ts";

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
  await keepImage(own, Buffer.from("memory"));
  assert.ok((await keptImage(own)) !== undefined);
  assert.equal(await keptImage(other), undefined);
  copyFileSync(join(pyodide, "python_stdlib.zip"), join(other.folder, "python_stdlib.zip"));
  assert.equal(await keptImage(other), await keptImage(own));
});
