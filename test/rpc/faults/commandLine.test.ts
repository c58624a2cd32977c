/** Bad input and faults, as a person meets them on the command line: what is said, what is kept, what is left running. */
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ofKind, readLog } from "../../support/runFolder.ts";
import { Workspace, type Finished, type Line, type Said, type Talk } from "../../support/workspace.ts";
import { until } from "../daemon.ts";

/** A run of a few steps, and one that only a fault ends. */
const short = ["stages.warm-up.steps=2", "stages.practice.steps=2", "evaluation.prompts=2"];
const endless = ["stages.practice.steps=100000", "evaluation.every=1000000", "checkpoint.keep=100"];
const sets = (...values: readonly string[]): string[] => values.flatMap((value) => ["--set", value]);

async function inWorkspace(act: (workspace: Workspace) => Promise<void>, folder?: string): Promise<void> {
  const workspace = new Workspace(folder);
  try {
    await act(workspace);
  } finally {
    await workspace.remove();
  }
}

const idOf = (talk: Said): string => talk.of("started")[0]!.run!;
const reaches = (step: number) => (talk: Talk) => talk.of("step").some((line) => line.step! >= step);
const text = (line: Line | undefined): string => String(line?.["message"]);

/** The run failed, and its summary is the last line. */
function failure({ code, lines, stderr }: Finished): string {
  assert.equal(code, 1, stderr);
  assert.equal(lines.at(-1)!.type, "summary");
  assert.equal(lines.at(-1)!.status, "failed");
  return text(lines.at(-1));
}

test("what is wrong before a run is reported with its file, and its line where there is one; nothing starts", () =>
  inWorkspace(async (workspace) => {
    const path = (name: string): string => join(workspace.folder, name);
    writeFileSync(path("open.gradus.yaml"), "name: x\ntasks: [{ env: countdown\nreward: 1\n");
    writeFileSync(path("one.gradus.yaml"), "extends: ./two.gradus.yaml\n");
    writeFileSync(path("two.gradus.yaml"), "# two\nextends: ./one.gradus.yaml\n");
    writeFileSync(path("base.gguf"), "");
    writeFileSync(path("mine.ts"), "export const score = () => 1;\n");
    const mine = sets("reward.terms.mine={ use: ./mine.ts }");
    assert.equal((await workspace.finish("run", workspace.config, ...mine, "--dry-run", "--json")).code, 0);
    rmSync(path("mine.ts"));
    writeFileSync(join(workspace.folder, "mine.py"), "def compute_score(x):\n    return 1\n");
    for (const [words, said] of [
      [[path("open.gradus.yaml")], /open\.gradus\.yaml:2:\d+: error: This `\{` is never closed/],
      [[path("one.gradus.yaml")], /one\.gradus\.yaml:1:10: error: .*two\.gradus\.yaml:2.*goes in a circle/],
      [[path("gone.gradus.yaml")], /gone\.gradus\.yaml: error: .*cannot be read[^]*gradus init/],
      [[workspace.config, ...sets("model.base=./nowhere")], /There is no model at `nowhere`/],
      [
        [workspace.config, ...sets("model.base=./base.gguf")],
        /base\.gguf: error: .*does not begin with GGUF/,
      ],
      [
        [workspace.config, ...sets("reward.terms.mine={ use: ./mine.py:compute_score }")],
        /`compute_score` takes `x`, which is no convention that Gradus calls.*Add a function to `mine\.py`/,
      ],
      [[workspace.config, ...mine], /There is no file `mine\.ts` for the reward `mine`/],
    ] as const) {
      const { code, lines, stderr } = await workspace.finish("run", ...words, "--json");
      assert.equal(code, 1);
      assert.deepEqual(lines, []);
      assert.match(stderr, said);
      assert.doesNotMatch(stderr, /gone.*:1:1:/);
    }
    const { stderr } = await workspace.finish("sample", path("nowhere"));
    assert.match(stderr, /nowhere: error: .*is not a checkpoint/);
  }));

test("what only the worker finds out reaches its end record, the follower and the exit code", () =>
  inWorkspace(async (workspace) => {
    const torn = 'import "./nowhere.ts";\nexport const score = () => 1;\n';
    writeFileSync(join(workspace.folder, "torn.ts"), torn);
    for (const [set, said, file] of [
      ["reward.terms.torn={ use: ./torn.ts }", /nowhere\.ts.*torn\.ts:1\)\. Correct the file/, "torn.ts"],
    ] as const) {
      const talk = await workspace.finish("run", workspace.config, "--json", ...sets(...short, set));
      const message = failure(talk);
      assert.match(message, said);
      assert.equal(message.split(join(workspace.folder, file)).length, 2, `${message} names the file once`);
      const error = talk.of("event").find((line) => line["severity"] === "error");
      assert.ok(String(error?.["action"]).length > 10);
      assert.equal(ofKind(readLog(workspace.runFolder(idOf(talk)), 0), "end")[0]!.message, message);
    }
  }));

