/** The configuration that a folder of a trainer's output came from, as far as what lies near it says. */
import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import { isConfigName } from "../../config/configKind.ts";
import { converts } from "../asConfig/convertFile.ts";
import { exportedConfig } from "../export/project.ts";
import { smallText } from "../readers/fileReader.ts";
import { parseConfig } from "../readers/index.ts";

type Trainer = "verl" | "trl" | "openrlhf";

export type ConfigNear =
  | { readonly kind: "one"; readonly file: string }
  /** Several that may be meant, none more than the others. */
  | { readonly kind: "several"; readonly files: readonly string[] }
  | { readonly kind: "none" };

/** Folders above the named one that are looked through, as far as its repository. */
const levels = 3;
const endings = [".sh", ".bash", ".slurm", ".sbatch", ".py", ".yaml", ".yml"];
/** Files of one folder that are read: a project's own folder has few. */
const mostRead = 200;

/**
 * The folder itself and those above it, the innermost first: what a project of ours was made of, Hydra's record of what ran, else the only script or file of
 * the trainers, or the only one that names the folder.
 * @param folder that was named
 */
export function configNear(folder: string, trainers: readonly Trainer[]): ConfigNear {
  const root = resolve(folder);
  for (let at = root, level = 0; level <= levels; at = dirname(at), level++) {
    const exported = exportedConfig(at);
    if (exported !== undefined) return { kind: "one", file: exported };
    const hydra = join(at, ".hydra", "config.yaml");
    if (isConfig(hydra, trainers)) return { kind: "one", file: hydra };
    const files = candidates(at).filter((file) => isConfig(file, trainers));
    if (files.length > 0) return chosen(files, relative(at, root));
    if (dirname(at) === at || existsSync(join(at, ".git"))) break;
  }
  return { kind: "none" };
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
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && endings.includes(extname(entry.name)))
    .slice(0, mostRead)
    .map(({ name }) => join(folder, name));

function isConfig(file: string, trainers: readonly Trainer[]): boolean {
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
