/** Jobs of Slurm, by its own commands on the login node: sbatch, squeue, sacct, scancel. */
import { UserError } from "../../../shared/lib/errors.ts";
import { shellWord, type Shell } from "../shell.ts";
import type { JobAsk, JobState, Runner } from "./runner.ts";

export interface SlurmAsk {
  readonly shell: Shell;
  /** Options of `sbatch`, as its script has them: `--partition=gpu --gres=gpu:8 --time=12:00:00`. */
  readonly options: readonly string[];
}

/** Seconds before a time limit or a preemption at which the project is asked to save and end, and is put into the queue again. */
const notice = 300;

export const slurm = (asked: SlurmAsk): Runner => new SlurmRunner(asked);

/**
 * What `sbatch` is given. `out/stop` asks the trainer to save; the job goes back into the queue, and starts there with `--resume`.
 * `SLURM_RESTART_COUNT` is set by Slurm from the second start on.
 */
export const batchScript = ({ id, env, resume }: JobAsk, options: readonly string[]): string =>
  [
    "#!/bin/bash",
    `#SBATCH --job-name=${id}`,
    "#SBATCH --output=log.txt",
    "#SBATCH --open-mode=append",
    "#SBATCH --requeue",
    `#SBATCH --signal=B:USR1@${notice}`,
    ...options.map((option) => `#SBATCH ${option}`),
    "",
    ...Object.entries(env).map(([name, value]) => `export ${name}=${shellWord(value)}`),
    "asked=",
    "requeue() { asked=again; mkdir -p out; : > out/stop; }",
    "trap requeue USR1",
    `resume=${resume ? "--resume" : ""}`,
    '[ "${SLURM_RESTART_COUNT:-0}" -gt 0 ] && resume=--resume',
    "rm -f out/stop job.exit",
    "sh launch.sh $resume &",
    "training=$!",
    // A signal ends `wait`: the trainer is waited for until it has saved.
    'while :; do wait "$training"; code=$?; kill -0 "$training" 2>/dev/null || break; done',
    'if [ -n "$asked" ]; then rm -f out/stop; scontrol requeue "$SLURM_JOB_ID"; exit 0; fi',
    'echo "$code" > job.exit',
    'exit "$code"',
    "",
  ].join("\n");

class SlurmRunner implements Runner {
  constructor(private readonly asked: SlurmAsk) {}

  async start(job: JobAsk): Promise<void> {
    const { kind } = await this.state(job);
    if (kind === "waiting" || kind === "running") return;
    const text = batchScript(job, this.asked.options);
    const script = `cd ${shellWord(job.folder)} && cat > job.sh && rm -f job.exit && sbatch --parsable job.sh > job.id.part && mv job.id.part job.id`;
    await this.run(script, Buffer.from(text));
  }

  /** By the queue; of a job that has left it by the exit code that it wrote, else by the accounts. */
  async state({ folder }: Pick<JobAsk, "folder">): Promise<JobState> {
    const found = await this.run(
      `cd ${shellWord(folder)} 2>/dev/null && [ -s job.id ] || { echo absent; exit 0; }
id=$(cut -d';' -f1 job.id)
queued=$(squeue --noheader --jobs="$id" --format='%T|%r' 2>/dev/null | head -n 1)
if [ -n "$queued" ]; then echo "queue|$queued"; exit 0; fi
if [ -s job.exit ]; then echo "exit|$(cat job.exit)"; exit 0; fi
echo "accounts|$(sacct --noheader --parsable2 --allocations --jobs="$id" --format=State,ExitCode 2>/dev/null | head -n 1)"`,
    );
    const [kind = "", first = "", second = ""] = found.trim().split("|");
    if (kind === "queue") return queuedState(first, second);
    if (kind === "exit") return { kind: "ended", code: Number(first), message: "" };
    return kind === "accounts" ? accountedState(first, second) : { kind: "absent" };
  }

  async stop({ folder }: Pick<JobAsk, "folder">): Promise<void> {
    await this.run(`cd ${shellWord(folder)} && scancel "$(cut -d';' -f1 job.id)"`);
  }

  private async run(script: string, input?: Buffer): Promise<string> {
    const { code, stdout, stderr } = await this.asked.shell.run(script, { input });
    if (code === 0) return stdout.toString("utf8");
    throw new UserError(
      `Slurm on ${this.asked.shell.name} refused: ${stderr.trim().split("\n").at(-1) ?? `exit ${code}`}`,
      {
        code: "site-refused",
        action: "Check `sbatch` in the site's file against the cluster's own rules: sinfo.",
      },
    );
  }
}

const waiting = new Set([
  "PENDING",
  "CONFIGURING",
  "REQUEUED",
  "REQUEUE_HOLD",
  "REQUEUE_FED",
  "RESV_DEL_HOLD",
  "SPECIAL_EXIT",
]);

const queuedState = (state: string, reason: string): JobState =>
  waiting.has(state) ? { kind: "waiting", why: reason } : { kind: "running" };

/** `COMPLETED|0:0`, `CANCELLED by 1000|0:15`, `NODE_FAIL|1:0`. */
function accountedState(state: string, exit: string): JobState {
  const code = Number(exit.split(":")[0] ?? "");
  if (state === "COMPLETED") return { kind: "ended", code: 0, message: "" };
  if (state.startsWith("CANCELLED")) return { kind: "ended", code: null, message: state.toLowerCase() };
  if (state === "FAILED") return { kind: "ended", code, message: "" };
  return { kind: "gone", message: state === "" ? "Slurm knows no such job any more" : `Slurm: ${state}` };
}
