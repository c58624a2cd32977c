import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { pathToFileURL } from "node:url";
import { needs } from "../../support/system.ts";

interface StampModule {
  fingerprint(root: string, names?: readonly string[]): string;
  isBundled(root: string): boolean;
  whyInstall(root: string): string | undefined;
  currentRecord(root: string): object | undefined;
  lockHash(root: string): string;
}
const load = async (): Promise<StampModule> =>
  import(pathToFileURL(join(process.cwd(), "scripts", "setup", "stamp.mjs")).href);

let root: string;
beforeEach(() => (root = mkdtempSync(join(tmpdir(), "gradus-stamp-"))));
afterEach(() => rmSync(root, { recursive: true }));

const write = (path: string, text: string): void => {
  mkdirSync(join(root, path, ".."), { recursive: true });
  writeFileSync(join(root, path), text);
};

test("the fingerprint changes with an edit, a removal and an older file, and not without", async () => {
  const { fingerprint } = await load();
  write("server/a.ts", "1");
  write("server/deep/b.ts", "2");
  const first = fingerprint(root);
  assert.equal(fingerprint(root), first);
  write("server/a.ts", "12");
  const edited = fingerprint(root);
  assert.notEqual(edited, first);
  utimesSync(join(root, "server/a.ts"), new Date(1e12), new Date(1e12));
  const older = fingerprint(root);
  assert.notEqual(older, edited, "another branch may bring an older file");
  rmSync(join(root, "server/deep/b.ts"));
  assert.notEqual(fingerprint(root), older);
});

test("a bundle is current only for the sources it was made of", async () => {
  const { fingerprint, isBundled } = await load();
  write("shared/a.ts", "1");
  assert.equal(isBundled(root), false);
  write("dist/.built", fingerprint(root));
  assert.equal(isBundled(root), true);
  write("shared/b.ts", "1");
  assert.equal(isBundled(root), false);
});

const lockfile = (version: string): string =>
  JSON.stringify({
    packages: {
      "": {},
      "node_modules/zod": { version },
      "node_modules/fsevents": { version: "1.0.0", optional: true },
    },
  });

test("packages are installed when they are missing, half there or of another version", async () => {
  const { whyInstall } = await load();
  write("package-lock.json", lockfile("4.0.0"));
  assert.match(whyInstall(root) ?? "", /missing/);
  mkdirSync(join(root, "node_modules"));
  assert.match(whyInstall(root) ?? "", /incomplete/);
  write("node_modules/.package-lock.json", lockfile("3.0.0"));
  assert.match(whyInstall(root) ?? "", /zod 4\.0\.0/);
  write(
    "node_modules/.package-lock.json",
    JSON.stringify({ packages: { "node_modules/zod": { version: "4.0.0" } } }),
  );
  assert.equal(whyInstall(root), undefined, "an optional package of another platform is not missing");
});

test("a linked node_modules is never installed into", needs.links, async () => {
  const { whyInstall } = await load();
  write("package-lock.json", lockfile("4.0.0"));
  mkdirSync(join(root, "elsewhere"));
  symlinkSync(join(root, "elsewhere"), join(root, "node_modules"), "junction");
  assert.equal(whyInstall(root), undefined);
});

test("a record counts for the packages and the Node it was made for", async () => {
  const { currentRecord, lockHash } = await load();
  write("package-lock.json", lockfile("4.0.0"));
  const record = (change: object): void =>
    write(
      "node_modules/.gradus/setup.json",
      JSON.stringify({
        format: 1,
        node: { path: realpathSync(process.execPath), version: process.versions.node },
        lock: lockHash(root),
        ...change,
      }),
    );
  assert.equal(currentRecord(root), undefined);
  record({});
  assert.notEqual(currentRecord(root), undefined);
  record({ node: { path: join(root, "gone") } });
  assert.equal(currentRecord(root), undefined, "that Node is gone");
  record({ node: { path: realpathSync(process.execPath), version: "1.0.0" } });
  assert.equal(currentRecord(root), undefined, "that Node was replaced");
  record({});
  write("package-lock.json", lockfile("4.0.1"));
  assert.equal(currentRecord(root), undefined, "other packages");
});
