/** The thread in which rollouts are scored again: the daemon goes on answering meanwhile. One request at a time. */
import { parentPort } from "node:worker_threads";
import { UserError } from "../../../shared/lib/errors.ts";
import type { RecordPlace } from "../../../shared/log/recordAt.ts";
import { needs } from "../../config/needs.ts";
import { loadFile } from "../../frameworks/use/asConfig/load.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { covered } from "../../analysis/rewardChecks/covered/runCoverage.ts";
import { RescoreSession } from "../../analysis/rescore/session.ts";
import { sweep } from "../../analysis/rescore/sweep.ts";
import { readRunFile } from "../../run/loop/files.ts";
import { loadWith } from "../../run/loop/settings.ts";
import { errorOf, threadError } from "../threadError.ts";
import type { FromThread, RunToRescore, ToThread, RescoreRequest } from "./rescoreWire.ts";

/** Runs whose rollouts are kept in memory. */
const sessionsKept = 2;

class RescoreThread {
  private readonly sessions = new Map<string, RescoreSession>();
  private readonly aborts = new Map<number, AbortController>();
  private readonly asked = new Map<
    number,
    { resolve(places: readonly RecordPlace[]): void; reject(error: Error): void }
  >();
  private next = 0;
  private before: Promise<void> = Promise.resolve();

  constructor(private readonly post: (message: FromThread) => void) {}

  receive(message: ToThread): void {
    switch (message.kind) {
      case "request": {
        const abort = new AbortController();
        this.aborts.set(message.id, abort);
        this.before = this.before.then(() => this.answer(message.id, message.request, abort.signal));
        return;
      }
      case "cancel":
        return this.aborts.get(message.id)?.abort();
      case "places":
        this.asked.get(message.id)?.resolve(message.places);
        return void this.asked.delete(message.id);
      case "no-places":
        this.asked.get(message.id)?.reject(errorOf(message));
        return void this.asked.delete(message.id);
      case "close":
        for (const abort of this.aborts.values()) abort.abort();
        this.before = this.before.then(() => this.close());
    }
  }

  private async close(): Promise<void> {
    await Promise.all([...this.sessions.values()].map((session) => session.close()));
    parentPort?.close();
  }

  private async answer(id: number, request: RescoreRequest, signal: AbortSignal): Promise<void> {
    try {
      signal.throwIfAborted();
      await this.fulfil(id, request, signal);
      this.post({ kind: "done", id });
    } catch (error) {
      if (signal.aborted) this.post({ kind: "cancelled", id });
      else this.post({ kind: "failed", id, ...threadError(error) });
    } finally {
      this.aborts.delete(id);
    }
  }

  private async fulfil(id: number, request: RescoreRequest, signal: AbortSignal): Promise<void> {
    const { text, set = [] } = request;
    const { config } = loadFile(request.file, { text, set, needs: needs.explained });
    if (config === undefined)
      throw new UserError("the config has errors", { code: "invalidConfig", file: request.file });
    const session = await this.session(request.run);
    const options = { trusted: request.trusted, unsaved: request.unsaved, signal };
    const { want, steps } = request;
    if (want.kind === "warm") return session.warm(steps.at(-1), request.trusted);
    if (want.kind === "sweep") {
      this.post({ kind: "swept", id, sweep: await sweep(session, config, steps, want, options) });
      return;
    }
    const wanted = want.kind === "step" ? steps.slice(-1) : steps;
    if (want.kind === "coverage") {
      this.post({ kind: "covered", id, coverage: await covered(session, config, steps, options) });
      return;
    }
    for await (const rescored of session.change(config, wanted, options))
      this.post({ kind: "part", id, rescored: { ...rescored, of: steps.length } });
  }

  private async session(run: RunToRescore): Promise<RescoreSession> {
    const known = this.sessions.get(run.id);
    const session =
      known ??
      new RescoreSession(
        {
          id: run.id,
          name: run.name,
          folder: run.folder,
          config: configOf(run),
          bundles: run.bundles,
          python: readRunFile(run.folder).python,
        },
        (step) => this.places(run.id, step),
      );
    this.sessions.delete(run.id);
    this.sessions.set(run.id, session);
    for (const [oldest, old] of this.sessions) {
      if (this.sessions.size <= sessionsKept) break;
      this.sessions.delete(oldest);
      await old.close();
    }
    return session;
  }

  private places(run: string, step: number): Promise<readonly RecordPlace[]> {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.asked.set(id, { resolve, reject });
      this.post({ kind: "places?", id, run, step });
    });
  }
}

/** As the run began: what was set later is seldom a reward. */
function configOf({ folder, authored }: RunToRescore): RunConfig {
  const run = readRunFile(folder);
  const { config, diagnostics } = loadWith(run, authored, [], true);
  if (config !== undefined) return config;
  throw new UserError(
    `The run's config can no longer be read: ${diagnostics[0]?.message ?? "it has errors."}`,
    { file: run.file, action: "Restore the files that it names." },
  );
}

if (parentPort !== null) {
  const port = parentPort;
  const thread = new RescoreThread((message) => port.postMessage(message));
  port.on("message", (message: ToThread) => thread.receive(message));
}
