/** A project as a job of a real Ray cluster: started once, watched, stopped, found again by another process, and lost with Ray. */
import assert from "node:assert/strict";
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { isRunning } from "../../shared/daemon/process.ts";
import { ask } from "../../shared/daemon/request.ts";
import { metricsSeries, runsResume, runsStart } from "../../shared/protocol/protocol.ts";
import { UserError } from "../../shared/lib/errors.ts";
import { ray } from "../../server/sites/jobs/ray.ts";
import type { JobState, Runner } from "../../server/sites/jobs/runner.ts";
import { Sandbox, kill } from "../rpc/daemon.ts";
import { installed } from "../support/pythonPackages.ts";
import { farConfig, standInTrainer } from "../support/standInTrainer.ts";
import { until } from "../support/until.ts";

const python = installed({ versions: ["3.12", "3.11"], whole: ["ray[default]==2.60.0"], alone: [] });
const skip = python.kind === "none" ? `Ray: ${python.why}` : false;

/** Ray makes sockets below its folder: the path is to be short. */
const folder = mkdtempSync("/tmp/gr-");

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });

function projectOf(name: string, script: string): string {
  const project = join(folder, name);
  mkdirSync(project);
  writeFileSync(join(project, "launch.sh"), script);
  return project;
}

describe("jobs of Ray", { skip }, () => {
  let head: ChildProcess | undefined;
  let address = "";
  let runner: Runner;

  let dashboard = 0;

  /** A head of its own; what another head knew of jobs is gone. */
  async function startRay(): Promise<void> {
    assert.ok(python.kind === "python");
    const port = await freePort();
    rmSync(join(folder, "r"), { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    head = spawn(
      join(dirname(python.path), "ray"),
      [
        ...["start", "--head", "--block", "--num-cpus=2", "--node-ip-address=127.0.0.1", `--port=${port}`],
        ...["--dashboard-host=127.0.0.1", `--dashboard-port=${dashboard}`, `--temp-dir=${folder}/r`],
        ...["--object-store-memory=100000000", "--disable-usage-stats", "--include-dashboard=true"],
      ],
      { detached: true, stdio: "ignore" },
    );
    await until(() => answers(runner), "Ray to answer");
  }

  before(async () => {
    dashboard = await freePort();
    address = `http://127.0.0.1:${dashboard}`;
    runner = ray({ address });
    await startRay();
  });

  after(() => {
    if (head?.pid !== undefined) endTree(head.pid);
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  });

  const ended = (id: string, project: string): Promise<JobState> =>
    until(async () => {
      const state = await runner.state({ id, folder: project });
      return state.kind === "ended" || state.kind === "gone" ? state : undefined;
    }, `job ${id} to end`);

  it("runs launch.sh in its folder with its variables, once for one id, and another process finds it", async () => {
    const project = projectOf("one", 'echo "began $GREETING $1"\nwhile [ ! -e go ]; do sleep 0.1; done\n');
    const job = { id: "gradus-one", folder: project, resume: false, env: { GREETING: "hello" } };
    assert.equal((await runner.state(job)).kind, "absent");
    await runner.start(job);
    await until(async () => (await runner.state(job)).kind === "running", "the job to run");
    await runner.start(job);
    const other = ray({ address });
    assert.equal((await other.state(job)).kind, "running");
    writeFileSync(join(project, "go"), "");
    assert.deepEqual(await ended(job.id, project), { kind: "ended", code: 0, message: "" });
    assert.equal(readFileSync(join(project, "log.txt"), "utf8"), "began hello \n");
    await runner.start({ ...job, resume: true, id: "gradus-one-1" });
    await ended("gradus-one-1", project);
    assert.match(readFileSync(join(project, "log.txt"), "utf8"), /began hello --resume\n$/);
  });

  it("gives the exit code of what failed", async () => {
    const project = projectOf("bad", "echo worse >&2\nexit 3\n");
    await runner.start({ id: "gradus-bad", folder: project, resume: false, env: {} });
    const state = await ended("gradus-bad", project);
    assert.ok(state.kind === "ended" && state.code === 3, JSON.stringify(state));
    assert.equal(readFileSync(join(project, "log.txt"), "utf8"), "worse\n");
  });

  it("stops one", async () => {
    const project = projectOf("long", "sleep 600\n");
    const job = { id: "gradus-long", folder: project, resume: false, env: {} };
    await runner.start(job);
    await until(async () => (await runner.state(job)).kind === "running", "the job to run");
    await runner.stop(job);
    const state = await ended(job.id, project);
    assert.ok(state.kind === "ended" && state.code === null, JSON.stringify(state));
  });

  it("trains a run, which outlives the daemon, and goes on from its checkpoint when Ray itself was lost", async () => {
    const box = await Sandbox.make();
    const project = dirname(box.file);
    const started = { environment: { GRADUS_IDLE_MS: "60000" } };
    const pace = (text: string): void => writeFileSync(join(project, "pace"), text);
    try {
      writeFileSync(box.file, farConfig);
      mkdirSync(join(project, "sites"));
      const site = `kind: ray\naddress: ${address}\nfolder: ${project}/far\npython: ${standInTrainer(project)}\n`;
      writeFileSync(join(project, "sites", "lab.yaml"), site);
      let connection = await box.connect(started);
      pace("2");
      const { run } = await ask(connection, runsStart, { file: box.file, site: { name: "lab" } });
      await box.reach(connection, run, ({ step }) => step === 2);
      kill(box.discovery()!.pid, "SIGKILL");
      pace("3");
      connection = await box.connect(started);
      await box.reach(connection, run, ({ step }) => step === 3);
      endTree(head!.pid!);
      await until(async () => !(await answers(runner)), "Ray to be gone");
      await startRay();
      const lost = await box.reach(connection, run, ({ status }) => status === "failed");
      assert.match(lost.message ?? "", /lab knows nothing of the job any more.*gradus runs resume/);
      await until(() => !isRunning(box.workerOf(run)), "the worker to end");
      pace("6");
      await ask(connection, runsResume, { run });
      await box.reach(connection, run, ({ status }) => status === "finished");
      const asked = { run, metrics: ["reward/total"], maxPoints: 100 };
      const { series } = await ask(connection, metricsSeries, asked);
      assert.deepEqual([...(series[0]?.steps ?? [])], [1, 2, 3, 4, 5, 6]);
    } finally {
      await box.end();
    }
  });

  it("says what Ray refuses, and that Ray is gone", async () => {
    await assert.rejects(runner.stop({ id: "nothing", folder }), (error: unknown) => {
      assert.ok(error instanceof UserError && error.detail.code === "site-refused");
      return true;
    });
    endTree(head!.pid!);
    head = undefined;
    await until(async () => !(await answers(runner)), "Ray to be gone");
    await assert.rejects(runner.state({ id: "gradus-one", folder }), (error: unknown) => {
      assert.ok(error instanceof UserError && error.detail.code === "site-unreachable");
      return true;
    });
  });
});

const answers = (runner: Runner): Promise<boolean> =>
  runner.state({ id: "none", folder }).then(
    () => true,
    () => false,
  );

/** Ray's processes are in sessions of their own: all that have its folder on their command line or descend from it. */
function endTree(root: number): void {
  const rows = spawnSync("ps", ["-eo", "pid=,ppid=,args="], { encoding: "utf8" })
    .stdout.split("\n")
    .map((line) => {
      const [, pid, parent, args = ""] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
      return { pid: Number(pid), parent: Number(parent), args };
    });
  const own = new Set([root]);
  for (let before = 0; before !== own.size;) {
    before = own.size;
    for (const { pid, parent } of rows) if (own.has(parent)) own.add(pid);
  }
  for (const { pid, args } of rows) if (args.includes(`${folder}/r`)) own.add(pid);
  for (const pid of own)
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // it has ended by itself
    }
}
