/**
 * What the daemon does with runs. Everything it knows is in files: a daemon that is killed costs nothing, the next one
 * adopts what it finds.
 */
import { rm } from "node:fs/promises";
import { messageOf } from "../../../shared/lib/errors.ts";
import type {
  ParamsOf,
  ResultOf,
  RunDetail,
  RunSummary,
  runsControl,
  runsDelete,
  runsFork,
  runsGc,
  runsImport,
  runsMark,
  runsResume,
  runsStart,
} from "../../../shared/protocol/protocol.ts";
import { writeMarks, type MarkChange } from "../../../shared/run/marks.ts";
import { isRunId } from "../../../shared/run/runId.ts";
import type { RemoteStore } from "../../store/remote.ts";
import { garbageOf } from "../experiments/garbage.ts";
import type { WorkerProgram } from "../worker.ts";
import { control, endAtOnce } from "./control.ts";
import { existingRun } from "./existingRun.ts";
import { LiveRuns } from "./liveRuns.ts";
import { Starter } from "./starter.ts";
import { removeTrash, toTrash } from "./trash.ts";

export class Supervisor {
  private readonly live: LiveRuns;
  private readonly starter: Starter;

  constructor(
    private readonly store: string,
    private readonly remote: RemoteStore,
    program: WorkerProgram,
    private readonly log: (text: string) => void,
  ) {
    this.live = new LiveRuns(store, remote, log);
    this.starter = new Starter(store, remote, program, this.live, log);
  }

  /** Runs that train, and not those that watch another program. */
  get liveRuns(): number {
    return this.live.training;
  }

  close(): void {
    this.live.close();
  }

  /** What an earlier daemon left: runs that go on, runs that died meanwhile, runs half deleted. */
  async adopt(): Promise<void> {
    for (const run of await this.remote.call("trashed"))
      await this.emptyTrash(run).catch((error: unknown) => this.log(messageOf(error)));
    for (const { run, status } of await this.remote.call("scan")) {
      await this.remote.call("ingest", run);
      this.live.adopt(run, status);
    }
  }

  /** Something in the run's folder changed. */
  async touched(run: string): Promise<void> {
    if (isRunId(run)) await this.live.touched(run);
  }

  /** As the store has it, but for a run that has ended and whose end the store could not take in. */
  seen<Run extends RunSummary>(run: Run): Run {
    return this.live.seen(run);
  }

  start(parameters: ParamsOf<typeof runsStart>): Promise<ResultOf<typeof runsStart>> {
    return this.starter.start(parameters);
  }

  fork(parent: RunDetail, parameters: ParamsOf<typeof runsFork>): Promise<ResultOf<typeof runsFork>> {
    return this.starter.fork(parent, parameters);
  }

  followFolder(parameters: ParamsOf<typeof runsImport>): Promise<ResultOf<typeof runsImport>> {
    return this.starter.followFolder(parameters);
  }

  resume(parameters: ParamsOf<typeof runsResume>): Promise<ResultOf<typeof runsResume>> {
    return this.starter.resume(parameters);
  }

  async control(asked: ParamsOf<typeof runsControl>): Promise<ResultOf<typeof runsControl>> {
    const { run, action, now } = asked;
    const { status } = await existingRun(this.remote, run);
    const folder = this.live.folder(run);
    const answer = control(folder, status, asked);
    if (action === "stop") await this.remote.call("setStatus", run, "stopping", null);
    if (action === "stop" && now) endAtOnce(folder);
    return answer;
  }

  async delete({ run }: ParamsOf<typeof runsDelete>): Promise<ResultOf<typeof runsDelete>> {
    await existingRun(this.remote, run);
    return this.live.alone(run, async () => {
      this.live.refuse(run, "deleted");
      this.live.gone(run);
      toTrash(this.store, run);
      await this.emptyTrash(run);
      this.log(`run ${run} deleted`);
      return { deleted: true };
    });
  }

  /** What people say of it, live or not. */
  async mark(run: string, change: MarkChange): Promise<ResultOf<typeof runsMark>> {
    await existingRun(this.remote, run);
    const marks = writeMarks(this.live.folder(run), change);
    await this.remote.call("marked", run);
    return marks;
  }

  /** What could go; goes where that is asked for, a run or a checkpoint at a time. */
  async collect({ delete: remove, ...wish }: ParamsOf<typeof runsGc>): Promise<ResultOf<typeof runsGc>> {
    const { runs } = await this.remote.call("list", { limit: Number.MAX_SAFE_INTEGER });
    const garbage = garbageOf(this.store, runs, wish);
    if (remove)
      for (const { kind, run, path } of garbage) {
        if (kind === "run") await this.delete({ run });
        else
          await this.live.alone(run, async () => {
            this.live.refuse(run, "tidied");
            await rm(path, { recursive: true, force: true, maxRetries: 10 });
          });
      }
    return { garbage, deleted: remove };
  }

  private async emptyTrash(run: string): Promise<void> {
    await this.remote.call("forgetRun", run);
    await removeTrash(this.store, run);
  }
}
