/** Which files of a trainer's own checkout are the person's. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { checkoutsOf } from "../../../server/frameworks/readers/ownCheckout.ts";
import { gitIndex, isAsIndexed } from "../../../server/frameworks/releases/gitIndex.ts";
import { temporary } from "../support.ts";

const launch = "python3 -m verl.trainer.main_ppo data.train_batch_size=8\n";
const theirs = { "pyproject.toml": "", "examples/grpo/run.sh": launch, "examples/grpo/other.sh": launch };
const trainers = {
  verl: { "verl/__init__.py": "", "verl/version/version": "0.8.0.dev\n" },
  TRL: { "trl/__init__.py": "", VERSION: "1.10.0.dev0\n" },
  OpenRLHF: { "openrlhf/__init__.py": "", "version.txt": "0.9.4\n" },
};

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}
const git = (folder: string, ...words: readonly string[]): unknown =>
  execFileSync("git", ["-C", folder, ...words], { stdio: "ignore" });

/** With everything that is there so far in its index. */
function cloned(folder: string, files: Readonly<Record<string, string>>, index = "2"): string {
  write(folder, { ...theirs, ...files });
  git(folder, "init");
  git(folder, "-c", "core.autocrlf=false", "add", "-A");
  git(folder, "update-index", "--index-version", index);
  return folder;
}

describe("a checkout of a trainer", () => {
  for (const [trainer, files] of Object.entries(trainers))
    it(`of ${trainer}: yours is what you have added, changed, or keep in a folder of your own`, () => {
      const folder = cloned(temporary(), { ...files, "mine/committed.sh": launch });
      write(folder, {
        "examples/grpo/run.sh": `${launch}# mine\n`,
        "examples/grpo/new.sh": launch,
        "b.sh": launch,
      });
      const scripts = ["examples/grpo/run.sh", "examples/grpo/other.sh", "examples/grpo/new.sh"];
      const all = [...scripts, "mine/committed.sh", "b.sh"];
      const [checkout, ...others] = checkoutsOf(
        folder,
        all.map((file) => join(folder, file)),
      );
      assert.deepEqual([checkout?.trainer, checkout?.folder, others], [trainer, folder, []]);
      const yours = all.filter((file) => checkout!.isYours(join(folder, file)));
      assert.deepEqual(yours, ["examples/grpo/run.sh", "examples/grpo/new.sh", "mine/committed.sh", "b.sh"]);
    });

  it("in a folder of the project, too; one around the folder that was named is what was asked about", () => {
    const project = temporary();
    const folder = cloned(join(project, "third_party", "verl"), trainers.verl);
    const file = join(folder, "examples", "grpo", "run.sh");
    assert.deepEqual(
      checkoutsOf(project, [file]).map((one) => [one.folder, one.isYours(file)]),
      [[folder, false]],
    );
    assert.deepEqual(checkoutsOf(join(folder, "examples"), [file]), []);
  });

  it("without git all that lies in its folders is its own", () => {
    const folder = cloned(temporary(), trainers.verl);
    rmSync(join(folder, ".git"), { recursive: true });
    const [checkout] = checkoutsOf(folder, [join(folder, "examples", "grpo", "run.sh")]);
    assert.equal(checkout?.isYours(join(folder, "examples", "grpo", "run.sh")), false);
    assert.equal(checkout.isYours(join(folder, "run.sh")), true);
  });
});

describe("git's index", () => {
  const names = ["a", "examples/grpo/other.sh", "examples/grpo/run.sh", "ü/名.sh"];
  for (const version of ["2", "4"])
    it(`is read in version ${version}`, () => {
      const folder = cloned(temporary(), { a: "one\r\ntwo\r\n", "ü/名.sh": "" }, version);
      const index = gitIndex(folder)!;
      for (const name of names) assert.ok(index.has(name), name);
      assert.equal(index.size, 5);
      assert.ok(isAsIndexed(Buffer.from(launch), index.get("examples/grpo/run.sh")!));
      assert.ok(!isAsIndexed(Buffer.from(`${launch} `), index.get("examples/grpo/run.sh")!));
      assert.ok(isAsIndexed(Buffer.from(launch.replace("\n", "\r\n")), index.get("examples/grpo/run.sh")!));
    });

  it("is none where it does not read as one", () => {
    const folder = cloned(temporary(), {});
    for (const text of ["", "DIRC", "DIRC\0\0\0\u0002\0\0\0\u0009short", "other"]) {
      writeFileSync(join(folder, ".git", "index"), text);
      assert.equal(gitIndex(folder), undefined, text);
    }
    assert.equal(gitIndex(join(folder, "examples")), undefined);
  });
});
