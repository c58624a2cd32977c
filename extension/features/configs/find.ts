/** Where the configs of a workspace are. */
import { FileType, Uri, workspace } from "vscode";
import { language } from "../../../shared/editor/contributions.ts";
import { messageOf } from "../../../shared/lib/errors.ts";

/** Never looked into: data sets, checkpoints and dependencies may be huge. */
const excluded = new Set(["node_modules", ".gradus", ".git", "dist", "out"]);
const mostConfigs = 500;
const deepest = 6;
const mostFolders = 5_000;

type Say = (message: string) => void;

/** Files of a kind: by the editor's pattern, and by their names where the editor cannot search. */
interface Wanted {
  readonly pattern: string;
  readonly has: (name: string) => boolean;
}
const gradusConfigs: Wanted = { pattern: language.pattern, has: (name) => name.endsWith(".gradus.yaml") };
/** What may hold a configuration of verl, TRL or OpenRLHF: a launch script, a YAML, or the program itself. */
const trainerFiles: Wanted = {
  pattern: "**/*.{sh,bash,slurm,sbatch,yaml,yml,py}",
  has: (name) => /\.(?:sh|bash|slurm|sbatch|ya?ml|py)$/.test(name) && !name.endsWith(".gradus.yaml"),
};
/** Of these, more are other programs. */
const mostTrainerFiles = 200;

/**
 * @param most how many to look for
 * @param say takes what goes wrong; the bundle that wakes the extension has no channel for it
 */
export const findConfigs = (most = mostConfigs, say: Say = () => undefined): Promise<Uri[]> =>
  find(gradusConfigs, most, say);

export const findTrainerFiles = (): Promise<Uri[]> => find(trainerFiles, mostTrainerFiles, () => undefined);

/** By the editor's own search where it works; some installations come without the program that it calls. */
async function find(wanted: Wanted, most: number, say: Say): Promise<Uri[]> {
  try {
    return await workspace.findFiles(wanted.pattern, `**/{${[...excluded].join(",")}}/**`, most);
  } catch (error) {
    say(`searching without the editor's search: ${messageOf(error)}`);
    const folders = (workspace.workspaceFolders ?? []).map((folder) => folder.uri);
    return walk(folders, wanted.has, most, say);
  }
}

async function walk(folders: readonly Uri[], has: Wanted["has"], most: number, say: Say): Promise<Uri[]> {
  const found: Uri[] = [];
  let [level, seen] = [folders, 0];
  for (
    let depth = 0;
    depth <= deepest && level.length > 0 && seen < mostFolders && found.length < most;
    depth++
  ) {
    const below: Uri[] = [];
    for (const folder of level) {
      seen++;
      for (const [name, type] of await entriesOf(folder, say)) {
        if (type === FileType.Directory && !excluded.has(name)) below.push(Uri.joinPath(folder, name));
        else if (type === FileType.File && has(name)) found.push(Uri.joinPath(folder, name));
      }
    }
    level = below;
  }
  return found.slice(0, most);
}

async function entriesOf(folder: Uri, say: Say): Promise<readonly [string, FileType][]> {
  try {
    return await workspace.fs.readDirectory(folder);
  } catch (error) {
    say(`${folder.fsPath}: ${messageOf(error)}`);
    return [];
  }
}
