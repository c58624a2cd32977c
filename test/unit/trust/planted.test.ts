/** What a folder from elsewhere may carry: none of it runs, and nothing is written through it. */
import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { UserError } from "../../../shared/lib/errors.ts";
import { connectOrStart } from "../../../shared/daemon/connect.ts";
import { pythonWithMathVerify } from "../../../server/methods/reward/maths/math.ts";

let folder: string;
const from = process.cwd();
before(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "gradus-planted-")));
});
after(() => {
  process.chdir(from);
  rmSync(folder, { recursive: true, force: true });
});

test("the log of a daemon is not appended through a link that a store carries", async () => {
  const [store, target] = [join(folder, ".gradus"), join(folder, "profile")];
  mkdirSync(store);
  writeFileSync(target, "as it was\n");
  symlinkSync(target, join(store, "daemon.log"));
  const cli = join(folder, "cli.mjs");
  writeFileSync(cli, "");
  let started = false;
  const spawn = (): never => {
    started = true;
    throw new Error("it must not come to this");
  };
  await assert.rejects(
    connectOrStart({ store, role: "command", version: "0.0.0", node: process.execPath, cli, spawn }),
    (error) => error instanceof UserError && error.detail.code === "store-link",
  );
  assert.deepEqual([readFileSync(target, "utf8"), started], ["as it was\n", false]);
});

test("a look for math-verify does not run a file of that name in the current folder", async () => {
  const ran = join(folder, "ran");
  writeFileSync(join(folder, "math_verify.py"), `open(${JSON.stringify(ran)}, "w").close()\n`);
  process.chdir(folder);
  await pythonWithMathVerify({ python: "python3" }, folder);
  assert.equal(existsSync(ran), false);
});
