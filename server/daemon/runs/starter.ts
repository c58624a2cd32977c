/** Starts runs: new ones, forks, the next attempt of one that has ended, and those that follow another program's folder. */
import { existsSync } from "node:fs";
import { UserError } from "../../../shared/lib/errors.ts";
import { attemptsOf } from "../../../shared/log/reader.ts";
import type {
  ParamsOf,
  ResultOf,
  RunDetail,
  RunSummary,
  runsFork,
  runsImport,
  runsResume,
  runsStart,
} from "../../../shared/protocol/protocol.ts";
import { readWorker } from "../../../shared/run/lease.ts";
import { writerNames } from "../../../shared/run/origin.ts";
import { takeCheckpoint } from "../../run/checkpoint/fork.ts";
import { authoredPath, readRunFile, runFilePath } from "../../store/files.ts";
import type { RemoteStore } from "../../store/remote.ts";
import { prepareFork } from "../experiments/fork.ts";
import { startWorker, type WorkerProgram } from "../worker.ts";
import { readyToRun } from "./admit.ts";
import { existingRun } from "./existingRun.ts";
import { goneFolder } from "./interruption.ts";
import type { LiveRuns } from "./liveRuns.ts";
import { newImport, newMirror } from "./newImport.ts";
import { makeRunFolder } from "./newRun.ts";

export class Starter {
  private readonly starting = new Map<string, Promise<ResultOf<typeof runsStart>>>();

  constructor(
    private readonly store: string,
    private readonly remote: RemoteStore,
    private readonly program: WorkerProgram,
    private readonly live: LiveRuns,
    private readonly log: (text: string) => void,
  ) {}

  start(parameters: ParamsOf<typeof runsStart>): Promise<ResultOf<typeof runsStart>> {
    return this.once(parameters.key, parameters.site?.env, () => {
      const { name, converted, place } = readyToRun(parameters);
      return makeRunFolder(this.store, name, { ...parameters, ...(place && { place }) }, converted);
    });
  }

  /** A new run that begins with a checkpoint of another, live or not. */
  async fork(parent: RunDetail, parameters: ParamsOf<typeof runsFork>): Promise<ResultOf<typeof runsFork>> {
    const started = await this.once(parameters.key, undefined, () => {
      const { name, text, step, loop, ...asked } = prepareFork(parent, parameters);
      const { python = readRunFile(parent.folder)?.python } = parameters;
      const own = {
        ...asked,
        ...(python === undefined ? {} : { python }),
        parent: { run: parent.id, step },
        ...(parameters.fresh ? { fresh: true } : {}),
      };
      return makeRunFolder(this.store, name, own, text, (folder) =>
        takeCheckpoint(parent.folder, folder, step, loop),
      );
    });
    return { ...started, step: readRunFile(started.folder)?.parent?.step ?? -1 };
  }

  /** Equal keys start one run. @param env of whoever asked, where it is not the daemon's; @param make its folder; @returns its id */
  private once(
    key: string | undefined,
    env: NodeJS.ProcessEnv | undefined,
    make: () => string,
  ): Promise<ResultOf<typeof runsStart>> {
    if (key === undefined) return this.startNew(key, env, make);
    const present = this.starting.get(key);
    if (present !== undefined) return present;
    const starting = this.startNew(key, env, make).finally(() => this.starting.delete(key));
    this.starting.set(key, starting);
    return starting;
  }

  private async startNew(
    key: string | undefined,
    env: NodeJS.ProcessEnv | undefined,
    make: () => string,
  ): Promise<ResultOf<typeof runsStart>> {
    const earlier = key === undefined ? null : await this.remote.call("byStartKey", key);
    if (earlier !== null) return { run: earlier, folder: this.live.folder(earlier) };
    const run = make();
    const folder = this.live.folder(run);
    await this.remote.call("register", run, key ?? null);
    this.launch(run, readRunFile(folder)?.file ?? folder, 0, env);
    this.log(`run ${run} started`);
    return { run, folder };
  }

  /** The worker reads the folder until whoever writes to it has ended. */
  async followFolder(parameters: ParamsOf<typeof runsImport>): Promise<ResultOf<typeof runsImport>> {
    const { folder, site } = parameters;
    const { id, note } =
      site === undefined ? newImport(this.store, parameters) : await newMirror(this.store, parameters, site);
    const home = this.live.folder(id);
    await this.remote.call("register", id, null);
    this.launch(id, site === undefined ? folder : runFilePath(home), 0, site?.env);
    this.log(`run ${id} follows ${site === undefined ? "" : `${site.name}:`}${folder}`);
    return { run: id, folder: home, note };
  }

  /** @param env of whoever asked, where it is not the daemon's */
  private launch(run: string, file: string, attempt: number, env: NodeJS.ProcessEnv = {}): void {
    const folder = this.live.folder(run);
    startWorker(this.program, { folder, file, attempt, env }, () => void this.live.settle(run));
    this.live.launched(run);
  }

  /** The next attempt, from the last checkpoint. */
  async resume({ run, env }: ParamsOf<typeof runsResume>): Promise<ResultOf<typeof runsResume>> {
    await existingRun(this.remote, run);
    return this.live.alone(run, async () => {
      this.live.refuse(run, "resumed");
      const folder = this.live.folder(run);
      if (!existsSync(folder))
        throw new UserError(goneFolder(run, folder), {
          file: folder,
          code: "refused",
          action: "Restore the folder, or delete the run from the store.",
        });
      // What the attempt before wrote comes first: its end would otherwise be taken for this one's.
      await this.remote.call("drain", run);
      const file = resumable(await existingRun(this.remote, run), folder);
      const attempt = Math.max(-1, ...attemptsOf(folder), readWorker(folder)?.attempt ?? -1) + 1;
      await this.remote.call("setStatus", run, "starting", null, attempt);
      this.launch(run, file, attempt, env);
      this.log(`run ${run} resumed as attempt ${attempt}`);
      return { run, attempt };
    });
  }
}

/** The file of a run that can go on. @throws UserError where it cannot */
function resumable({ id, status, origin, file: known }: RunSummary, folder: string): string {
  if (origin !== undefined && readRunFile(folder)?.site?.engine === undefined)
    throw new UserError(
      `Run ${id} was imported from ${writerNames[origin.trainer]}: it has no checkpoint to resume from.`,
      {
        file: origin.folder,
        code: "refused",
        action: "Resume it with its own trainer, and import it again.",
      },
    );
  if (status === "finished")
    throw new UserError(`Run ${id} has finished, so there is nothing to resume.`, {
      code: "refused",
      action: "Start a new run of its config: gradus run.",
    });
  const file = readRunFile(folder)?.file ?? known;
  if (!existsSync(file) && !existsSync(authoredPath(folder)))
    throw new UserError(`The run's config ${file} is gone.`, {
      file,
      code: "refused",
      action: "Restore the file, then resume.",
    });
  return file;
}
