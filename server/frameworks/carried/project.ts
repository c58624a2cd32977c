/** Writing an engine's project into a folder, which may hold an earlier one of ours and nothing else. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { z } from "zod";
import { messageOf, UserError } from "../../../shared/lib/errors.ts";
import { isConfigName } from "../../config/configKind.ts";
import type { Exported, Exporter, ExportRequest } from "../lens/exporter.ts";
import { fromAnySystem } from "../../../shared/lib/slashes.ts";

/** Says which files of a folder are ours. */
const list = ".gradus-export.json";
const listSchema = z.object({
  engine: z.string(),
  files: z.array(z.string()),
  /** The config that it was made of, where it lay then; a copy with its name is in the project. */
  config: z.string(),
});

/**
 * An earlier export in the folder is replaced.
 * @throws UserError where something else lies in it, or it cannot be written
 */
export async function writeProject(exporter: Exporter, request: ExportRequest): Promise<Exported> {
  const { folder, version } = request;
  clear(folder);
  try {
    mkdirSync(folder, { recursive: true });
    const exported = await exporter.write(request);
    const content = {
      engine: exporter.engine,
      version,
      config: request.config.file,
      files: exported.files,
    };
    writeFileSync(join(folder, list), `${JSON.stringify(content, null, 2)}\n`);
    return exported;
  } catch (error) {
    if (error instanceof UserError || !isOfFiles(error)) throw error;
    throw new UserError(`the project cannot be written: ${messageOf(error)}`, {
      file: folder,
      code: "export-write",
      cause: error,
      action: "Free space on this disk, or name a folder that you may write to: --out FOLDER.",
    });
  }
}

const isOfFiles = (error: unknown): boolean =>
  error instanceof Error && "code" in error && "syscall" in error;

function clear(folder: string): void {
  if (!existsSync(folder)) return;
  const own = ownFiles(folder);
  const others = filesIn(folder, "").filter(
    (file) => file !== list && !own.some((one) => file === one || file.startsWith(`${one}/`)),
  );
  const [first] = others.filter((file) => !/(^|\/)__pycache__\//.test(file));
  if (first !== undefined)
    throw new UserError(`${folder} has files that no export wrote, such as ${first}`, {
      file: folder,
      code: "export-folder",
      action: "Name another folder with --out, or remove what is there.",
    });
  rmSync(folder, { recursive: true, force: true });
}

function listOf(folder: string): z.output<typeof listSchema> | undefined {
  try {
    return listSchema.parse(JSON.parse(readFileSync(join(folder, list), "utf8")));
  } catch {
    return undefined; // none of ours: whatever is there is another's
  }
}

const ownFiles = (folder: string): readonly string[] => listOf(folder)?.files ?? [];

/** Whether a whole project of ours is there: the list of its files is written last. */
export const isProject = (folder: string): boolean => existsSync(join(folder, list));

/** Where a project has the config itself. Another trainer's script may have the name of a file of the project. */
export const copyOf = (file: string): string =>
  isConfigName(file) ? basename(file) : `source/${basename(file)}`;

/**
 * The config that a project was made of: where it was, as long as it is the same, since its rewards and data lie there; else
 * the project's copy. undefined: the folder is no project.
 */
export function exportedConfig(folder: string): string | undefined {
  const from = listOf(folder)?.config;
  if (from === undefined) return undefined;
  const copy = join(folder, copyOf(fromAnySystem(from)));
  return existsSync(from) && sameText(from, copy) ? from : copy;
}

const sameText = (one: string, other: string): boolean =>
  existsSync(other) && readFileSync(one).equals(readFileSync(other));

/** Files below a folder, relative to it. */
function filesIn(folder: string, below: string): string[] {
  if (!statSync(folder).isDirectory()) return [below === "" ? folder : below];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    return entry.isDirectory() ? filesIn(join(folder, entry.name), path) : [path];
  });
}
