/**
 * A run that another trainer trains on a site: a real daemon, its worker, a real job. What trains is a program of ours in the
 * place of the site's Python, which writes as `gradus_hook.py` does, as far as `pace` lets it.
 */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { MessageConnection } from "vscode-jsonrpc/node";
import { ask } from "../../../shared/daemon/request.ts";
import {
  eventsQuery,
  metricsSeries,
  runsControl,
  runsResume,
  runsStart,
  type RunDetail,
} from "../../../shared/protocol/protocol.ts";
import { isLive } from "../../../shared/protocol/runStatus.ts";
import { readRunFile } from "../../../server/store/files.ts";
import { isRunning } from "../../../shared/daemon/process.ts";
import { lastMeasured } from "../../../server/cli/sites/expectedCost.ts";
import { farConfig, standInTrainer } from "../../support/standInTrainer.ts";
import { Sandbox, kill, until } from "../daemon.ts";

describe("a run on a site", () => {
  let box: Sandbox;
  let connection: MessageConnection;
  let project = "";
  const jobs = new Set<number>();
  const started = { environment: { GRADUS_IDLE_MS: "60000" } };

  before(async () => {
    box = await Sandbox.make();
    project = dirname(box.file);
    writeFileSync(box.file, farConfig);
    mkdirSync(join(project, "sites"));
    const python = standInTrainer(project);
    writeFileSync(
      join(project, "sites", "lab.yaml"),
      `kind: here\nfolder: ${join(project, "far")}\npython: ${python}\nenv: { GREETING: hello }\n`,
    );
    connection = await box.connect(started);
  });
  after(async () => {
    for (const pid of jobs) kill(pid, "SIGKILL");
    await box.end();
  });

  const pace = (text: string): void => writeFileSync(join(project, "pace"), text);
  const begin = async (): Promise<string> =>
    (await ask(connection, runsStart, { file: box.file, site: { name: "lab" } })).run;
  const reach = (run: string, is: (detail: RunDetail) => boolean) => box.reach(connection, run, is);
  const stepsOf = async (run: string): Promise<readonly number[]> => {
    const { series } = await ask(connection, metricsSeries, {
      run,
      metrics: ["reward/total"],
      maxPoints: 100,
    });
    return [...(series[0]?.steps ?? [])];
  };
  const said = async (run: string): Promise<string[]> =>
    (await ask(connection, eventsQuery, { run, limit: 100 })).events.map(({ name }) => name);
  const jobOf = (run: string): number => {
    const pid = Number(readFileSync(join(project, "far", run, "job.pid"), "utf8").split(" ")[0]);
    jobs.add(pid);
    return pid;
  };

  it("stops after its step, goes on from its checkpoint, and finishes", async () => {
    pace("2");
    const run = await begin();
    await reach(run, ({ step }) => step === 2);
    const { origin, backend, steps } = await reach(run, ({ status }) => status === "running");
    assert.deepEqual(
      [origin?.site, backend, steps],
      [{ site: "lab", folder: join(project, "far", run), engine: "trl" }, "TRL", 7],
    );
    jobOf(run);
    await ask(connection, runsControl, { run, action: "stop" });
    const stopped = await reach(run, ({ status }) => status === "stopped");
    assert.equal(stopped.message, "Stopped on lab.");
    await until(() => Promise.resolve(isRunning(box.workerOf(run)) ? null : true), "the worker's end");
    pace("6");
    await ask(connection, runsResume, { run });
    await reach(run, ({ status }) => status === "finished");
    assert.deepEqual(await stepsOf(run), [1, 2, 3, 4, 5, 6]);
    assert.deepEqual((await said(run)).filter((name) => name.startsWith("site-")).toSorted(), [
      "site-resumed",
      "site-started",
      ...["site-took", "site-took"],
    ]);
    const files = readdirSync(join(box.folder(run), "project"));
    assert.ok(
      ["launch.sh", "train.py", "MISSING.md"].every((name) => files.includes(name)),
      files.join(" "),
    );
    const measured = { run, seconds: [0.1, 0.1, 0.1, 0.1, 0.1, 0.1] };
    assert.deepEqual(await lastMeasured(connection, box, { reference: "lab" }), {
      steps: measured,
      length: 4,
    });
    // To another site it is a rehearsal: responses will be as long, and steps may take any time.
    const elsewhere = await lastMeasured(connection, box, { reference: "cluster" });
    assert.deepEqual(elsewhere, { steps: undefined, length: 4 });
  });

  it("goes on while nobody watches, and is followed again without a gap", async () => {
    pace("2");
    const run = await begin();
    await reach(run, ({ step }) => step === 2);
    const job = jobOf(run);
    kill(box.workerOf(run), "SIGKILL");
    const alone = await reach(run, ({ status }) => status === "interrupted");
    assert.match(alone.message ?? "", /The job on lab goes on/);
    pace("5");
    const checkpoint = join(project, "far", run, "out", "checkpoints", "step");
    await until(() => Promise.resolve(readFileSync(checkpoint, "utf8") === "5" || null), "the job's steps");
    await ask(connection, runsResume, { run });
    await reach(run, ({ step }) => step === 5);
    assert.ok(isRunning(job));
    assert.ok((await said(run)).includes("site-attached"));
    pace("6");
    await reach(run, ({ status }) => status === "finished");
    assert.deepEqual(await stepsOf(run), [1, 2, 3, 4, 5, 6]);
  });

  it("a worker that is ended, as by a shutdown, leaves the job alone; stop --now does not", async () => {
    pace("1");
    const run = await begin();
    await reach(run, ({ step }) => step === 1);
    const job = jobOf(run);
    kill(box.workerOf(run), "SIGTERM");
    await reach(run, ({ status }) => status === "interrupted");
    assert.ok(isRunning(job));
    await ask(connection, runsResume, { run });
    await reach(run, ({ status }) => status === "running");
    await until(
      async () => ((await said(run)).includes("site-attached") ? true : null),
      "that it is followed",
    );
    await ask(connection, runsControl, { run, action: "stop", now: true });
    await reach(run, ({ status }) => status === "stopped");
    assert.ok(!isRunning(job));
  });

  it("fails with what the trainer said last, and with a site that cannot be", async () => {
    pace("1");
    const run = await begin();
    await reach(run, ({ step }) => step === 1);
    jobOf(run);
    pace("1 fail");
    const { message } = await reach(run, ({ status }) => status === "failed");
    assert.match(message ?? "", /^The trainer on lab ended with exit code 1\. .*out of memory/);
    await assert.rejects(
      ask(connection, runsStart, { file: box.file, site: { name: "./sites/none.yaml" } }),
      /none\.yaml|cannot be read/,
    );
    assert.ok(!existsSync(join(project, "far", "none")));
  });

  it("is no place for the engine of Gradus", () =>
    assert.rejects(
      ask(connection, runsStart, { file: box.file, site: { name: "lab" }, set: ["engine.use=embedded"] }),
      /trains in the engine of Gradus/,
    ));

  it("is this machine for the engine of Gradus where it is `here`", async () => {
    const set = ["engine.use=embedded"];
    const { run, folder } = await ask(connection, runsStart, { file: box.file, site: { name: "here" }, set });
    assert.equal(readRunFile(folder)?.site, undefined);
    await ask(connection, runsControl, { run, action: "stop", now: true });
    await reach(run, ({ status }) => !isLive(status));
  });
});
