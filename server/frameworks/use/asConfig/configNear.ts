/** The configuration that a folder of a trainer's output came from, as far as what lies near it says. */
import { existsSync, readdirSync, type Dirent } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { isConfigName } from "../../../config/configKind.ts";
import { converts } from "./convertFile.ts";
import { exportedConfig } from "../../carried/project.ts";
import type { Framework } from "../../text/document.ts";
import { smallText } from "../../text/fileReader.ts";
import { parseConfig } from "../../readers/index.ts";
import { writesTo } from "../../readers/writesTo.ts";
import { relativePath } from "../../../../shared/lib/slashes.ts";

export type ConfigNear =
  | { readonly kind: "one"; readonly file: string }
  /** Several that may be meant, none more than the others. */
  | { readonly kind: "several"; readonly files: readonly string[] }
  | { readonly kind: "none" };

/** Folders above the named one that are looked through, as far as its repository. */
const levels = 3;
const endings = [".sh", ".bash", ".slurm", ".sbatch", ".py", ".ipynb", ".yaml", ".yml"];
/** Files of one folder that are read: a project's own folder has few. */
const mostRead = 200;
/** Folders below one that are looked through for scripts: `scripts/`, `examples/grpo_trainer/`. */
const deepest = 2;

/**
 * The folder itself and those above it, the innermost first: what a project of ours was made of, Hydra's record of what ran, else the only script or file of
 * the trainers, or the only one that names the folder; that one may lie below, since scripts are started from the folder above them.
 * @param folder that was named
 */
export function configNear(folder: string, trainers: readonly Framework[]): ConfigNear {
  const root = resolve(folder);
  for (let at = root, level = 0; level <= levels; at = dirname(at), level++) {
    const exported = exportedConfig(at);
    if (exported !== undefined) return { kind: "one", file: exported };
    const hydra = join(at, ".hydra", "config.yaml");
    if (isConfig(hydra, trainers)) return { kind: "one", file: hydra };
    const files = candidates(at).filter((file) => isConfig(file, trainers));
    const naming = [...files, ...below(at)].filter(
      (file) => writesTo(file, root) && (files.includes(file) || isConfig(file, trainers)),
    );
    const [named] = naming;
    if (named !== undefined && naming.length === 1) return { kind: "one", file: named };
    if (files.length > 0) return chosen(files, relativePath(at, root));
    if (naming.length > 0) return { kind: "several", files: naming };
    if (dirname(at) === at || existsSync(join(at, ".git"))) break;
  }
  return { kind: "none" };
}

/**
 * Files that may be configurations, each once: of a folder and those above it as far as its repository, and of those below its own
 * project (`scripts/` next to `rewards/`), not of all that lies in a home folder.
 */
export function filesAround(folder: string): readonly string[] {
  const files: string[] = [];
  for (
    let at = resolve(folder), level = 0;
    level <= levels && dirname(at) !== at;
    at = dirname(at), level++
  ) {
    const isRoot = existsSync(join(at, ".git"));
    files.push(...candidates(at), ...(isRoot || level <= 1 ? below(at) : []));
    if (isRoot) break;
  }
  return [...new Set(files)];
}

/** Names of the configs in a folder: those of Gradus, else those that have a counterpart. */
export function configsIn(folder: string): string[] {
  const own = readdirSync(folder).filter(isConfigName);
  return own.length > 0
    ? own
    : candidates(folder)
        .filter(converts)
        .map((file) => basename(file));
}

const candidates = (folder: string): string[] =>
  entriesOf(folder)
    .filter((entry) => entry.isFile() && endings.includes(extname(entry.name)))
    .slice(0, mostRead)
    .map(({ name }) => join(folder, name));

/** Files in folders below, the nearest first, as many as a project has. */
function below(folder: string): string[] {
  let folders = [folder];
  const files: string[] = [];
  for (let level = 0; level < deepest && files.length < mostRead; level++) {
    folders = folders.flatMap(foldersIn).slice(0, mostRead);
    files.push(...folders.flatMap(candidates));
  }
  return files.slice(0, mostRead);
}

const foldersIn = (folder: string): string[] =>
  entriesOf(folder)
    .filter((entry) => entry.isDirectory() && !/^(?:\.|node_modules$)/.test(entry.name))
    .map(({ name }) => join(folder, name));

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // Another user's folder near a run has nothing to do with it.
  }
}

function isConfig(file: string, trainers: readonly Framework[]): boolean {
  const text = smallText(file);
  const framework = text === undefined ? undefined : parseConfig(file, text)?.framework;
  return trainers.some((one) => one === framework) && converts(file);
}

/** @param output the named folder, from that of the files */
function chosen(files: readonly string[], output: string): ConfigNear {
  const [only] = files;
  if (only !== undefined && files.length === 1) return { kind: "one", file: only };
  const naming = files.filter((file) => output !== "" && partsOfPaths(file).has(basename(output)));
  const [named] = naming;
  return named !== undefined && naming.length === 1
    ? { kind: "one", file: named }
    : { kind: "several", files };
}

/** Words of a file between slashes, quotes and spaces. */
const partsOfPaths = (file: string): ReadonlySet<string> =>
  new Set((smallText(file) ?? "").split(/[\s"'=/:,()]+/));
