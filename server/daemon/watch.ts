/** Tells of changes in the run logs and worker files. Never `**`: checkpoints and datasets are nobody's business here. */
import { watch, type FSWatcher } from "chokidar";
import { mkdirSync } from "node:fs";
import { relative, sep } from "node:path";
import { runsFolder } from "../store/files.ts";

/** runs/<id>, runs/<id>/{run,worker}.json, runs/<id>/log, runs/<id>/log/<attempt>, runs/<id>/log/<attempt>/<n>.seg */
export function watched(parts: readonly string[]): boolean {
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

export function watchRuns(
  store: string,
  touched: (run: string) => void,
  failed: (error: unknown) => void,
): FSWatcher {
  const folder = runsFolder(store);
  mkdirSync(folder, { recursive: true });
  const partsOf = (path: string): string[] => relative(folder, path).split(sep);
  const watcher = watch(folder, {
    ignored: (path) => !watched(partsOf(path)),
    ignoreInitial: true,
    depth: 3,
  });
  const tell = (path: string): void => {
    const [run] = partsOf(path);
    if (run !== undefined && run !== "") touched(run);
  };
  return watcher.on("add", tell).on("change", tell).on("error", failed);
}
