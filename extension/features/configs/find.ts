/** Where the configs of a workspace are. */
import { FileType, Uri, workspace } from "vscode";
import { language } from "../../../shared/editor/contributions.ts";
import { messageOf } from "../../../shared/lib/errors.ts";

/** Never looked into: data sets, checkpoints and dependencies may be huge. */
const excluded = new Set(["node_modules", ".gradus", ".git", "dist", "out"]);
const mostConfigs = 500;
const deepest = 6;
const mostFolders = 5_000;

/**
 * The editor's own search where it works; some installations come without the program that it calls.
 * @param most how many to look for
 * @param say takes what goes wrong; the bundle that wakes the extension has no channel for it
 */
export async function findConfigs(
  most = mostConfigs,
  say: (message: string) => void = () => undefined,
): Promise<Uri[]> {
  try {
    return await workspace.findFiles(language.pattern, `**/{${[...excluded].join(",")}}/**`, most);
  } catch (error) {
    say(`searching without the editor's search: ${messageOf(error)}`);
    return walk(
      (workspace.workspaceFolders ?? []).map((folder) => folder.uri),
      most,
      say,
    );
  }
}

async function walk(folders: readonly Uri[], most: number, say: (message: string) => void): Promise<Uri[]> {
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
        else if (type === FileType.File && name.endsWith(".gradus.yaml"))
          found.push(Uri.joinPath(folder, name));
      }
    }
    level = below;
  }
  return found.slice(0, most);
}

async function entriesOf(
  folder: Uri,
  say: (message: string) => void,
): Promise<readonly [string, FileType][]> {
  try {
    return await workspace.fs.readDirectory(folder);
  } catch (error) {
    say(`${folder.fsPath}: ${messageOf(error)}`);
    return [];
  }
}
