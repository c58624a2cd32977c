/** The folder of a run that is about to start: what was asked for, and what it begins with. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import type { ParamsOf, runsStart } from "../../../shared/protocol/protocol.ts";
import type { RunFile, SiteFolder } from "../../../shared/run/run.ts";
import { authoredPath, newRunId, runFilePath, runFolder } from "../../store/files.ts";
import { putInPlace } from "../../../shared/lib/putInPlace.mjs";
import { relativePath } from "../../../shared/lib/slashes.ts";

type NewRun = Pick<RunFile, "file" | "set" | "parent" | "fresh"> &
  Pick<ParamsOf<typeof runsStart>, "steps" | "seed" | "python"> & {
    /** Where it trains, in a folder of its own there. */
    readonly place?: Omit<SiteFolder, "folder"> & { readonly root: string };
  };

/**
 * @param text what the worker reads in the file's place
 * @param fill puts into the folder what the run begins with
 * @returns the run's id
 */
export function makeRunFolder(
  store: string,
  name: string,
  { file, set, steps, seed, python, parent, fresh, place }: NewRun,
  text: string | undefined,
  fill: (folder: string) => void = () => undefined,
): string {
  const createdAt = new Date().toISOString();
  const id = newRunId(name, createdAt);
  const folder = runFolder(store, id);
  const content: RunFile = {
    id,
    file,
    relative: relativePath(folder, file),
    name,
    set,
    createdAt,
    ...(steps === undefined ? {} : { steps }),
    ...(seed === undefined ? {} : { seed }),
    ...(python === undefined ? {} : { python }),
    ...(parent === undefined ? {} : { parent }),
    ...(fresh === undefined ? {} : { fresh }),
    ...(place === undefined ? {} : { site: siteFolder(place, id) }),
  };
  write(folder, content, text, fill);
  return id;
}

const siteFolder = ({ root, ...site }: NonNullable<NewRun["place"]>, id: string): SiteFolder => ({
  ...site,
  folder: `${root.replace(/\/$/, "")}/${id}`,
});

/** All or nothing: what cannot be written leaves no folder. */
function write(
  folder: string,
  content: RunFile,
  text: string | undefined,
  fill: (folder: string) => void,
): void {
  const draft = `${runFilePath(folder)}.new`;
  try {
    mkdirSync(folder, { recursive: true });
    fill(folder);
    if (text !== undefined) writeFileSync(authoredPath(folder), text);
    writeFileSync(draft, JSON.stringify(content, null, 2));
    putInPlace(draft, runFilePath(folder));
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw new UserError(`The run's folder cannot be written: ${messageOf(error)}.`, {
      file: folder,
      code: "refused",
      cause: error,
      action: "Free space on this disk or fix the folder's permissions, then start the run again.",
    });
  }
}
