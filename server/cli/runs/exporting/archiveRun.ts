/** A run as one file: `gradus runs export RUN --out FILE.gradusrun`, and back by `gradus runs import FILE.gradusrun`. */
import { resolve } from "node:path";
import { plural } from "../../../../shared/lib/format.ts";
import { UserError } from "../../../../shared/lib/errors.ts";
import { isLive } from "../../../../shared/protocol/runStatus.ts";
import type { RunSummary } from "../../../../shared/protocol/protocol.ts";
import { runFolder } from "../../../store/files.ts";
import { exportArchive } from "../../../store/archive/exportArchive.ts";
import { importArchive } from "../../../store/archive/importArchive.ts";
import { print, printJson } from "../../command.ts";
import { pathText } from "../../text/diagnostics.ts";
import { storeOf } from "../store.ts";

declare const GRADUS_VERSION: string;

interface Options {
  readonly store?: string;
  readonly json?: boolean;
}

export async function exportToFile(
  { id, status }: RunSummary,
  out: string,
  { store, json, checkpoints }: Options & { readonly checkpoints?: boolean },
): Promise<void> {
  if (isLive(status))
    throw new UserError(`Run ${id} is ${status}: its log still grows.`, {
      code: "refused",
      action: `Export it when it has ended, or stop it: gradus runs stop ${id}.`,
    });
  const folder = runFolder(storeOf(store), id);
  const file = resolve(out);
  const { files } = await exportArchive({
    folder,
    run: id,
    out: file,
    checkpoints: checkpoints === true,
    version: GRADUS_VERSION,
  });
  const bytes = files.reduce((sum, one) => sum + one.bytes, 0);
  if (json === true) return printJson({ run: id, file, files: files.length, bytes });
  print(
    `${pathText(file)}: ${id}, ${plural(files.length, "file")}, ${Math.ceil(bytes / 1e6)} MB before compression`,
  );
  if (checkpoints !== true) print("without its checkpoints: --checkpoints takes them along");
}

export async function importFromFile(file: string, { store, json }: Options): Promise<string> {
  const imported = await importArchive(resolve(file), storeOf(store));
  if (json === true) printJson(imported);
  else
    print(imported.present ? `${imported.run} is in the store already, as it is in the file` : imported.run);
  return imported.run;
}
