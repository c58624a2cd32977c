/**
 * Jobs of a cluster that SkyPilot brings up in a cloud, in Kubernetes or on Slurm, by its own command (SkyPilot 0.14): `sky launch`
 * makes the cluster and its entry in ssh's configuration, `sky exec` puts the job into its queue.
 */
import { z } from "zod";
import { UserError } from "../../../shared/lib/errors.ts";
import { shellQuoted } from "../../../shared/lib/shellQuoted.ts";
import { shellWord, type Shell } from "../shell.ts";
import { launchLine, type JobAsk, type JobState, type Runner } from "./runner.ts";

export interface SkyAsk {
  /** This machine's, which has `sky`. */
  readonly local: Shell;
  /** The cluster's name, which ssh knows it by as well. */
  readonly cluster: string;
  /** SkyPilot's own YAML: resources, setup, mounts. Absolute. */
  readonly task: string;
  /** Minutes without a job after which the cluster goes. */
  readonly down_after: number;
}

export const skypilot = (asked: SkyAsk): Runner => new SkyRunner(asked);

const clusters = z.array(z.looseObject({ name: z.string(), status: z.string() }));
const jobs = z.record(
  z.string(),
  z.array(z.looseObject({ job_id: z.number(), job_name: z.string(), status: z.string() })),
);

/** A cloud may take a quarter of an hour to find machines. */
const provisioning = 3600;

class SkyRunner implements Runner {
  constructor(private readonly asked: SkyAsk) {}

  async ready(): Promise<void> {
    const { cluster, task, down_after } = this.asked;
    if (await this.isUp()) return;
    const gone = ["--idle-minutes-to-autostop", String(down_after), "--down"];
    await this.sky(["launch", "--cluster", cluster, "--yes", "--detach-run", ...gone, task], provisioning);
  }

  async start({ id, folder, resume, env }: JobAsk): Promise<void> {
    if ((await this.state({ id })).kind !== "absent") return;
    const values = Object.entries(env).flatMap(([name, value]) => ["--env", `${name}=${value}`]);
    const line = launchLine({ folder, resume }, shellWord);
    await this.sky(["exec", this.asked.cluster, "--detach-run", "--name", id, ...values, "--", line]);
  }

  async state({ id }: Pick<JobAsk, "id">): Promise<JobState> {
    if (!(await this.isUp())) return { kind: "gone", message: `the cluster ${this.asked.cluster} is not up` };
    const job = await this.jobOf(id);
    return job === undefined ? { kind: "absent" } : stateOf(job.status);
  }

  async stop({ id }: Pick<JobAsk, "id">): Promise<void> {
    const job = await this.jobOf(id);
    if (job !== undefined) await this.sky(["cancel", this.asked.cluster, "--yes", String(job.job_id)]);
  }

  private async isUp(): Promise<boolean> {
    const { cluster } = this.asked;
    const text = await this.sky(["status", cluster, "--output", "json"]);
    return clusters.parse(jsonIn(text)).some(({ name, status }) => name === cluster && status === "UP");
  }

  private async jobOf(id: string): Promise<{ readonly job_id: number; readonly status: string } | undefined> {
    const { cluster } = this.asked;
    const found = jobs.parse(jsonIn(await this.sky(["queue", cluster, "--output", "json"])));
    return found[cluster]?.find(({ job_name }) => job_name === id);
  }

  private async sky(words: readonly string[], seconds = 120): Promise<string> {
    const { code, stdout, stderr } = await this.asked.local.run(`sky ${words.map(shellQuoted).join(" ")}`, {
      seconds,
    });
    if (code === 0) return stdout.toString("utf8");
    if (code === 127)
      throw new UserError("SkyPilot's command `sky` is not on this machine's PATH", {
        code: "site-tools",
        action: "Install it: pip install skypilot.",
      });
    const said = stderr.trim() === "" ? stdout.toString("utf8") : stderr;
    throw new UserError(`sky ${words[0]} failed: ${said.trim().split("\n").at(-1) ?? `exit ${code}`}`, {
      code: "site-refused",
      action: "Run `sky check`, then `sky status`.",
    });
  }
}

/** `sky` may print a line about itself before the JSON. */
function jsonIn(text: string): unknown {
  const lines = text.split("\n");
  const at = lines.findIndex((line) => /^\s*[[{]/.test(line));
  return JSON.parse(at < 0 ? "null" : lines.slice(at).join("\n"));
}

function stateOf(status: string): JobState {
  switch (status) {
    case "INIT":
    case "PENDING":
    case "SETTING_UP":
      return { kind: "waiting", why: status.toLowerCase() };
    case "RUNNING":
      return { kind: "running" };
    case "SUCCEEDED":
      return { kind: "ended", code: 0, message: "" };
    case "CANCELLED":
      return { kind: "ended", code: null, message: "cancelled" };
    case "FAILED":
      return { kind: "ended", code: 1, message: "" };
    default:
      return { kind: "gone", message: `SkyPilot: ${status}` };
  }
}
