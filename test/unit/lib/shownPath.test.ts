/** Paths in messages: of the project from its folder, of elsewhere as a person finds them, of a shell's variable as written. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { loadFile } from "../../../server/frameworks/use/asConfig/load.ts";
import { shownPath } from "../../../server/lib/texts/shownPath.ts";
import { temporary } from "../support.ts";

const home = homedir();
/** On Windows it has the drive of the folder that it is read in. */
const inTemporary = (path: string): string => resolve(tmpdir(), path);

test("a path is short where both are of one project, and else from home or the root", () => {
  assert.equal(shownPath("/work/one/configs", "/work/one/configs/a.jsonl"), "a.jsonl");
  assert.equal(shownPath("/work/one/configs", "/work/one/data/a.jsonl"), "../data/a.jsonl");
  assert.equal(shownPath("/work/one", "/data/a.jsonl"), resolve("/data/a.jsonl"));
  assert.equal(shownPath("/work/one", join(home, "data/a.jsonl")), "~/data/a.jsonl");
  assert.equal(shownPath(join(home, "one"), join(home, "data/a.jsonl")), "~/data/a.jsonl");
  assert.equal(shownPath(join(home, "one"), join(home, "one/a.jsonl")), "a.jsonl");
  assert.equal(shownPath("/work/one", "$DATA/a.jsonl"), "$DATA/a.jsonl");
});

for (const [written, said] of [
  ["$HOME/data/t.parquet", "There is no file `~/data/t.parquet`."],
  ["~/data/t.parquet", "There is no file `~/data/t.parquet`."],
  ["${HOME}/data/t.parquet", "There is no file `~/data/t.parquet`."],
  ["/nowhere/t.parquet", `There is no file \`${inTemporary("/nowhere/t.parquet")}\`.`],
  ["$DATA/t.parquet", "There is no file `$DATA/t.parquet`: nothing here sets `$DATA`."],
  [
    "${DATA:-data}/t.parquet",
    "There is no file `data/t.parquet`: a path is relative to the file that contains it.",
  ],
] as const)
  test(`a launch's missing ${written} is said as a person finds it`, () => {
    const file = join(temporary(), "run.sh");
    writeFileSync(
      file,
      `python3 -m verl.trainer.main_ppo data.train_files=${written} actor_rollout_ref.rollout.n=4\n`,
    );
    const missing = loadFile(file).diagnostics.find(({ rule }) => rule === "dataset-file");
    assert.equal(missing?.message, `${said} (converted from run.sh)`);
  });
