/** The folder of a run that follows what another program writes: its worker does the reading. */
import { renameSync, rmSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { UserError } from "../../../shared/lib/errors.ts";
import type { ParamsOf, runsImport } from "../../../shared/protocol/protocol.ts";
import { loadFile } from "../../frameworks/asConfig/load.ts";
import { importConfig, nearConfig, type ConfigForImport } from "../../frameworks/project/importConfig.ts";
import { newRunId, runsFolder } from "../../store/files.ts";
import { findSource } from "../../store/imported/findSource.ts";
import { draftFolder, nameOf, writeRunFile } from "../../store/imported/runDraft.ts";

/** @throws UserError where there is nothing to follow yet, or the config has errors */
export function newImport(
  store: string,
  { folder, name, config: named, set, sourceRun }: ParamsOf<typeof runsImport>,
): { readonly id: string; readonly note: string | null } {
  if (!isAbsolute(folder))
    throw new UserError(`${folder} is not an absolute path.`, {
      file: folder,
      code: "refused",
      action: "Name the folder by its absolute path.",
    });
  const { trainer } = findSource(folder);
  const { config, note = null } =
    named === null
      ? {}
      : named === undefined
        ? nearConfig(folder, trainer, set, (path) => path)
        : namedConfig(named, set);
  const request = { name, config, folder, sourceRun };
  const id = newRunId(nameOf(request), new Date().toISOString(), trainer);
  const draft = draftFolder(store, id);
  const home = join(runsFolder(store), id);
  try {
    writeRunFile(request, id, draft, home);
    renameSync(draft, home);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
  return { id, note };
}

function namedConfig(file: string, set: readonly string[]): ConfigForImport {
  const { config, diagnostics } = loadFile(file, { set, recorded: true }, { absent: ["data", "model"] });
  if (config !== undefined) return { config: importConfig(file, set, config) };
  const [first] = diagnostics.filter(({ severity }) => severity === "error");
  throw new UserError(`The config has errors: ${first?.message ?? "it cannot be read"}`, {
    file: first?.file ?? file,
    code: "refused",
    action: `Fix what \`gradus validate ${file}\` lists, or use no config.`,
  });
}
