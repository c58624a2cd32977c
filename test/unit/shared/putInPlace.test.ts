/** A draft gets into its place also where somebody reads what is there, as Windows sees it. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { putInPlace } from "../../../shared/lib/putInPlace.mjs";

const refusal = (code: string): Error => Object.assign(new Error(code), { code });

/** @param refused how often, and with what */
function trying(platform: NodeJS.Platform, refused: number, code = "EPERM") {
  const seen = { tries: 0, waited: 0 };
  const rename = (): void => {
    if (++seen.tries <= refused) throw refusal(code);
  };
  const wait = (milliseconds: number): void => void (seen.waited += milliseconds);
  return { seen, how: { rename, platform, wait } };
}

test("a draft takes the place of what was there", () => {
  const folder = mkdtempSync(join(tmpdir(), "gradus-place-"));
  try {
    writeFileSync(join(folder, "draft"), "new");
    writeFileSync(join(folder, "place"), "old");
    putInPlace(join(folder, "draft"), join(folder, "place"));
    assert.equal(readFileSync(join(folder, "place"), "utf8"), "new");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("on Windows a reader is waited for, two seconds at most", () => {
  const soon = trying("win32", 3);
  putInPlace("a", "b", soon.how);
  assert.deepEqual(soon.seen, { tries: 4, waited: 50 });
  const never = trying("win32", 99, "EBUSY");
  assert.throws(() => putInPlace("a", "b", never.how), /EBUSY/);
  assert.deepEqual(never.seen, { tries: 10, waited: 2000 });
});

test("what no reader causes is said at once, and elsewhere everything", () => {
  for (const { seen, how } of [trying("win32", 1, "ENOENT"), trying("linux", 1), trying("darwin", 1)]) {
    assert.throws(() => putInPlace("a", "b", how));
    assert.deepEqual(seen, { tries: 1, waited: 0 });
  }
});
