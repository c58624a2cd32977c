/** Reports changes in the run logs and worker files. Never `**`: checkpoints and datasets do not matter here. */
import { watch } from "chokidar";
import { mkdirSync, watch as watchBelow } from "node:fs";
import { runsFolder } from "../store/files.ts";
import { relativePath, slashed } from "../../shared/lib/slashes.ts";

/** runs/<id>, runs/<id>/{run,worker}.json, runs/<id>/log, runs/<id>/log/<attempt>, runs/<id>/log/<attempt>/<n>.seg */
function watched(parts: readonly string[]): boolean {
  const [run, second, attempt, segment] = parts;
  if (run === undefined || run === "") return true;
  if (run.startsWith(".")) return false;
  if (second === undefined) return true;
  if (second === "worker.json" || second === "run.json") return parts.length === 2;
  if (second !== "log" || parts.length > 4) return false;
  return (
    (attempt === undefined || /^\d+$/.test(attempt)) && (segment === undefined || /^\d+\.seg$/.test(segment))
  );
}

/**
 * Milliseconds between two looks at one run. The first change is reported at once; those of a run whose steps are shorter
 * than this are reported together, because each look wakes two threads on the machine that computes the run.
 */
const pace = 250;

/** Passes a name on at once, and once more after `pace` if it came again meanwhile. */
export function paced(notify: (name: string) => void, milliseconds = pace): (name: string) => void {
  const resting = new Map<string, { again: boolean }>();
  return function touched(name) {
    const rest = resting.get(name);
    if (rest !== undefined) {
      rest.again = true;
      return;
    }
    const pause = { again: false };
    resting.set(name, pause);
    setTimeout(() => {
      resting.delete(name);
      if (pause.again) touched(name);
    }, milliseconds).unref();
    notify(name);
  };
}

export function watchRuns(
  store: string,
  touched: (run: string) => void,
  failed: (error: unknown) => void,
  platform: NodeJS.Platform = process.platform,
): { close(): Promise<void> | void } {
  const folder = runsFolder(store);
  mkdirSync(folder, { recursive: true });
  const touch = paced(touched);
  // Windows renames no folder in which one is watched, a run's to the trash: there one watch, of the folder above, sees all below,
  // and of a folder that comes whole, by a rename, its name alone.
  if (platform === "win32")
    return watchBelow(folder, { recursive: true, encoding: "utf8" }, (_, name) => {
      const [run = "", ...parts] = slashed(name ?? "").split("/");
      if (run !== "" && watched([run, ...parts])) touch(run);
    }).on("error", failed);
  const partsOf = (path: string): string[] => relativePath(folder, path).split("/");
  const watcher = watch(folder, {
    ignored: (path) => !watched(partsOf(path)),
    ignoreInitial: true,
    depth: 3,
  });
  const touchRun = (path: string): void => {
    const [run] = partsOf(path);
    if (run !== undefined && run !== "") touch(run);
  };
  return watcher.on("add", touchRun).on("change", touchRun).on("error", failed);
}
