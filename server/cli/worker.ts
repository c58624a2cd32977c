import type { Command } from "./command.ts";
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
        const run = readRunFile(folder);
        if (run?.imported !== undefined) {
          const { followFeed } = await import("../store/imported/feeds/followFeed.ts");
          const { imported: source, site } = run;
          const remote = site === undefined ? undefined : await remoteFolder(folder, site);
          process.exit(await followFeed({ folder, run, source, remote, version: GRADUS_VERSION }));
        }
        if (run?.site?.engine !== undefined) {
          const { siteRun } = await import("../sites/run/siteRun.ts");
          const place = { ...run.site, engine: run.site.engine };
          process.exit(await siteRun({ folder, run, place, attempt, version: GRADUS_VERSION }));
        }
        const { work } = await import("../run/loop/worker.ts");
        // Native libraries keep threads and timers of their own: the process ends when the run has.
        process.exit(await work({ folder, attempt, version: GRADUS_VERSION }));
      });
  },
};

async function remoteFolder(runFolder: string, { site, folder }: SiteFolder): Promise<RemoteFolder> {
  const [{ Mirror }, { siteOf }] = await Promise.all([
    import("../sites/mirror.ts"),
    import("../sites/siteOf.ts"),
  ]);
  const { name, shell } = siteOf(site, runFolder);
  const mirror = new Mirror(shell, folder, mirrorPath(runFolder));
  return { name, pull: (signal) => mirror.pull({ signal }) };
}
