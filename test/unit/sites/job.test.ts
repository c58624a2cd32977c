/** A project as a job of this machine: started, looked at, stopped. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { isRunning } from "../../../shared/daemon/process.ts";
import { here } from "../../../server/sites/here.ts";
import type { JobState } from "../../../server/sites/jobs/runner.ts";
import { jobState, startJob, stopJob, upload } from "../../../server/sites/job.ts";
import { until } from "../../support/until.ts";

const base = mkdtempSync(join(tmpdir(), "gradus-job-"));
const shell = here();
const pids = new Set<number>();
after(() => {
  for (const pid of pids) if (isRunning(pid)) process.kill(-pid, "SIGKILL");
  rmSync(base, { recursive: true, force: true });
});

let number = 0;
async function project(launch: string): Promise<string> {
  const local = join(base, `local ${++number}`);
  mkdirSync(join(local, "data"), { recursive: true });
  writeFileSync(join(local, "launch.sh"), launch);
  writeFileSync(join(local, "data", "it's.txt"), "é");
  const remote = join(base, "there", `job '${number}'`);
  await upload(shell, local, remote);
  return remote;
}
const start = async (folder: string, resume = false, env: Record<string, string> = {}) => {
  const started = await startJob(shell, folder, { resume, env });
  pids.add(started.pid);
  return started;
};
const ended = (folder: string) =>
  until(async () => {
    const state = await jobState(shell, folder);
    return state.kind === "running" ? undefined : state;
  }, "the job's end");

const exited = (code: number): JobState => ({ kind: "ended", code, message: "" });

describe("a job", () => {
  it("is a folder that is copied there, also over what is there", async () => {
    const folder = await project("true");
    assert.equal(readFileSync(join(folder, "data", "it's.txt"), "utf8"), "é");
    writeFileSync(join(folder, "out.txt"), "kept");
    await upload(shell, join(base, `local ${number}`), folder);
    assert.equal(readFileSync(join(folder, "out.txt"), "utf8"), "kept");
    assert.equal(existsSync(`${folder}.part`), false);
    await assert.rejects(upload(shell, join(base, "nothing"), folder), /cannot be packed/);
  });

  it("runs in its folder with its variables, writes its log, and leaves its exit code", async () => {
    const folder = await project(`echo "$PWD $1 $SECRET"; cat; echo oops >&2; exit 7`);
    assert.deepEqual(await jobState(shell, folder), { kind: "absent" });
    const { log } = await start(folder, true, { SECRET: "~/a 'b'\n$HOME" });
    assert.deepEqual(await ended(folder), exited(7));
    assert.equal(log, "log-1.txt");
    assert.equal(readFileSync(join(folder, log), "utf8"), `${folder} --resume ~/a 'b'\n$HOME\noops\n`);
    assert.equal((await start(folder)).log, "log-2.txt");
    assert.deepEqual(await ended(folder), exited(7));
    await assert.rejects(start(folder, false, { "A B": "" }), /name of no environment variable/);
  });

  it("is not started twice, nor where there is no project", async () => {
    const folder = await project("sleep 60");
    const starts = await Promise.allSettled([start(folder), start(folder), start(folder)]);
    assert.equal(starts.filter(({ status }) => status === "fulfilled").length, 1);
    await assert.rejects(start(folder), /runs in .* already/);
    await stopJob(shell, folder, { gently: false });
    await assert.rejects(start(join(base, "none")), /no project/);
    assert.deepEqual(await jobState(shell, join(base, "none")), { kind: "absent" });
  });

  it("is asked to stop gently", async () => {
    const folder = await project("mkdir -p out; until [ -e out/stop ]; do sleep 0.05; done; echo saved");
    mkdirSync(join(folder, "out"));
    writeFileSync(join(folder, "out", "stop"), "of the attempt before");
    await start(folder);
    assert.deepEqual(await jobState(shell, folder), { kind: "running" });
    await stopJob(shell, folder, { gently: true });
    assert.deepEqual(await ended(folder), exited(0));
    assert.equal(readFileSync(join(folder, "log-1.txt"), "utf8"), "saved\n");
  });

  it("is ended with all its processes, by SIGKILL where SIGTERM does not do it", async () => {
    const obeys = await project("echo $$ > pid; sleep 60 & wait");
    await start(obeys);
    assert.deepEqual(await stopJob(shell, obeys, { gently: false }), exited(143));
    const refuses = await project(
      `trap '' TERM; sh -c 'trap "" TERM; echo $$ > pid; while :; do sleep 1; done' & while :; do sleep 1; done`,
    );
    await start(refuses);
    const child = await until(
      () => existsSync(join(refuses, "pid")) && Number(readFileSync(join(refuses, "pid"), "utf8")),
      "its child",
    );
    assert.deepEqual(await stopJob(shell, refuses, { gently: false, seconds: 0.5 }), exited(137));
    await until(() => !isRunning(child), "its child to end");
  });

  it("is gone where its process was killed or its pid is another process's", async () => {
    const folder = await project("sleep 60");
    const { pid } = await start(folder);
    const own = readFileSync(join(folder, "job.pid"), "utf8");
    const [, begun, boot] = own.trim().split(" ");
    for (const other of [`${pid} 1 ${boot}`, `${pid} ${begun} another-boot`]) {
      writeFileSync(join(folder, "job.pid"), `${other}\n`);
      assert.equal((await jobState(shell, folder)).kind, "gone");
      // Nothing is signalled that is not the job.
      await stopJob(shell, folder, { gently: false });
      assert.ok(isRunning(pid));
    }
    writeFileSync(join(folder, "job.pid"), own);
    assert.deepEqual(await jobState(shell, folder), { kind: "running" });
    process.kill(-pid, "SIGKILL");
    assert.equal((await ended(folder)).kind, "gone");
  });
});
