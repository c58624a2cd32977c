/** A dry run of a verl project: its engine makes it too long for `npm test`. */
import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { gradus } from "../support/cli.ts";
import { rewardHost } from "../support/rewardHost.ts";
import { temporary } from "../unit/support.ts";

before(() => rewardHost());

test("a dry run writes the reference answer as the reward wants it", async () => {
  const folder = join(temporary(), "gsm");
  cpSync("test/fixtures/projects/gsm", folder, { recursive: true });
  const words = ["run", "run.sh", "--set", "model.base=tiny", "--dry-run"];
  const { code, stdout, stderr } = await gradus(words, folder);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^ {2}the reference answer +1\.000 /m);
});
