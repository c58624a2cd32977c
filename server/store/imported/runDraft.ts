/** A run's folder while it is being written: it appears in the store complete, or not at all. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { isRunning } from "../../../shared/daemon/process.ts";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import type { RunFile } from "../../../shared/run/run.ts";
import { authoredPath, makeStore, mirrorPath, runFilePath, runsFolder } from "../files.ts";
import type { ImportRequest } from "./importRequest.ts";
import { relativePath } from "../../../shared/lib/slashes.ts";
import { liesIn } from "../../../shared/lib/liesIn.ts";

export function writeRunFile(
  request: Pick<ImportRequest, "name" | "config" | "folder" | "sourceRun" | "sourceState" | "mirror">,
  id: string,
  draft: string,
  final: string,
): void {
  const { config, folder, sourceRun, sourceState, mirror } = request;
  const file = configFile(request, final);
  const content: RunFile = {
    id,
    file,
    relative: relativePath(final, file),
    name: nameOf(request),
    set: config?.set ?? [],
    imported: inRun(folder, mirror, final),
    ...(mirror === undefined ? {} : { site: mirror.site }),
    ...(sourceRun === undefined ? {} : { sourceRun }),
    ...(sourceState === undefined ? {} : { sourceState }),
    createdAt: new Date().toISOString(),
  };
  writeFileSync(runFilePath(draft), JSON.stringify(content, null, 2));
  if (config !== undefined) writeFileSync(authoredPath(draft), config.text);
}

/** Where a file will be when the run is in the store. @param home the run's folder there */
export function inRun(file: string, mirror: ImportRequest["mirror"], home: string): string {
  const path = resolve(file);
  if (mirror === undefined || !liesIn(path, mirror.root)) return path;
  return join(mirrorPath(home), relativePath(mirror.root, path));
}

/** Of a run without a config, the folder. */
export const configFile = (
  { config, folder, mirror }: Pick<ImportRequest, "config" | "folder" | "mirror">,
  home: string,
): string => inRun(config?.file ?? folder, mirror, home);

/** As it was asked for, else as the trainer's own config calls it (`trainer.experiment_name`, `run_name`). */
export function nameOf({ name, config, folder }: Pick<ImportRequest, "name" | "config" | "folder">): string {
  const authored = config?.loaded.tree["name"];
  return name ?? (typeof authored === "string" ? authored : basename(resolve(folder)));
}

const draftPrefix = ".import-";

/** A name with a dot is no run. Drafts of imports that were killed are removed. */
export function draftFolder(store: string, id: string): string {
  const runs = runsFolder(store);
  const draft = join(runs, `${draftPrefix}${process.pid}-${id}`);
  try {
    makeStore(store);
    mkdirSync(draft, { recursive: true });
    for (const name of readdirSync(runs)) {
      const pid = Number(/^\.import-(\d+)-/.exec(name)?.[1] ?? Number.NaN);
      if (!Number.isNaN(pid) && pid !== process.pid && !isRunning(pid))
        rmSync(join(runs, name), { recursive: true, force: true });
    }
    return draft;
  } catch (error) {
    throw new UserError(`The run's folder cannot be written: ${messageOf(error)}.`, {
      file: draft,
      code: "refused",
      cause: error,
      action: "Free space on this disk or fix the folder's permissions, then import again.",
    });
  }
}
