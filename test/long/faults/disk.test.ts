/** A disk that fills under a run, and one that cannot be written: a small file system of its own, where we may mount one. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ofKind, readLog } from "../../support/runFolder.ts";
import { Workspace } from "../../support/workspace.ts";

const mount = (...words: readonly string[]): boolean => spawnSync("mount", words).status === 0;
const endless = ["stages.practice.steps=100000", "evaluation.every=1000000"].flatMap((set) => ["--set", set]);

/** With the store on a file system of its own; undefined: we may not mount. */
async function onOwnDisk(options: string, act: (workspace: Workspace) => Promise<void>): Promise<boolean> {
  const workspace = new Workspace();
  try {
    if (!mount("-t", "tmpfs", "-o", options, "tmpfs", workspace.store)) return false;
    await act(workspace);
    return true;
  } finally {
    await workspace.end();
    // Lazily: a worker may still be on its way out.
    spawnSync("umount", ["--lazy", workspace.store]);
    await workspace.remove();
  }
}

for (const [where, every] of [
  ["its metrics", 100_000],
  ["a checkpoint", 1],
] as const)
  test(`a disk that is full at ${where} ends the run with what to do; what was recorded is there, and it resumes`, async (context) => {
    const mounted = await onOwnDisk("size=16m", async (workspace) => {
      const words = [workspace.config, "--json", ...endless, "--set", `checkpoint.every=${every}`];
      const talk = workspace.start("run", ...words);
      await talk.until(({ lines }) => lines.some(({ type, step }) => type === "step" && step! >= 15));
      fill(join(workspace.store, "ballast"));
      assert.equal(await talk.ended, 1);
      const summary = talk.lines.at(-1)!;
      assert.equal(summary.type, "summary", talk.stderr);
      assert.match(String(summary["message"]), /(disk .*full|no space left)[^]*[Ff]ree (some )?space/);
      const run = summary.run!;
      const done = ofKind(readLog(workspace.runFolder(run), 0), "metrics").map(({ step }) => step);
      const told = talk.of("step").map(({ step }) => step!);
      assert.deepEqual(told, done.slice(0, told.length));

      rmSync(join(workspace.store, "ballast"));
      assert.equal((await workspace.finish("runs", "resume", run, "--json")).code, 0);
      const again = workspace.start("runs", "follow", run, "--json");
      await again.until(({ lines }) =>
        lines.some(({ type, step }) => type === "step" && step! > done.at(-1)!),
      );
      assert.equal((await workspace.finish("runs", "stop", run, "--json")).code, 0);
      await again.ended;
      const steps = again.of("step").map(({ step }) => step!);
      assert.deepEqual(steps, [...steps.keys()], "the curve has no gap");
    });
    if (!mounted) context.skip("no right to mount a file system");
  });

test("a store that cannot be written is named, with what to do, and nothing starts", async (context) => {
  const mounted = await onOwnDisk("ro", async (workspace) => {
    const { code, lines, stderr } = await workspace.finish("run", workspace.config, "--json");
    assert.equal(code, 1);
    assert.deepEqual(lines, []);
    assert.ok(stderr.includes(workspace.store), stderr);
    assert.match(stderr, /cannot be written[^]*--store/);
    const looked = await workspace.finish("runs", "list", "--json", "--store", workspace.store);
    assert.equal(looked.code, 0, looked.stderr);
    assert.deepEqual(readdirSync(workspace.store), [], "looking at it writes nothing");
    const below = join(workspace.store, "project");
    const { stderr: said } = await workspace.finish(
      "run",
      workspace.config,
      "--store",
      join(below, ".gradus"),
    );
    assert.match(said, /project.* cannot be written[^]*--store/);
  });
  if (!mounted) context.skip("no right to mount a file system");
});

/** Until nothing more fits, the last bytes one by one smaller. */
function fill(path: string): void {
  for (let size = 1 << 20; size >= 1 << 10;) {
    try {
      writeFileSync(path, Buffer.alloc(size), { flag: "a" });
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
      size >>= 1;
    }
  }
  assert.ok(existsSync(path));
}
