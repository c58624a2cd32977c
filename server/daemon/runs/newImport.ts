/** The folder of a run that follows what another program writes: its worker does the reading. */
import { copiedWord } from "../../../shared/lib/copiedWord.ts";
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { basename, isAbsolute, join } from "node:path";
import { UserError } from "../../../shared/lib/errors.ts";
import type { ParamsOf, runsImport } from "../../../shared/protocol/protocol.ts";
import type { Writer } from "../../../shared/run/origin.ts";
import { needs } from "../../config/needs.ts";
import { loadFile } from "../../frameworks/use/asConfig/load.ts";
import {
  importConfig,
  nearConfig,
  type ConfigForImport,
} from "../../frameworks/use/asConfig/importConfig.ts";
import { configFolder, fetchFile } from "../../sites/fetchFile.ts";
import { Mirror } from "../../sites/mirror.ts";
import { siteOf, sitePlace } from "../../sites/siteOf.ts";
import { mirrorPath, newRunId, runsFolder } from "../../store/files.ts";
import { findGrowing, findSource, type Source } from "../../store/imported/findSource.ts";
import { sourceStateOf } from "../../store/imported/importedBefore.ts";
import { draftFolder, nameOf, writeRunFile } from "../../store/imported/runDraft.ts";
import { putInPlace } from "../../../shared/lib/putInPlace.mjs";

/** Bytes of a log until whose it is; the worker reads all of it. */
const mostLooked = 64 * 1024 * 1024;

export interface NewImport {
  readonly id: string;
  /** Why nothing of what lies near the folder is its config. */
  readonly note: string | null;
}

/** @throws UserError where there is nothing to follow yet, or the config has errors */
export function newImport(
  store: string,
  { folder, name, config: named, set, sourceRun }: ParamsOf<typeof runsImport>,
): NewImport {
  if (!isAbsolute(folder))
    throw new UserError(`${folder} is not an absolute path.`, {
      file: folder,
      code: "refused",
      action: "Name the folder by its absolute path.",
    });
  const source = findSource(folder, mostLooked);
  const { trainer } = source;
  const { config, note = null } = chosenConfig(folder, trainer, named, set, (path) => path);
  // As a log that is imported is called: of many in one folder, each is another training.
  const called = source.kind === "log" ? basename(source.feed.folder) : undefined;
  const request = {
    name: name ?? called,
    config,
    folder,
    sourceRun,
    sourceState: sourceStateOf(folder),
  };
  const id = newRunId(nameOf(request), new Date().toISOString(), trainer);
  const draft = draftFolder(store, id);
  const home = join(runsFolder(store), id);
  try {
    writeRunFile(request, id, draft, home);
    putInPlace(draft, home);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
  return { id, note };
}

/** Of a folder of a site: what is needed to tell whose it is is brought here first, and becomes a part of the run. */
export async function newMirror(
  store: string,
  { folder, name, config: named, set, sourceRun }: ParamsOf<typeof runsImport>,
  { name: reference, from, env }: NonNullable<ParamsOf<typeof runsImport>["site"]>,
): Promise<NewImport> {
  const site = siteOf(reference, from, env);
  const draft = draftFolder(store, randomBytes(4).toString("hex"));
  const root = mirrorPath(draft);
  try {
    const mirror = new Mirror(site.shell, folder, root);
    const { trainer } = await firstLook(mirror);
    const place = typeof named === "string" ? sitePlace(named) : undefined;
    const file =
      place === undefined
        ? named
        : await fetchFile(siteOf(place.site, from, env), place.folder, configFolder(root));
    const { config, note = null } = chosenConfig(mirror.local, trainer, file, set, (path) =>
      path.replace(mirror.local, `${site.name}:${folder}`),
    );
    const request = {
      ...{ name, config, folder: mirror.local, sourceRun },
      mirror: { root, site: { site: site.reference, folder } },
    };
    const id = newRunId(nameOf(request), new Date().toISOString(), trainer);
    const home = join(runsFolder(store), id);
    writeRunFile(request, id, draft, home);
    putInPlace(draft, home);
    return { id, note };
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  } finally {
    site.shell.close();
  }
}

/** Bytes that are brought between looks. */
const someBytes = 16 * 1024 * 1024;

/** @throws UserError where all is here and there is nothing to import */
async function firstLook(mirror: Mirror): Promise<Source> {
  for (;;) {
    const { more } = await mirror.pull({ most: someBytes });
    try {
      return findGrowing(mirror.local);
    } catch (error) {
      if (!more) throw error;
    }
  }
}

function chosenConfig(
  folder: string,
  trainer: Writer,
  named: string | null | undefined,
  set: readonly string[],
  shown: (path: string) => string,
): ConfigForImport {
  if (named === null) return {};
  return named === undefined ? nearConfig(folder, trainer, set, shown) : namedConfig(named, set);
}

function namedConfig(file: string, set: readonly string[]): ConfigForImport {
  const { config, diagnostics } = loadFile(file, { set, recorded: true, needs: needs.explained });
  if (config !== undefined) return { config: importConfig(file, set, config) };
  const [first] = diagnostics.filter(({ severity }) => severity === "error");
  throw new UserError(`The config has errors: ${first?.message ?? "it cannot be read"}`, {
    file: first?.file ?? file,
    code: "refused",
    action: `Fix what \`gradus validate ${copiedWord(file)}\` lists, or use no config.`,
  });
}
