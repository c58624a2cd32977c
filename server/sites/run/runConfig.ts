/** The config of a run on a site: as it was when the run was started, whatever its file says now. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../../shared/lib/errors.ts";
import type { RunFile } from "../../../shared/run/run.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { isProject } from "../../frameworks/trainers/exporters.ts";
import { limits, readText } from "../../lib/inputFile.ts";
import { loadConfig } from "../../rules/load.ts";
import { authoredPath } from "../../store/files.ts";
import { projectFor, type ProjectAsk } from "../project.ts";

/** @throws UserError where the config has errors */
export function runConfig(
  runFolder: string,
  { file, set, steps, seed }: RunFile,
): { readonly config: RunConfig; readonly authored: string } {
  const kept = authoredPath(runFolder);
  if (!existsSync(kept)) writeFileSync(kept, readText(file, limits.source));
  const authored = readText(kept, limits.source);
  const { config, diagnostics } = loadConfig(file, {
    text: authored,
    set,
    ...(steps === undefined ? {} : { steps }),
    ...(seed === undefined ? {} : { seed }),
  });
  if (config !== undefined) return { config, authored };
  const first = diagnostics.find(({ severity }) => severity === "error");
  throw new UserError(first?.message ?? "the config cannot be read", { file, code: "refused" });
}

/** The project, which is written once: what trained is kept with the run. */
export async function projectOf(runFolder: string, ask: Omit<ProjectAsk, "folder">): Promise<string> {
  const folder = join(runFolder, "project");
  if (!isProject(folder)) await projectFor({ ...ask, folder });
  return folder;
}
