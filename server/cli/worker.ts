import type { Command } from "./command.ts";
import { sayFailure } from "./text/failure.ts";
import { keepLogSmall } from "../run/loop/capLog.ts";
import type { SiteFolder } from "../../shared/run/run.ts";
import { mirrorPath, readRunFile, workerLogPath } from "../store/files.ts";
import type { RemoteFolder } from "../store/imported/feeds/remoteLooks.ts";

declare const GRADUS_VERSION: string;

export const command: Command = {
  name: "worker",
  configure: (program) => {
    program
      .argument("<folder>", "the run's folder")
      .requiredOption("--attempt <n>", "0, or one more than the last attempt", Number)
      .action(async (folder: string, { attempt }: { attempt: number }) => {
        // The worker belongs to no terminal: what ends its starter does not end it.
        for (const signal of ["SIGHUP", "SIGINT"]) process.on(signal, () => undefined);
        keepLogSmall(workerLogPath(folder));
        // Native libraries keep threads and timers of their own: the process ends when the run has, however that was.
        process.exit(await workOn(folder, attempt).catch(sayFailure));
      });
  },
};

/** @returns the exit code */
async function workOn(folder: string, attempt: number): Promise<number> {
  const run = readRunFile(folder);
  if (run?.imported !== undefined) {
    const { followFeed } = await import("../store/imported/feeds/followFeed.ts");
    const { imported: source, site } = run;
    const remote = site === undefined ? undefined : await remoteFolder(folder, site);
    return followFeed({ folder, run, source, remote, version: GRADUS_VERSION });
  }
  if (run?.site?.engine !== undefined) {
    const { siteRun } = await import("../sites/run/siteRun.ts");
    const place = { ...run.site, engine: run.site.engine };
    return siteRun({ folder, run, place, attempt, version: GRADUS_VERSION });
  }
  const { work } = await import("../run/loop/worker.ts");
  return work({ folder, attempt, version: GRADUS_VERSION });
}

async function remoteFolder(runFolder: string, { site, folder }: SiteFolder): Promise<RemoteFolder> {
  const [{ Mirror }, { siteOf }] = await Promise.all([
    import("../sites/mirror.ts"),
    import("../sites/siteOf.ts"),
  ]);
  const { name, shell } = siteOf(site, runFolder);
  const mirror = new Mirror(shell, folder, mirrorPath(runFolder));
  return { name, pull: (signal) => mirror.pull({ signal }) };
}
