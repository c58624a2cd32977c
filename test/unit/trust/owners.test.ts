/** What another user owns, or all may write, is not used where it was only found: stores, sites and virtual environments. */
import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { connectExisting, connectOrStart } from "../../../shared/daemon/connect.ts";
import { lookForDaemon } from "../../../shared/daemon/state.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { checkStore } from "../../../server/cli/doctor/checks.ts";
import { interpreterFor } from "../../../server/lib/own/interpreter.ts";
import { siteOf } from "../../../server/sites/siteOf.ts";

const other = 54_321;
const asRoot = process.getuid?.() === 0;
const posix = process.platform !== "win32";

let above = "";
let project = "";
beforeEach(() => {
  above = mkdtempSync(join(tmpdir(), "gradus-owners-"));
  project = join(above, "project");
  mkdirSync(project);
});
afterEach(() => {
  delete process.env["GRADUS_SAFE_FOLDERS"];
  rmSync(above, { recursive: true, force: true });
});

function foreign(path: string, pattern: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof UserError);
    assert.deepEqual([error.detail.code, error.detail.file], ["foreign-owner", path]);
    assert.match(error.message, pattern);
    assert.match(error.detail.action ?? "", /^(?:Make it yours|Close it) .*GRADUS_SAFE_FOLDERS=/);
    return true;
  };
}
const site = (): string => {
  mkdirSync(join(above, "sites"));
  writeFileSync(join(above, "sites", "box.yaml"), "kind: ssh\nhost: elsewhere\n");
  return join(above, "sites");
};
const environment = (): string => {
  mkdirSync(join(above, ".venv", "bin"), { recursive: true });
  writeFileSync(join(above, ".venv", "bin", "python"), "");
  return join(above, ".venv");
};
const python = () =>
  interpreterFor({ named: undefined, folder: project, file: join(project, "reward.py"), environment: {} });

async function refuses(store: string, pattern: RegExp): Promise<void> {
  const never = (): never => {
    throw new Error("a daemon was started");
  };
  const cli = join(above, "cli.mjs");
  writeFileSync(cli, "");
  const wish = {
    store,
    role: "command",
    version: "0.0.0",
    node: process.execPath,
    cli,
    spawn: never,
  } as const;
  await assert.rejects(connectOrStart(wish), foreign(store, pattern));
  await assert.rejects(connectExisting(wish), foreign(store, pattern));
  await assert.rejects(lookForDaemon(wish), foreign(store, pattern));
  assert.equal(existsSync(join(store, "daemon.log")), false);
  assert.equal(checkStore(dirname(store)).status, "missing");
}

it("uses its own where the drive knows no modes", { skip: !posix && "needs permissions of POSIX" }, () => {
  const [sites, venv] = [site(), environment()];
  for (const path of [sites, join(sites, "box.yaml"), venv]) chmodSync(path, 0o777);
  assert.equal(siteOf("box", project).name, "box");
  assert.equal(python().from, venv);
});

describe("what belongs to another user", { skip: !asRoot && "needs root, to give files away" }, () => {
  const pattern = /belongs to another user \(uid 54321; yours is 0\)/;
  it("is no store, also through a link of that user's", async () => {
    const store = join(above, ".gradus");
    mkdirSync(store);
    lchownSync(store, other, other);
    await refuses(store, pattern);
    lchownSync(store, 0, 0);
    const link = join(project, ".gradus");
    symlinkSync(store, link);
    lchownSync(link, other, other);
    await refuses(link, pattern);
  });
  it("is no site", () => {
    const sites = site();
    lchownSync(join(sites, "box.yaml"), other, other);
    assert.throws(() => siteOf("box", project), foreign(join(sites, "box.yaml"), pattern));
    process.env["GRADUS_SAFE_FOLDERS"] = "*";
    assert.equal(siteOf("box", project).name, "box");
  });
  it("is no virtual environment, unless its owner called sudo", () => {
    const venv = environment();
    lchownSync(venv, other, other);
    assert.throws(python, foreign(venv, pattern));
    process.env["SUDO_UID"] = String(other);
    assert.equal(python().from, venv);
    delete process.env["SUDO_UID"];
  });
});
