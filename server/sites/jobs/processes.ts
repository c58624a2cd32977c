/** Jobs that are processes of a machine: the one that there is of a folder. */
import { jobState, startJob, stopJob } from "../job.ts";
import type { Shell } from "../shell.ts";
import type { JobAsk, JobState, Runner } from "./runner.ts";

export const processes = (shell: Shell): Runner => new Processes(shell);

class Processes implements Runner {
  constructor(private readonly shell: Shell) {}

  async start({ folder, resume, env }: JobAsk): Promise<void> {
    if ((await this.state({ folder })).kind === "running") return;
    await startJob(this.shell, folder, { resume, env });
  }

  state({ folder }: Pick<JobAsk, "folder">): Promise<JobState> {
    return jobState(this.shell, folder);
  }

  async stop({ folder }: Pick<JobAsk, "folder">): Promise<void> {
    await stopJob(this.shell, folder, { gently: false });
  }
}
