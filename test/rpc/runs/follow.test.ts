/** A folder that another program is writing, followed as a run: by a real daemon and its worker, and on the command line. */
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { MessageConnection } from "vscode-jsonrpc/node";
import { ask } from "../../../shared/daemon/request.ts";
import {
  metricsSeries,
  rolloutsQuery,
  runsControl,
  runsImport,
  runsList,
  runsShow,
} from "../../../shared/protocol/protocol.ts";
import { readDiscovery } from "../../../shared/daemon/discovery.ts";
import { isRunning } from "../../../shared/daemon/process.ts";
import { runtimePaths } from "../../../shared/daemon/runtime.ts";
import { gradus } from "../../support/cli.ts";
import { Sandbox, until } from "../daemon.ts";

describe("a daemon that follows a folder", () => {
  let box: Sandbox;
  let connection: MessageConnection;
  let project = "";
  before(async () => {
    box = await Sandbox.make();
    project = dirname(box.file);
    connection = await box.connect({ environment: { GRADUS_IDLE_MS: "60000" } });
  });
  let writer: ChildProcess | undefined;
  after(async () => {
    writer?.kill();
    await box.end();
  });
  const soon = (is: () => Promise<boolean>, what: string) =>
    until(async () => ((await is()) ? true : null), what);
  const shown = (run: string) => ask(connection, runsShow, { run });
  const steps = async (run: string, metric = "reward/total") => {
    const { series } = await ask(connection, metricsSeries, { run, metrics: [metric], maxPoints: 100 });
    return [...(series[0]?.steps ?? [])];
  };
  const rolloutsOf = async (run: string, step: number) =>
    (await ask(connection, rolloutsQuery, { run, step, limit: 100 })).rollouts;

  it("takes in verl's steps as they are written, until the run is stopped", async () => {
    const fixture = "test/fixtures/imported/verl";
    const out = join(project, "out");
    mkdirSync(join(out, "rollouts"), { recursive: true });
    const lines = readFileSync(join(fixture, "metrics.jsonl"), "utf8").split("\n");
    const write = (step: number): void => {
      cpSync(join(fixture, "rollouts", `${step}.jsonl`), join(out, "rollouts", `${step}.jsonl`));
      // A file at rest is complete.
      utimesSync(
        join(out, "rollouts", `${step}.jsonl`),
        new Date(Date.now() - 5_000),
        new Date(Date.now() - 5_000),
      );
      appendFileSync(join(out, "metrics.jsonl"), `${lines[step - 1]}\n`);
    };
    write(1);
    write(2);
    const { run } = await ask(connection, runsImport, { folder: out, config: null });
    await soon(async () => (await steps(run)).length === 2, "two steps");
    assert.deepEqual([(await shown(run)).status, (await shown(run)).origin?.trainer], ["running", "verl"]);
    assert.equal((await rolloutsOf(run, 2)).length, 16);
    write(3);
    await soon(async () => (await steps(run)).length === 3, "the third step");
    await soon(async () => (await rolloutsOf(run, 3)).length === 16, "its rollouts");
    await assert.rejects(ask(connection, runsControl, { run, action: "pause" }), /Gradus watches its folder/);
    await ask(connection, runsControl, { run, action: "stop" });
    await soon(async () => (await shown(run)).status === "stopped", "the end");
    const { message, origin } = await shown(run);
    assert.match(message ?? "", /the training itself goes on/);
    assert.deepEqual([origin?.rollouts, origin?.steps], [48, 3]);
    assert.equal((await ask(connection, runsList, {})).runs[0]?.id, run);
  });

  it("takes in what a reward's processes record, until TRL's callback says that it has ended", async () => {
    const out = join(project, "gradus-rollouts");
    const hook = join(process.cwd(), "server/cli/hook");
    const child = (writer = spawn(
      "python3",
      [
        "-c",
        `import sys; sys.path.insert(0, ${JSON.stringify(hook)}); sys.dont_write_bytecode = True
from gradus_hook import *
class State: global_step = 0; is_world_process_zero = True
class Arguments:
    num_generations = 2
    def to_dict(self): return {"max_steps": 3, "reward_weights": [2.0]}
callback = trl_callback(); callback.on_train_begin(Arguments(), State, None)
@log_rollouts
def right(completions, **kw): return [1.0, 0.0]
for line in sys.stdin:
    if line == "end\\n": callback.on_train_end(Arguments(), State, None); continue
    right(prompts=["a", "a"], completions=["x", "y"], trainer_state=State)
    State.global_step += 1
    callback.on_log(Arguments(), State, None, logs={"reward": 1.0})
`,
      ],
      { env: { ...process.env, GRADUS_ROLLOUTS: out }, stdio: ["pipe", "ignore", "inherit"] },
    ));
    child.stdin!.write("step\nstep\n");
    await soon(() => Promise.resolve(folderHas(out, /^rollouts-/)), "its file");
    const { run } = await ask(connection, runsImport, { folder: out });
    await soon(async () => (await rolloutsOf(run, 2)).length === 2, "two steps of rollouts");
    child.stdin!.write("step\n");
    await soon(async () => (await rolloutsOf(run, 3)).length === 2, "the third");
    assert.deepEqual(
      (await rolloutsOf(run, 3)).map(({ reward }) => reward),
      [2, 0],
    );
    const { status, verdict } = await shown(run);
    assert.equal(status, "running");
    assert.doesNotMatch(verdict?.label ?? "", /no step for/);
    child.stdin!.end("end\n");
    await soon(async () => (await shown(run)).status === "finished", "the end");
    const { origin, steps: planned } = await shown(run);
    assert.deepEqual([origin?.rollouts, origin?.steps, planned, await steps(run)], [6, 3, 4, [1, 2, 3]]);
  });

  it("ends at once where nothing has been written for hours", async () => {
    const out = join(project, "events");
    cpSync("test/fixtures/trackers/tensorboard/v1", out, { recursive: true });
    const [name] = readdirSync(out);
    utimesSync(join(out, name!), 1_790_000_000, 1_790_000_000);
    const { run } = await ask(connection, runsImport, { folder: out });
    await soon(async () => (await shown(run)).status === "finished", "the end");
    assert.deepEqual(await steps(run), [1, 2, 3, 4, 5, 6]);
  });

  it("makes the store where there is none yet", async () => {
    const fresh = join(box.base, "fresh");
    mkdirSync(fresh);
    const { code, stdout, stderr } = await gradus(
      ["runs", "import", join(project, "events"), "--follow", "--json"],
      fresh,
    );
    const daemon = readDiscovery(runtimePaths(join(fresh, ".gradus")).discovery)?.pid ?? 0;
    process.kill(daemon);
    await soon(() => Promise.resolve(!isRunning(daemon)), "its daemon to end");
    assert.deepEqual([code, stderr], [0, ""]);
    assert.match(stdout, /"status":"finished"/);
  });

  it("refuses a folder without anything, and a config with errors", async () => {
    const empty = join(project, "empty");
    mkdirSync(empty);
    await assert.rejects(ask(connection, runsImport, { folder: empty }), /nothing to import/);
    const wrong = join(project, "wrong.gradus.yaml");
    writeFileSync(wrong, "rollout: { group: none }\n");
    await assert.rejects(
      ask(connection, runsImport, { folder: join(project, "events"), config: wrong }),
      /The config has errors/,
    );
  });
});

function folderHas(folder: string, name: RegExp): boolean {
  try {
    return readdirSync(folder).some((one) => name.test(one));
  } catch {
    return false; // not there yet
  }
}

describe("a daemon that only watches", () => {
  it("ends when it is idle, the watching goes on, and the next one takes it over", async () => {
    const box = await Sandbox.make();
    const out = join(dirname(box.file), "out");
    cpSync("test/fixtures/imported/verl", out, { recursive: true });
    const link = await box.link({ environment: { GRADUS_IDLE_MS: "100" } });
    const { run } = await ask(link.connection(), runsImport, { folder: out, config: null });
    await box.reach(link.connection(), run, ({ step }) => step >= 2);
    link.close();
    await until(async () => (isRunning(link.hello.pid) ? null : true), "the idle daemon");
    const worker = box.workerOf(run);
    assert.ok(isRunning(worker));
    const connection = await box.connect();
    assert.equal((await ask(connection, runsShow, { run })).status, "running");
    await ask(connection, runsControl, { run, action: "stop" });
    await until(async () => (isRunning(worker) ? null : true), "the worker's end");
    await box.end();
  });
});
