/** Jobs of a Ray cluster, by its Jobs REST interface (Ray 2.60): no Ray is needed here. */
import { z } from "zod";
import { UserError } from "../../../shared/lib/errors.ts";
import { shellQuoted } from "../../../shared/lib/shellQuoted.ts";
import { shellWord } from "../shell.ts";
import { rayRequest, type RayAnswer } from "./rayRequest.ts";
import { launchLine, type JobAsk, type JobState, type Runner } from "./runner.ts";

const job = z.object({
  status: z.enum(["PENDING", "RUNNING", "SUCCEEDED", "FAILED", "STOPPED"]),
  message: z.string().nullish(),
  driver_exit_code: z.number().nullish(),
});

export interface RayAsk {
  /** The dashboard's address. */
  readonly address: string;
  /** What the job's own process asks of the cluster; the trainer asks for its workers itself. */
  readonly cpus?: number | undefined;
  readonly gpus?: number | undefined;
}

export const ray = (asked: RayAsk): Runner => new RayRunner(asked);

class RayRunner implements Runner {
  constructor(private readonly asked: RayAsk) {}

  async start({ id, folder, resume, env }: JobAsk): Promise<void> {
    if ((await this.state({ id })).kind !== "absent") return;
    const { cpus, gpus } = this.asked;
    await this.ask("POST", "/api/jobs/", {
      // Not `shellWord`: here the inner shell expands `~/`.
      entrypoint: `sh -c ${shellQuoted(launchLine({ folder, resume }, shellWord))}`,
      submission_id: id,
      runtime_env: { env_vars: { PYTHONUNBUFFERED: "1", ...env } },
      ...(cpus === undefined ? {} : { entrypoint_num_cpus: cpus }),
      ...(gpus === undefined ? {} : { entrypoint_num_gpus: gpus }),
    });
  }

  async state({ id }: Pick<JobAsk, "id">): Promise<JobState> {
    const answer = await rayRequest(this.asked.address, "GET", jobPath(id));
    if (answer.status === 404) return { kind: "absent" };
    const { status, message, driver_exit_code: code } = job.parse(JSON.parse(this.checked(answer).text));
    const said = lastLine(message ?? "");
    switch (status) {
      case "PENDING":
        return { kind: "waiting", why: said };
      case "RUNNING":
        return { kind: "running" };
      case "SUCCEEDED":
        return { kind: "ended", code: 0, message: "" };
      case "STOPPED":
        return { kind: "ended", code: null, message: said };
      case "FAILED":
        return typeof code === "number" && code !== 0
          ? { kind: "ended", code, message: said }
          : { kind: "gone", message: said };
    }
  }

  async stop({ id }: Pick<JobAsk, "id">): Promise<void> {
    await this.ask("POST", `${jobPath(id)}/stop`);
  }

  private async ask(method: "POST", path: string, body?: unknown): Promise<RayAnswer> {
    return this.checked(await rayRequest(this.asked.address, method, path, body));
  }

  private checked(answer: RayAnswer): RayAnswer {
    if (answer.status >= 200 && answer.status < 300) return answer;
    if (answer.status === 401 || answer.status === 403)
      throw new UserError(`Ray at ${this.asked.address} asks for a token: ${lastLine(answer.text)}`, {
        code: "site-refused",
        action:
          "Set RAY_AUTH_TOKEN to the cluster's where the daemon is started, or keep it in ~/.ray/auth_token.",
      });
    // Errors are Python's tracebacks: the last line says what it is.
    throw new UserError(`Ray at ${this.asked.address} refused (${answer.status}): ${lastLine(answer.text)}`, {
      code: "site-refused",
      action: "Look at the cluster: ray status.",
    });
  }
}

const jobPath = (id: string): string => `/api/jobs/${encodeURIComponent(id)}`;
const lastLine = (text: string): string => text.trim().split("\n").at(-1)?.trim() ?? "";
