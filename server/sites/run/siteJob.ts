/** The job of a run: started once, found again by whoever comes later, stopped. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { UserError } from "../../../shared/lib/errors.ts";
import type { SiteFolder } from "../../../shared/run/run.ts";
import { upload } from "../job.ts";
import { hasEnded, type JobState } from "../jobs/runner.ts";
import { shellWord } from "../shell.ts";
import type { Site } from "../siteOf.ts";
import { putInPlace } from "../../../shared/lib/putInPlace.mjs";

/** `stopped`: it was asked to stop, so that its end is not the run's. */
const jobSchema = z.object({ id: z.string(), stopped: z.boolean().optional() });
type Known = z.output<typeof jobSchema>;

/** Whether this attempt started it, or it was there. */
export type Begun = "started" | "resumed" | "attached";

export class SiteJob {
  private job: Known | undefined;
  private readonly file: string;

  /** @param runFolder where what is known of the job is kept */
  constructor(
    private readonly site: Site,
    private readonly place: SiteFolder,
    private readonly run: string,
    runFolder: string,
  ) {
    this.file = join(runFolder, "job.json");
    this.job = this.known();
  }

  /**
   * A job that lives, or has finished, is only followed; else one is started, from the last checkpoint where there was one before.
   * @param project the folder to bring there
   */
  async begin(project: string, attempt: number): Promise<Begun> {
    const earlier = this.job !== undefined;
    if (earlier) {
      const state = await this.state();
      const done = state.kind === "ended" && state.code === 0 && this.job?.stopped !== true;
      if (done || !(hasEnded(state) || state.kind === "absent")) return "attached";
    }
    await this.site.runner.ready?.();
    if (!earlier) await upload(this.site.shell, project, this.place.folder);
    // Known before it is started: a process that is killed in between finds the job, or none.
    this.remember({ id: `${this.run}-${attempt}` });
    await this.start(project, earlier);
    return earlier ? "resumed" : "started";
  }

  state(): Promise<JobState> {
    return this.site.runner.state({ id: this.id, folder: this.place.folder });
  }

  /** The trainer saves, and ends after its present step; a job that waits in a queue has nothing to save. */
  async ask(): Promise<void> {
    if ((await this.state()).kind === "waiting") return this.stop();
    this.remember({ id: this.id, stopped: true });
    const { code, stderr } = await this.site.shell.run(
      `cd ${shellWord(this.place.folder)} && mkdir -p out && : > out/stop`,
    );
    if (code !== 0)
      throw new UserError(`${this.site.name} could not be asked to stop the run: ${stderr.trim()}`, {
        code: "site-failed",
        action: "End it at once: gradus runs stop --now.",
      });
  }

  async stop(): Promise<void> {
    this.remember({ id: this.id, stopped: true });
    await this.site.runner.stop({ id: this.id, folder: this.place.folder });
  }

  /** The end of what the trainer printed last; empty: nothing is there. */
  async log(): Promise<string> {
    const { stdout } = await this.site.shell.run(
      `cd ${shellWord(this.place.folder)} && tail -c 200000 "$(ls -t log*.txt | head -n 1)"`,
    );
    return stdout.toString("utf8");
  }

  private async start(project: string, resume: boolean): Promise<void> {
    const job = { id: this.id, folder: this.place.folder, resume, env: environment(this.site) };
    try {
      await this.site.runner.start(job);
    } catch (error) {
      if (!(error instanceof UserError) || error.detail.code !== "job-missing") throw error;
      await upload(this.site.shell, project, this.place.folder);
      await this.site.runner.start(job);
    }
  }

  /** Empty before it has begun: no job has that id. */
  private get id(): string {
    return this.job?.id ?? "";
  }

  private known(): Known | undefined {
    if (!existsSync(this.file)) return undefined;
    return jobSchema.parse(JSON.parse(readFileSync(this.file, "utf8")));
  }

  private remember(job: Known): void {
    this.job = job;
    writeFileSync(`${this.file}.new`, JSON.stringify(job));
    putInPlace(`${this.file}.new`, this.file);
  }
}

/** `${env:NAME}` is a variable of this machine's. @throws UserError where it is not set */
function environment({ config, name }: Site): Record<string, string> {
  const own = (text: string): string =>
    text.replaceAll(/\$\{env:(\w+)\}/g, (_, variable: string) => {
      const value = process.env[variable];
      if (value !== undefined) return value;
      throw new UserError(`The site ${name} uses \${env:${variable}}, and ${variable} is not set here`, {
        code: "site-env",
        action: `Set ${variable} where the daemon was started, then restart it: gradus daemon stop.`,
      });
    });
  const set = Object.entries(config.env).map(([variable, text]) => [variable, own(text)] as const);
  return { GRADUS_NODE: config.node, ...Object.fromEntries(set) };
}
