/** A folder of another machine that is followed over a line as bad as it gets, with a real sshd at its other end. */
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { build } from "esbuild";
import type { MessageConnection } from "vscode-jsonrpc/node";
import { isRunning } from "../../shared/daemon/process.ts";
import { ask } from "../../shared/daemon/request.ts";
import {
  eventsQuery,
  metricsNames,
  metricsSeries,
  rolloutsQuery,
  runsImport,
  runsList,
  runsShow,
  type ResultOf,
} from "../../shared/protocol/protocol.ts";
import { jobState, startJob, stopJob, upload } from "../../server/sites/job.ts";
import { siteOf } from "../../server/sites/siteOf.ts";
import { sshVariable } from "../../server/sites/ssh.ts";
import { Sandbox } from "../rpc/daemon.ts";
import { gradus } from "../support/cli.ts";
import { SshServer, sshdProgram } from "../support/sshServer.ts";
import { until } from "../support/until.ts";

const program = sshdProgram(true);
const skip = program.kind === "none" ? program.why : false;

describe("a site by ssh", { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), "gs-"));
  const there = join(folder, "it's there");
  let box: Sandbox;
  let server: SshServer;
  let connection: MessageConnection;
  let writer: ChildProcess | undefined;

  before(async () => {
    if (program.kind === "none") return;
    server = await SshServer.make(folder, program);
    await server.start();
    box = await Sandbox.make();
    process.env[sshVariable] = server.command;
    connection = await box.connect({ environment: { GRADUS_IDLE_MS: "60000" } });
    await build({
      entryPoints: ["test/support/hookWriter.ts"],
      outfile: join(folder, "writer.mjs"),
      platform: "node",
      format: "esm",
    });
  });
  after(async () => {
    process.env[sshVariable] = "";
    writer?.kill("SIGKILL");
    await server?.end();
    await box?.end();
    rmSync(folder, { recursive: true, force: true });
  });

  const write = async (out: string): Promise<ChildProcess> => {
    const child = spawn(process.execPath, [join(folder, "writer.mjs"), out], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    await until(() => written(out) > 3, "the writer to begin");
    return child;
  };
  const written = (out: string): number => {
    const name = names(out).find((one) => one.startsWith("metrics-"));
    return name === undefined ? 0 : readFileSync(join(out, name), "utf8").split("\n").length - 1;
  };
  const follow = async (out: string): Promise<string> => {
    const site = { name: "box", from: dirname(box.file), env: { GRADUS_SSH: server.command } };
    return (await ask(connection, runsImport, { folder: out, config: null, site })).run;
  };
  const stepOf = async (run: string): Promise<number> => (await ask(connection, runsShow, { run })).step;
  const events = async (run: string, name: string) =>
    (await ask(connection, eventsQuery, { run, limit: 1_000 })).events.filter((one) => one.name === name);
  /** What had been written by now is in the run. */
  const caughtUp = async (run: string, out: string): Promise<void> => {
    const wanted = written(out);
    await until(async () => (await stepOf(run)) >= wanted, `step ${wanted}`);
  };

  it("is followed through breaks, a dead server, a stopped worker and a killed daemon, without a gap", async (t) => {
    const out = join(there, "out");
    writer = await write(out);
    const run = await follow(out);
    await caughtUp(run, out);

    server.relay.delay = 150;
    await caughtUp(run, out);
    server.relay.delay = 0;

    server.relay.reset();
    await caughtUp(run, out);

    const before = (await events(run, "site-unreachable")).length;
    server.relay.hang();
    await until(async () => (await events(run, "site-unreachable")).length > before, "the line to be missed");
    server.relay.goOn();
    server.relay.reset();
    await until(async () => (await events(run, "site-answers")).length > before, "the line to be back");
    await caughtUp(run, out);

    await server.kill();
    server.relay.reset();
    await until(async () => (await events(run, "site-unreachable")).length > before + 1, "sshd to be missed");
    await server.start();
    await until(async () => (await events(run, "site-answers")).length > before + 1, "sshd to be back");
    await caughtUp(run, out);

    const worker = box.workerOf(run);
    process.kill(worker, "SIGSTOP");
    const stopped = written(out);
    await until(() => written(out) > stopped + 200, "200 steps");
    process.kill(worker, "SIGCONT");
    await caughtUp(run, out);

    const daemon = box.discovery()?.pid ?? 0;
    process.kill(daemon, "SIGKILL");
    await until(() => !isRunning(daemon), "the daemon to end");
    connection = await box.connect({ environment: { GRADUS_IDLE_MS: "60000" } });
    await caughtUp(run, out);
    assert.equal(box.workerOf(run), worker, "the worker outlives the daemon");

    writer.stdin?.write("end");
    const [last] = await once(writer.stdout!, "data");
    await until(async () => (await ask(connection, runsShow, { run })).status === "finished", "the end");
    const said = (await ask(connection, eventsQuery, { run, limit: 1_000 })).events.map(
      ({ message }) => message,
    );
    t.diagnostic(`${String(last).trim()} steps; ${said.join(" | ")}`);
    assert.ok(said.some((message) => /^box does not answer: .*; trying again$/.test(message)));
    assert.ok(said.some((message) => /^box answers again: caught up \d+ steps?, no gap$/.test(message)));
    assert.equal(said.filter((message) => /written again/.test(message)).length, 0);

    const local = await gradus(["runs", "import", out, "--no-config", "--json"], dirname(box.file));
    assert.equal(local.code, 0, local.stderr);
    const { run: other } = JSON.parse(local.stdout) as { run: string };
    assert.deepEqual(await everything(run), await everything(other));
    assert.equal(await stepOf(run), Number(last));
    const { runs } = await ask(connection, runsList, {});
    assert.deepEqual(runs.find(({ id }) => id === run)?.origin?.site, { site: "box", folder: out });
  });

  /** Metrics and rollouts of a run. */
  async function everything(run: string) {
    const { names: metrics } = await ask(connection, metricsNames, { run });
    const { series } = await ask(connection, metricsSeries, {
      run,
      metrics: [...metrics],
      maxPoints: 20_000,
    });
    const rows: Omit<ResultOf<typeof rolloutsQuery>["rollouts"][number], "run">[] = [];
    for (let after: string | undefined; ;) {
      const page = { run, limit: 1_000, ...(after === undefined ? {} : { after }) };
      const { rollouts, next } = await ask(connection, rolloutsQuery, page);
      rows.push(...rollouts.map(({ run: _, ...row }) => row));
      if (next === null) break;
      after = next;
    }
    const order = (row: (typeof rows)[number]): string => `${row.step} ${row.group} ${row.index}`;
    rows.sort((one, other) => (order(one) < order(other) ? -1 : 1));
    return { series: [...series].sort((one, other) => (one.metric < other.metric ? -1 : 1)), rows };
  }

  it("is imported once on the command line, and waited for where nothing is written yet", async () => {
    const out = join(folder, "later");
    const cwd = dirname(box.file);
    const none = await gradus(["runs", "import", `box:${out}`], cwd);
    assert.equal(none.code, 1);
    assert.match(none.stderr, /There is no folder box:.*later/);
    const child = box.spawn(["runs", "import", `box:${out}`, "--follow", "--json"]);
    let [stdout, stderr] = ["", ""];
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    await until(() => stderr.includes(`waiting for the first step in box:${out}`), "it to wait");
    const second = await write(out);
    await until(() => stdout.includes('"type":"step"'), "its first step");
    second.stdin?.write("end");
    const [code] = await once(child, "exit");
    assert.equal(code, 0, stderr);
    assert.match(stdout, /"status":"finished"/);
    const pulled = await gradus(["runs", "import", `box:${out}`], cwd);
    assert.equal(pulled.code, 0, pulled.stderr);
    const list = await gradus(["runs", "list"], cwd);
    assert.match(list.stdout, new RegExp(`from box:${out}`));
  });

  it("keeps a job when the connection and sshd are gone", async () => {
    const project = join(folder, "project");
    mkdirSync(project);
    writeFileSync(join(project, "launch.sh"), "until [ -e out/stop ]; do sleep 0.1; done; exit 5\n");
    const { shell } = siteOf("box", folder);
    const remote = join(folder, "jobs", "it's one");
    await upload(shell, project, remote);
    await startJob(shell, remote, { resume: false, env: {} });
    server.relay.reset();
    await server.kill();
    await assert.rejects(jobState(shell, remote), /box does not answer/);
    await server.start();
    assert.deepEqual(await jobState(shell, remote), { kind: "running" });
    await stopJob(shell, remote, { gently: true });
    await until(async () => (await jobState(shell, remote)).kind === "ended", "the job's end");
    assert.deepEqual(await jobState(shell, remote), { kind: "ended", code: 5, message: "" });
  });
});

function names(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // not there yet
  }
}
