import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { parquetRows } from "../../server/lib/parquet.ts";
import type { Ended } from "../support/commandHost.ts";
import { Sandbox, kill, until } from "./daemon.ts";

let box: Sandbox;
beforeEach(async () => {
  box = await Sandbox.make();
});
afterEach(() => box.end());

async function output(child: ChildProcess): Promise<Ended> {
  const said = { stdout: "", stderr: "" };
  child.stdout?.on("data", (chunk: Buffer) => (said.stdout += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (said.stderr += chunk.toString()));
  await once(child, "close");
  return { code: child.exitCode, ...said };
}
const gradus = (...words: string[]): Promise<Ended> => box.finish(...words);

test("follow --json reports every step once and in order, across a killed daemon, and ends with the summary", async () => {
  const connection = await box.connect();
  const run = await box.start(connection, 80, 20);
  const follower = box.spawn(["runs", "follow", run, "--json"]);
  const done = output(follower);
  let told = "";
  follower.stdout?.on("data", (chunk: Buffer) => (told += chunk.toString()));
  await until(async () => (told.includes('"type":"step","step":5,') ? true : null), "the follower");
  kill(box.discovery()?.pid ?? 0, "SIGKILL");
  const { code, stdout: out, stderr: err } = await done;
  assert.equal(code, 0, err);
  const lines: {
    type: string;
    step: number;
    status?: string;
    steps?: number;
    run?: string;
    metrics?: Record<string, number>;
  }[] = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual({ type: lines[0]?.type, run: lines[0]?.run }, { type: "started", run });
  assert.deepEqual(
    lines.filter(({ type }) => type === "step").map(({ step, metrics }) => [step, metrics?.["reward/total"]]),
    Array.from({ length: 80 }, (_, step) => [step, step]),
  );
  assert.deepEqual(
    { type: lines.at(-1)?.type, status: lines.at(-1)?.status, steps: lines.at(-1)?.steps },
    { type: "summary", status: "finished", steps: 80 },
  );
});

test("list, show, rollouts, export, delete and the daemon's commands say what there is, as text and as JSON", async () => {
  assert.match((await gradus("daemon", "status")).stdout, /No daemon serves/);
  const connection = await box.connect();
  const run = await box.start(connection, 6, 1);
  await box.reach(connection, run, ({ status }) => status === "finished");
  assert.equal(JSON.parse((await gradus("runs", "list", "--json")).stdout).runs[0].id, run);
  assert.match((await gradus("runs")).stdout, new RegExp(`${run}\\s+finished\\s+6/6`));
  assert.equal(JSON.parse((await gradus("runs", "show", "last", "--json")).stdout).status, "finished");
  const rows = (
    await gradus("rollouts", "sample", "--step", "3", "--where", 'finish == "length"', "--json")
  ).stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    rows.map(({ step, index, tokens }) => [step, index, tokens]),
    [[3, 1, [3, 1, 4, 2]]],
  );
  assert.match(
    (await gradus("rollouts", run, "--step", "3")).stdout,
    /\[1\] reward 0\.5 · advantage 1\.25 · correct 1 · brevity NaN · bonus – · style failed: timeout after 2 s \(1 of 2 criteria met\) · length/,
  );
  assert.deepEqual(rows[0]?.details, {
    style: {
      criteria: [
        { name: "dose", text: 'names the "dose"', points: 5, met: 1 },
        { text: "recommends what is harmful", points: -4, veto: true, met: 0 },
      ],
    },
  });
  const judged = await gradus("rollouts", run, "--where", 'criteria.style["dose"] == 1', "--criteria");
  assert.match(
    judged.stdout,
    /style failed: timeout after 2 s \(1 of 2 criteria met\) · length\n {6}style ✓ \+5 {2}dose\n {6}style ✗ −4, veto {2}recommends what is harmful\n/,
  );
  assert.match(judged.stderr, /^6 rollouts$/m);
  // The rollouts of this worker cannot be explained, which shows that they were read.
  const explained = await gradus("explain", box.file, "--rollouts", "last");
  assert.match(
    explained.stderr,
    new RegExp(`^${run}, step 0:\\d:1: error: "logp_new" is -Infinity at token 3`),
  );
  assert.match(
    (await gradus("explain", box.file, "--rollouts", "nowhere")).stderr,
    /There is no run nowhere in this store/,
  );
  const best = await gradus("rollouts", run, "--sort", "-step", "--limit", "1");
  assert.match(best.stdout, /^\nstep 5 /);
  const followed = await gradus("rollouts", run, "--task", "countdown 3 4");
  assert.match(
    followed.stdout,
    /^countdown 3 4\nIn 6 steps, 0 to 5 {2}\S{6} {2}1 of 2 right → 1 of 2 right\n\nstep 0 {2}1 of 2 right {2}mean reward 0\n {2}best {2}\[1\] {3}0\.500 {2}3 \+ 4/,
  );
  assert.match(
    (await gradus("rollouts", run, "--task", "none")).stderr,
    /No rollout of .* is of the task none/,
  );
  const wrong = await gradus("rollouts", run, "--where", "rewrd > 1");
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /character 1 is unknown[^]*Compare reward/);
  assert.equal((await gradus("runs", "export", run)).stdout.trim().split("\n").length, 12);
  assert.deepEqual(
    (await gradus("runs", "export", run, "--format", "csv")).stdout.trim().split("\n").slice(0, 3),
    ["step,reward/total,run/attempt", "0,0,0", "1,1,0"],
  );
  assert.equal(
    JSON.parse((await gradus("runs", "export", run, "--format", "json")).stdout).metrics.length,
    6,
  );
  const table = join(box.base, "run.parquet");
  assert.equal((await gradus("runs", "export", run, "--out", table)).code, 0);
  assert.deepEqual(
    parquetRows(table).map(({ step, index, tokens, response }) => ({ step, index, tokens, response })),
    (await gradus("runs", "export", run)).stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
      .map(({ step, index, tokens, response }) => ({ step, index, tokens, response })),
  );
  assert.equal((await gradus("runs", "export", run, "--to", "csv", "--out", table)).code, 0);
  assert.deepEqual(parquetRows(table)[1], { step: 1, "reward/total": 1, "run/attempt": 0 });
  assert.match(
    (await gradus("runs", "export", run, "--to", "report", "--out", table)).stderr,
    /holds rows, and the export `report` is none/,
  );
  const charts = join(box.base, "charts");
  const words = ["runs", "export", run, "--to", "tensorboard"];
  assert.match((await gradus(...words)).stderr, /needs --out: it is a folder[^]*Add --out FOLDER/);
  const exported = JSON.parse((await gradus(...words, "--out", charts, "--json")).stdout);
  assert.deepEqual([exported.out, exported.steps, exported.metrics], [join(charts, run), 6, 2]);
  assert.ok(exported.bytes > 500);
  assert.match((await gradus(...words, "--out", charts)).stderr, /exists already/);
  const traced = ["runs", "export", run, "--to", "trackio", "--out", charts];
  assert.equal(JSON.parse((await gradus(...traced, "--json")).stdout).rollouts, 12);
  assert.match((await gradus(...traced)).stderr, /has the run .* already/);
  assert.match(
    (await gradus("runs", "show", "nothing")).stderr,
    /There is no run nothing[^]*gradus runs list/,
  );
  assert.match((await gradus("runs", "fork", run)).stderr, /has no checkpoint on disk/);
  assert.equal((await gradus("runs", "stop", run)).code, 1);
  assert.match((await gradus("runs", "delete", run)).stdout, /is deleted/);
  assert.match((await gradus("runs")).stdout, /No runs yet/);
  const status = JSON.parse((await gradus("daemon", "status", "--json")).stdout);
  assert.ok(status.running && status.eventLoop.p99 >= 0 && /better-sqlite3|libsql/.test(status.driver));
  assert.match((await gradus("daemon", "logs")).stdout, /serving/);
  assert.match((await gradus("daemon", "stop")).stdout, /has stopped/);
  assert.match((await gradus("daemon", "stop")).stdout, /No daemon/);
});

test("gradus run says which tests of the reward fail, and starts the run", async () => {
  const tests = join(box.base, "project", "mini.reward.test.jsonl");
  const about = { task: { env: "countdown", data: { numbers: [3, 4], target: 7 } }, prompt: "3 4=7:" };
  const line = (response: string, expect: object): string => JSON.stringify({ ...about, response, expect });
  const passes = line("3+4", { term: "correct", at_least: 1 });
  writeFileSync(tests, `${passes}\n`);
  assert.doesNotMatch((await gradus("run", box.file, "--steps", "1", "--json")).stderr, /test/);
  writeFileSync(tests, `${passes}\n${line("3+4", { at_most: 0 })}\n`);
  const { code, stderr: err } = await gradus("run", box.file, "--steps", "1", "--json");
  const failing =
    /^warning: 1 test of the reward fails, of 2\. Show them: gradus test \S*mini\.reward\.test\.jsonl --config \S+$/m;
  assert.equal(code, 0, err);
  assert.match(err, failing);
  assert.match((await gradus("runs", "fork", "last", box.file)).stderr, failing);
});
