/** Slurm by its command line: commands of ours answer as those of Slurm 23.11 do (recorded shapes, no cluster). */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, describe, it } from "node:test";
import { batchScript, slurm } from "../../../server/sites/jobs/slurm.ts";
import type { JobState } from "../../../server/sites/jobs/runner.ts";
import { here } from "../../../server/sites/here.ts";

const root = mkdtempSync(join(tmpdir(), "gradus-slurm-"));
after(() => rmSync(root, { recursive: true, force: true }));
const bin = join(root, "bin");
mkdirSync(bin);

function command(name: string, text: string): void {
  writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(bin, name), 0o755);
}

const environment = { ...process.env, PATH: `${bin}${delimiter}${process.env["PATH"]}` };
const shell = here();
process.env["PATH"] = environment.PATH;
const runner = slurm({ shell, options: ["--partition=gpu", "--gres=gpu:8"] });

let made = 0;
function jobOf(): {
  readonly id: string;
  readonly folder: string;
  readonly resume: boolean;
  readonly env: Record<string, string>;
} {
  const folder = join(root, `it's ${made++}`);
  mkdirSync(folder);
  return { id: "gradus-gsm", folder, resume: false, env: { HF_HOME: "/data/it's here" } };
}

describe("jobs of Slurm", () => {
  it("submits a script with the site's options, and keeps the job's number", async () => {
    command("sbatch", 'echo "4242;cluster"');
    command("squeue", "echo 'PENDING|Resources'");
    const job = jobOf();
    assert.deepEqual(await runner.state(job), { kind: "absent" });
    await runner.start(job);
    assert.equal(readFileSync(join(job.folder, "job.id"), "utf8"), "4242;cluster\n");
    const script = readFileSync(join(job.folder, "job.sh"), "utf8");
    assert.match(script, /^#!\/bin\/bash\n#SBATCH --job-name=gradus-gsm\n/);
    assert.match(script, /\n#SBATCH --gres=gpu:8\n/);
    assert.match(script, /\nexport HF_HOME='\/data\/it'\\''s here'\n/);
    assert.deepEqual(await runner.state(job), { kind: "waiting", why: "Resources" });
    command("sbatch", "echo submitted twice >&2; exit 1");
    await runner.start(job);
  });

  it("tells the states of a job from one another", async () => {
    const job = jobOf();
    writeFileSync(join(job.folder, "job.id"), "7\n");
    const states: [squeue: string, sacct: string, JobState][] = [
      ["RUNNING|None", "", { kind: "running" }],
      ["COMPLETING|None", "", { kind: "running" }],
      ["REQUEUED|BeginTime", "", { kind: "waiting", why: "BeginTime" }],
      ["", "COMPLETED|0:0", { kind: "ended", code: 0, message: "" }],
      ["", "FAILED|3:0", { kind: "ended", code: 3, message: "" }],
      ["", "CANCELLED by 1000|0:15", { kind: "ended", code: null, message: "cancelled by 1000" }],
      ["", "NODE_FAIL|1:0", { kind: "gone", message: "Slurm: NODE_FAIL" }],
      ["", "", { kind: "gone", message: "Slurm knows no such job any more" }],
    ];
    for (const [queue, accounts, wanted] of states) {
      command("squeue", `printf '%s' '${queue}'`);
      command("sacct", `printf '%s' '${accounts}'`);
      assert.deepEqual(await runner.state(job), wanted);
    }
    writeFileSync(join(job.folder, "job.exit"), "5\n");
    assert.deepEqual(await runner.state(job), { kind: "ended", code: 5, message: "" });
  });

  it("cancels by number, and says what Slurm refuses", async () => {
    const job = jobOf();
    writeFileSync(join(job.folder, "job.id"), "99;cluster\n");
    command("scancel", `echo "$1" > '${root}/cancelled'`);
    await runner.stop(job);
    assert.equal(readFileSync(join(root, "cancelled"), "utf8"), "99\n");
    command("squeue", "exit 0");
    command("sacct", "exit 0");
    command("sbatch", "echo 'sbatch: error: invalid partition specified: gpu' >&2; exit 1");
    await assert.rejects(
      runner.start(job),
      /Slurm on this machine refused: sbatch: error: invalid partition specified: gpu/,
    );
  });

  it("asks the trainer to save before its time is over, and goes on after a requeue", () => {
    const job = jobOf();
    command("scontrol", `echo "$@" > '${root}/requeued'`);
    writeFileSync(
      join(job.folder, "launch.sh"),
      'echo "began $1" >> seen\nkill -USR1 $PPID\nwhile [ ! -e out/stop ]; do sleep 0.05; done\necho saved >> seen\n',
    );
    writeFileSync(join(job.folder, "job.sh"), batchScript(job, []));
    const run = (more: Record<string, string>) =>
      spawnSync("bash", ["job.sh"], {
        cwd: job.folder,
        env: { ...environment, SLURM_JOB_ID: "12", ...more },
      });
    assert.equal(run({}).status, 0);
    assert.equal(readFileSync(join(root, "requeued"), "utf8"), "requeue 12\n");
    assert.equal(readFileSync(join(job.folder, "seen"), "utf8"), "began \nsaved\n");
    writeFileSync(join(job.folder, "launch.sh"), 'echo "again $1" >> seen\nexit 4\n');
    assert.equal(run({ SLURM_RESTART_COUNT: "1" }).status, 4);
    assert.match(readFileSync(join(job.folder, "seen"), "utf8"), /again --resume\n$/);
    assert.equal(readFileSync(join(job.folder, "job.exit"), "utf8"), "4\n");
  });
});