test("a reward that fails on every rollout is an error that names the user's own line; the run goes on", () =>
  inWorkspace(async (workspace) => {
    const file = join(workspace.folder, "mine.ts");
    writeFileSync(file, "const what = 'boom';\nexport function score() {\n  throw new Error(what);\n}\n");
    const talk = await workspace.finish(
      "run",
      workspace.config,
      "--json",
      ...sets(...short, "reward.terms.mine={ use: ./mine.ts }"),
    );
    assert.equal(talk.code, 0, talk.stderr);
    const events = talk.of("event").filter((line) => line["name"] === "reward-error");
    assert.equal(events.length, 2);
    assert.equal(events[0]!["severity"], "error");
    assert.match(text(events[0]), /mine\.ts:score: threw Error: boom .*mine\.ts:3:\d+\)\).*every rollout/);
    assert.ok(text(events[0]).includes(`${file}:3:`), text(events[0]));
    for (const line of talk.of("step").slice(2))
      assert.deepEqual((line["metrics"] as Record<string, unknown>)["tokens/trained"], 0);
  }));

test("a reward that never returns ends with its killed worker", { skip: process.platform !== "linux" }, () =>
  inWorkspace(async (workspace) => {
    const pidFile = join(workspace.folder, "pid");
    writeFileSync(
      join(workspace.folder, "hang.ts"),
      `import { writeFileSync } from "node:fs";\nexport function score() { writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); for (;;); }\n`,
    );
    const talk = workspace.start(
      "run",
      workspace.config,
      "--json",
      ...sets(...short, "reward.terms.hang={ use: ./hang.ts, timeout: 300 }"),
    );
    await talk.until(({ lines }) => lines.some(({ type }) => type === "started"));
    const host = await until(() => Promise.resolve(fileOrNull(pidFile)), "the reward to be called");
    process.kill(workspace.worker(idOf(talk)).pid, "SIGKILL");
    assert.equal(await talk.ended, 1);
    assert.match(text(talk.lines.at(-1)), /ended without finishing.*gradus runs resume/);
    await until(() => Promise.resolve(fileOrNull(`/proc/${host}/cmdline`) === null ? true : null), "its end");
  }),
);

test("an edited, then removed config and a damaged checkpoint: resume goes by what was recorded", () =>
  inWorkspace(async (workspace) => {
    const first = workspace.start("run", workspace.config, "--json", ...sets(...endless));
    await first.until(reaches(16));
    const run = idOf(first);
    for (const verb of ["delete", "resume"]) {
      const { code, stderr } = await workspace.finish("runs", verb, run, "--json");
      assert.equal(code, 1);
      assert.match(stderr, /is live[^]*gradus runs stop/);
    }
    process.kill(workspace.worker(run).pid, "SIGKILL");
    await first.ended;
    rmSync(workspace.config);

    const checkpoints = join(workspace.runFolder(run), "checkpoints");
    const shown = JSON.parse((await workspace.finish("runs", "show", run, "--json")).text);
    const last: { step: number; path: string } = shown.checkpoints.at(-1);
    assert.equal(last.path, join(checkpoints, String(last.step)));
    const kept = join(workspace.folder, "kept");
    cpSync(last.path, kept, { recursive: true });
    for (const name of ["state.json", "policy/model.safetensors"]) {
      truncateSync(join(last.path, name), readFileSync(join(kept, name)).length >> 1);
      assert.equal((await workspace.finish("runs", "resume", run, "--json")).code, 0);
      const message = failure(await workspace.finish("runs", "follow", run, "--json", "--no-history"));
      assert.ok(message.includes(join(last.path, name)), message);
      assert.match(message, new RegExp(`Move .*${last.step} away, then resume.*checkpoint of step \\d+`));
      cpSync(join(kept, name), join(last.path, name));
    }

    renameSync(last.path, join(workspace.folder, "damaged"));
    const { attempt } = JSON.parse((await workspace.finish("runs", "resume", run, "--json")).text);
    const again = workspace.start("runs", "follow", run, "--json", "--no-history");
    await again.until(reaches(last.step + 1));
    await workspace.finish("runs", "stop", run, "--json");
    await again.ended;
    assert.equal(again.lines.at(-1)!.status, "stopped");
    assert.ok(ofKind(readLog(workspace.runFolder(run), attempt), "start")[0]!.resumed_at! <= last.step);
  }));

test("admission that keeps nothing stops refilling and says which success rates it saw", () =>
  inWorkspace(async (workspace) => {
    const band = "curriculum.admission={ use: success_band, low: 0.4, high: 0.45, refill: adaptive }";
    const talk = await workspace.finish("run", workspace.config, "--json", ...sets(...short, band));
    assert.equal(talk.code, 0, talk.stderr);
    const starved = talk.of("event").filter((line) => line["name"] === "starved");
    assert.equal(starved.length, 2);
    assert.match(text(starved[0]), /kept 0 of 16 groups, but the step wants 4; success rates seen: /);
    const written = ofKind(readLog(workspace.runFolder(idOf(talk)), 0), "rollout");
    assert.equal(written.filter(({ row }) => row.use === "train").length, 2 * 16 * 4);
  }));

test("a workspace may lie deep, with spaces and letters of any script in its path", () => {
  const deep = join("Über 漢字 o'clock $HOME", "x".repeat(120), "y".repeat(120));
  return inWorkspace(async (workspace) => {
    mkdirSync(join(workspace.folder, "re wards"));
    writeFileSync(join(workspace.folder, "re wards", "é.ts"), "export const score = () => 1;\n");
    const reward = 'reward.terms.mine={ use: "./re wards/é.ts" }';
    const talk = await workspace.finish("run", workspace.config, "--json", ...sets(...short, reward));
    assert.equal(talk.code, 0, talk.stderr);
    assert.equal(talk.lines.at(-1)!.status, "finished");
  }, deep);
});

function fileOrNull(path: string): string | null {
  try {
    return readFileSync(path, "utf8") || null;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
