/** The command line, the daemon, a worker and the engine together, as a person uses them. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { essence, ofKind, readLog } from "../../support/runFolder.ts";
import { Workspace, type Said, type Talk } from "../../support/workspace.ts";

const endless = [
  "--set",
  "stages.practice.steps=100000",
  "--set",
  "evaluation.every=1000000",
  "--set",
  "checkpoint.keep=100",
];
const idOf = (talk: Said): string => talk.of("started")[0]!.run!;
const steps = (talk: Said): number[] => talk.of("step").map(({ step }) => step!);
const reaches = (step: number) => (talk: Talk) => steps(talk).some((done) => done >= step);

async function inWorkspace(act: (workspace: Workspace) => Promise<void>): Promise<void> {
  const workspace = new Workspace();
  try {
    await act(workspace);
  } finally {
    await workspace.remove();
  }
}

test("run --json goes from `started` to `summary`, every step once, first and last evaluation in it", () =>
  inWorkspace(async (workspace) => {
    const { code, lines, stderr } = await workspace.finish("run", workspace.config, "--json", "--seed", "3");
    assert.equal(code, 0, stderr);
    assert.equal(lines[0]!.type, "started");
    assert.deepEqual(
      lines.filter(({ type }) => type === "step").map(({ step }) => step),
      Array.from({ length: 20 }, (_, step) => step),
    );
    const summary = lines.at(-1)!;
    assert.equal(summary.type, "summary");
    assert.equal(summary.status, "finished");
    assert.equal(summary["steps"], 20);
    const { first, last } = summary["evaluation"] as { first: object; last: object };
    for (const metrics of [first, last])
      for (const name of ["eval/pass@1", "eval/pass@2", "eval/greedy", "eval/reverse_text/2/pass@1"])
        assert.ok(name in metrics, name);
  }));

test("a config with an error starts nothing: file, line and column on stderr, exit code 1", () =>
  inWorkspace(async (workspace) => {
    const { code, lines, stderr } = await workspace.finish(
      "run",
      workspace.config,
      "--json",
      "--set",
      "rollout.groop=3",
    );
    assert.equal(code, 1);
    assert.deepEqual(lines, []);
    assert.match(stderr, /error: .*groop/);
    assert.equal(existsSync(join(workspace.store, "runs")), false);
  }));

test("a killed worker loses only the step in flight; the resumed attempt trains the rest again, exactly", () =>
  inWorkspace(async (workspace) => {
    const first = workspace.start("run", workspace.config, "--json", ...endless);
    await first.until(reaches(24));
    const run = idOf(first);
    process.kill(workspace.worker(run).pid, "SIGKILL");
    assert.equal(await first.ended, 1);
    assert.equal(first.lines.at(-1)!.type, "summary");
    const told = steps(first).at(-1)!;
    const before = readLog(workspace.runFolder(run), 0);
    const done = ofKind(before, "metrics").map(({ step }) => step);
    assert.deepEqual(done, [...done.keys()], "committed steps have no gap");
    assert.ok(done.at(-1)! >= told, "what was told is on the disk");

    assert.equal((await workspace.finish("runs", "resume", run, "--json")).code, 0);
    const second = workspace.start("runs", "follow", run, "--json");
    await second.until(reaches(done.at(-1)! + 5));
    assert.equal((await workspace.finish("runs", "stop", run, "--json")).code, 0);
    await second.ended;
    assert.equal(second.lines.at(-1)!.status, "stopped");
    assert.deepEqual(steps(second), [...steps(second).keys()], "the curve has no gap");
    const after = readLog(workspace.runFolder(run), 1);
    const resumedAt = ofKind(after, "start")[0]!.resumed_at!;
    assert.ok(resumedAt >= 15 && resumedAt <= done.at(-1)! + 1);
    const shared = (records: typeof after): unknown[] =>
      essence(
        records.filter((record) => !("step" in record) || record.step <= done.at(-1)!),
        resumedAt,
      );
    assert.deepEqual(shared(after), shared(before));
  }));

test("Ctrl-C leaves the run going; pressed twice it stops it with a checkpoint", () =>
  inWorkspace(async (workspace) => {
    const first = workspace.start("run", workspace.config, "--json", ...endless);
    await first.until(reaches(3));
    first.child.kill("SIGINT");
    assert.equal(await first.ended, 0);
    assert.match(first.stderr, /The run continues/);
    const run = idOf(first);
    process.kill(workspace.worker(run).pid, 0);

    const second = workspace.start("runs", "follow", run, "--json");
    await second.until(reaches(steps(first).at(-1)! + 2));
    second.child.kill("SIGINT");
    await second.until(({ stderr }) => stderr.includes("once more"));
    second.child.kill("SIGINT");
    assert.equal(await second.ended, 0);
    assert.equal(second.lines.at(-1)!.status, "stopped");
    const records = readLog(workspace.runFolder(run), 0);
    assert.equal(ofKind(records, "checkpoint").at(-1)!.step, ofKind(records, "end")[0]!.step);
  }));

test("a run that is stopped at once ends with a consistent log, and can be resumed", () =>
  inWorkspace(async (workspace) => {
    const talk = workspace.start("run", workspace.config, "--json", ...endless);
    await talk.until(reaches(12));
    const run = idOf(talk);
    assert.equal((await workspace.finish("runs", "stop", run, "--now", "--json")).code, 0);
    assert.equal(await talk.ended, 0);
    assert.equal(talk.lines.at(-1)!.status, "stopped");
    const records = readLog(workspace.runFolder(run), 0);
    assert.equal(ofKind(records, "end")[0]!.status, "stopped");
    assert.equal((await workspace.finish("runs", "resume", run, "--json")).code, 0);
    const again = workspace.start("runs", "follow", run, "--json");
    await again.until(reaches(ofKind(records, "end")[0]!.step + 1));
    await workspace.finish("runs", "stop", run, "--now", "--json");
    await again.ended;
  }));

test("a dry run needs neither daemon nor store, and reports time, memory and rewards", () =>
  inWorkspace(async (workspace) => {
    const { code, lines, stderr } = await workspace.finish("run", workspace.config, "--dry-run", "--json");
    assert.equal(code, 0, stderr);
    const [report] = lines;
    assert.equal(report!.type, "dry-run");
    for (const key of ["backend", "parameters", "metrics", "rewards", "rollouts", "memory"])
      assert.ok(key in report!, key);
    assert.equal(existsSync(join(workspace.store, "runs")), false);
  }));
