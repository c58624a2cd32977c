/**
 * A run on a machine that only a real sshd reaches: the job goes on while sshd, the line, the worker and the daemon do not, and what
 * it wrote is all there in the end.
 */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { MessageConnection } from "vscode-jsonrpc/node";
import { isRunning } from "../../shared/daemon/process.ts";
import { ask } from "../../shared/daemon/request.ts";
import {
  eventsQuery,
  metricsSeries,
  runsControl,
  runsResume,
  runsShow,
  runsStart,
} from "../../shared/protocol/protocol.ts";
import { Sandbox, kill } from "../rpc/daemon.ts";
import { farConfig, standInTrainer } from "../support/standInTrainer.ts";
import { SshServer, sshdProgram } from "../support/sshServer.ts";
import { until } from "../support/until.ts";

const program = sshdProgram(true);
const skip = program.kind === "none" ? program.why : false;

describe("a run by ssh", { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), "gs-"));
  const far = join(folder, "it's far");
  const jobs = new Set<number>();
  let box: Sandbox;
  let server: SshServer;
  let connection: MessageConnection;
  let project = "";

  before(async () => {
    if (program.kind === "none") return;
    server = await SshServer.make(folder, program);
    await server.start();
    box = await Sandbox.make();
    project = dirname(box.file);
    writeFileSync(box.file, farConfig);
    mkdirSync(join(project, "sites"));
    const python = standInTrainer(project);
    writeFileSync(
      join(project, "sites", "lab.yaml"),
      `kind: ssh\nhost: box\nfolder: ${JSON.stringify(far)}\npython: ${python}\n`,
    );
    connection = await box.connect({ environment: { GRADUS_IDLE_MS: "60000" } });
  });
  after(async () => {
    for (const pid of jobs) kill(pid, "SIGKILL");
    await server?.end();
    await box?.end();
    rmSync(folder, { recursive: true, force: true });
  });

  const env = () => ({ GRADUS_SSH: server.command });
  const pace = (text: string): void => writeFileSync(join(project, "pace"), text);
  const saved = (run: string): string => readFileSync(join(far, run, "out", "checkpoints", "step"), "utf8");
  const reach = (run: string, is: (run: { status: string; step: number }) => boolean, what: string) =>
    until(async () => is(await ask(connection, runsShow, { run })), what);
  const said = async (run: string): Promise<string> =>
    (await ask(connection, eventsQuery, { run, limit: 100 })).events.map(({ message }) => message).join("\n");
  const stepsOf = async (run: string): Promise<readonly number[]> => {
    const { series } = await ask(connection, metricsSeries, {
      run,
      metrics: ["reward/total"],
      maxPoints: 100,
    });
    return [...(series[0]?.steps ?? [])];
  };
  const begin = async (): Promise<string> => {
    pace("1");
    const site = { name: "lab", env: env() };
    const { run } = await ask(connection, runsStart, { file: box.file, site });
    await reach(run, ({ step }) => step === 1, "its first step");
    jobs.add(Number(readFileSync(join(far, run, "job.pid"), "utf8").split(" ")[0]));
    return run;
  };

  it("outlives sshd and a line that hangs, and catches up without a gap", async () => {
    const run = await begin();
    await server.kill();
    pace("3");
    await until(() => saved(run) === "3", "the job to go on");
    await until(async () => /does not answer.*trying again/.test(await said(run)), "the loss to be recorded");
    await server.start();
    await reach(run, ({ step }) => step === 3, "the steps that were missed");
    await until(
      async () => /lab answers again: caught up 2 steps, no gap/.test(await said(run)),
      "that it says what it caught up",
    );
    server.relay.hang();
    pace("5");
    await until(() => saved(run) === "5", "the job to go on");
    server.relay.goOn();
    server.relay.reset();
    await reach(run, ({ step }) => step === 5, "the steps after the line hung");
    pace("6");
    await reach(run, ({ status }) => status === "finished", "the end");
    assert.deepEqual(await stepsOf(run), [1, 2, 3, 4, 5, 6]);
  });

  it("outlives the daemon and the worker here; stopped and resumed by another daemon", async () => {
    const run = await begin();
    const worker = box.workerOf(run);
    kill(worker, "SIGSTOP");
    pace("2");
    await until(() => saved(run) === "2", "the job to go on");
    kill(worker, "SIGCONT");
    await reach(run, ({ step }) => step === 2, "what came while the worker was stopped");
    kill(box.discovery()!.pid, "SIGKILL");
    kill(worker, "SIGKILL");
    pace("4");
    await until(() => saved(run) === "4", "the job to go on");
    connection = await box.connect({ environment: { GRADUS_IDLE_MS: "60000" } });
    await reach(run, ({ status }) => status === "interrupted", "that nobody follows it");
    await ask(connection, runsResume, { run, env: env() });
    await reach(run, ({ step }) => step === 4, "the steps that were missed");
    await ask(connection, runsControl, { run, action: "stop" });
    await reach(run, ({ status }) => status === "stopped", "that it stops");
    await until(() => !isRunning(box.workerOf(run)), "the worker to end");
    pace("6");
    await ask(connection, runsResume, { run, env: env() });
    await reach(run, ({ status }) => status === "finished", "the end");
    assert.deepEqual(await stepsOf(run), [1, 2, 3, 4, 5, 6]);
    assert.match(await said(run), /Started again from its last checkpoint on lab/);
  });
});
