/** A dismissed verdict: kept with the run, for that verdict alone, until it is taken back. */
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { dismiss } from "../../../server/daemon/verdict/dismissals.ts";
import { withDismissal } from "../../../shared/run/dismissal.ts";
import type { RemoteStore } from "../../../server/store/remote.ts";
import { verdict } from "../../webview/fakeRun.ts";

/** The store, as far as it is asked: where the run's folder is. */
const storeOf = (folder: string) =>
  ({ call: () => Promise.resolve({ folder }) }) as unknown as Pick<RemoteStore, "call">;

test("a reason is kept for the verdict that it was given for, and an empty one takes it back", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gradus-dismiss-"));
  const store = storeOf(folder);
  const said = async (reason: string) => (await dismiss(store, { run: "r", reason }, verdict)).verdict;
  assert.equal((await said("  the term is meant to win \n"))?.dismissed?.reason, "the term is meant to win");
  assert.equal(withDismissal(folder, verdict).dismissed?.reason, "the term is meant to win");
  const later = withDismissal(folder, { ...verdict, since: 380 });
  assert.equal(later.dismissed, undefined, "what begins later is another verdict");
  writeFileSync(join(folder, "dismissed.json"), "{");
  assert.equal(withDismissal(folder, verdict).dismissed, undefined, "half a file says nothing");
  await said("again");
  assert.equal((await said(" "))?.dismissed, undefined);
  assert.deepEqual(readdirSync(folder), []);
  await assert.rejects(dismiss(store, { run: "r", reason: "why" }, null), /no verdict yet/);
});
