/** Which files are meant: those that are named, those that a pattern matches, and every config below a folder. */
import { existsSync, readdirSync, statSync, type Dirent } from "node:fs";
import { basename, extname, join } from "node:path";
import { isConfigName } from "../../config/configKind.ts";
import { readFailure, UserError } from "../../../shared/lib/errors.ts";
import { limits, statsOf } from "../../lib/inputFile.ts";
import { isNotebook } from "../../lib/notebook/notebook.ts";
import { matcher, staticFolder } from "../../lib/pattern.ts";
import { formatCount } from "../../../shared/lib/format.ts";

export interface SelectedFile {
  /** As the person wrote it, or below the folder that they wrote. */
  readonly file: string;
  /** It was found, not named: it is checked only if its content shows that it is a configuration. */
  readonly found: boolean;
}

/** How configurations of other trainers are written: those that are checked, and those whose trainer is only named. */
const trainerEndings = [".yaml", ".yml", ".sh", ".bash", ".slurm", ".sbatch", ".py", ".toml", ".ipynb"];
/** No configuration is longer; data and generated programs are. A notebook holds its outputs. */
const longest = (file: string): number => (isNotebook(file) ? limits.notebook : 1 << 20);

/** Each file once, in the order of the arguments. Throws a UserError of code `usage` for one that means no file. */
/** @param most files that are looked at below a folder */
export function wantedFiles(words: readonly string[], most?: number): readonly SelectedFile[] {
  const found = new Map<string, SelectedFile>();
  for (const word of words)
    for (const wanted of meant(word, most)) {
      const known = found.get(wanted.file);
      if (known === undefined || known.found) found.set(wanted.file, wanted);
    }
  return [...found.values()];
}

function meant(word: string, most?: number): readonly SelectedFile[] {
  const stats = statsOf(word);
  if (stats?.isDirectory() === true && !isConfigName(word)) return someOf(word, configsBelow(word, most));
  if (stats === undefined && /[*?[{]/.test(word)) return someOf(word, matching(word, most));
  return [{ file: word, found: false }];
}

function someOf(word: string, files: readonly SelectedFile[]): readonly SelectedFile[] {
  if (files.length > 0) return files;
  throw nothingIn([word]);
}

export const nothingIn = (words: readonly string[]): UserError =>
  new UserError(`there is nothing to check in ${words.map((word) => `\`${word}\``).join(", ")}`, {
    code: "usage",
    action:
      "Gradus configs are called *.gradus.yaml; those of verl, TRL and OpenRLHF are recognised by what they start and by their keys.",
  });

const configsBelow = (folder: string, most?: number): readonly SelectedFile[] =>
  filesBelow(folder, most)
    .filter((file) => isConfigName(file) || trainerEndings.includes(extname(file)))
    .filter((file) => isConfigName(file) || statSync(file).size <= longest(file))
    .map((file) => ({ file, found: !isConfigName(file) }));

function matching(pattern: string, most?: number): readonly SelectedFile[] {
  const matches = matcher(pattern);
  const folder = staticFolder(pattern);
  if (!existsSync(folder)) return [];
  return filesBelow(folder, most)
    .filter((file) => matches(file))
    .map((file) => ({ file, found: false }));
}

/** Sorted. Hidden folders, packages and Python environments are skipped; links are not followed. */
export function filesBelow(folder: string, most = Number.POSITIVE_INFINITY): string[] {
  const files: string[] = [];
  const look = (at: string): void => {
    const entries = entriesOf(at);
    if (entries.some(({ name }) => name === "pyvenv.cfg")) return;
    for (const entry of entries) {
      const path = join(at, entry.name);
      if (entry.isDirectory() && !isPassedOver(path)) look(path);
      else if (entry.isFile()) files.push(path);
      if (files.length > most) throw tooMany(folder, most);
    }
  };
  look(folder);
  return files;
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    throw new UserError(`the folder cannot be read: ${readFailure(error)}`, {
      file: folder,
      code: "usage",
      action: "Name the files, or a folder that you may read.",
      cause: error,
    });
  }
}

const tooMany = (folder: string, most: number): UserError =>
  new UserError(`the folder holds more than ${formatCount(most)} files`, {
    file: folder,
    code: "usage",
    action: "Name a smaller folder, or the files.",
  });

const isPassedOver = (folder: string): boolean =>
  basename(folder).startsWith(".") || ["node_modules", "__pycache__"].includes(basename(folder));
