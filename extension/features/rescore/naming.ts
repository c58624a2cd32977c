/** Which configs a reward's file belongs to. */
import { basename } from "node:path";
import { Uri, window, workspace, type DocumentFilter, type TextDocument } from "vscode";
import { localPaths } from "../../vscode/folders.ts";
import { firstLaunch } from "../../wake/look.ts";
import { language } from "../../../shared/editor/contributions.ts";
import { findConfigs, findTrainerFiles } from "../configs/find.ts";
import { pickConfig } from "../runs/pick.ts";
import { isTrainerText } from "./document.ts";

/** Of a file that many configs name, the first so many are looked at. */
const mostConfigs = 4;
/** Milliseconds for which it stays known which configs name a file. */
const knownFor = 10_000;

/** Files that may hold a reward. */
export const rewardFiles: readonly DocumentFilter[] = ["typescript", "javascript", "python"].map((id) => ({
  scheme: "file",
  language: id,
}));
export const mayBeReward = ({ uri, languageId }: TextDocument): boolean =>
  rewardFiles.some((one) => one.scheme === uri.scheme && one.language === languageId);

/** Whether a document is a config, or may be a trainer's. */
export const mayBeConfig = (document: TextDocument): boolean =>
  document.languageId === language.id ||
  (/\.(?:sh|bash|slurm|sbatch|ya?ml)$/.test(document.fileName) && isTrainerText(document.getText()));

export class ConfigsNaming {
  readonly #known = new Map<string, { readonly until: number; readonly configs: Promise<readonly Uri[]> }>();

  of(file: string): Promise<readonly Uri[]> {
    const known = this.#known.get(file);
    if (known !== undefined && known.until > Date.now()) return known.configs;
    const configs = naming(file);
    this.#known.set(file, { until: Date.now() + knownFor, configs });
    return configs;
  }

  /**
   * The config that is named, else the one in the editor or that names the reward in it, else one that is picked: where there
   * is none, a trainer's file. Undefined: the person changed their mind.
   */
  async pick(word: unknown): Promise<Uri | undefined> {
    const active = window.activeTextEditor?.document;
    if (word === undefined && active !== undefined) {
      if (mayBeConfig(active)) return active.uri;
      const [first] = mayBeReward(active) ? await this.of(active.fileName) : [];
      if (first !== undefined) return first;
    }
    const launches = word === undefined && (await findConfigs(1)).length === 0 ? await trainerLaunches() : [];
    if (launches.length < 2) return launches[0] ?? pickConfig(word, "Config");
    const items = launches.map((uri) => ({ label: workspace.asRelativePath(uri), uri }));
    return (await window.showQuickPick(items, { title: "Trainer Configuration" }))?.uri;
  }

  /** A config may name other files now, or be new. */
  forget(): void {
    this.#known.clear();
  }
}

const textOf = async (uri: Uri): Promise<string> =>
  new TextDecoder().decode(await workspace.fs.readFile(uri));

/** Files that start a trainer, the first of them: by their names, or where none has one of these, by what is in them. */
export async function trainerLaunches(): Promise<readonly Uri[]> {
  const found: Uri[] = [];
  for (const uri of await findTrainerFiles()) {
    if (isTrainerText(await textOf(uri))) found.push(uri);
    if (found.length >= mostConfigs) break;
  }
  if (found.length > 0) return found;
  const looked = await Promise.all(localPaths().map((folder) => firstLaunch(folder)));
  return looked.flatMap((launch) => (launch === undefined ? [] : [Uri.file(launch.file)]));
}

/**
 * As far as their own text says so, on disk. A Python reward may belong to a trainer's configuration, and to the very
 * script that trains with it.
 */
async function naming(file: string): Promise<readonly Uri[]> {
  const isPython = file.endsWith(".py");
  const scripts = isPython ? await findTrainerFiles() : [];
  const found: Uri[] = [];
  for (const uri of [...(await findConfigs()), ...scripts]) {
    const text = await textOf(uri);
    const isScript = scripts.includes(uri);
    if (isScript && !isTrainerText(text)) continue;
    if (text.includes(basename(file)) || (isScript && uri.fsPath === file)) found.push(uri);
    if (found.length >= mostConfigs) break;
  }
  return found;
}
