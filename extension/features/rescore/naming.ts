/** Which configs a reward's file belongs to. */
import { basename } from "node:path";
import { workspace, type DocumentFilter, type TextDocument, type Uri } from "vscode";
import { language } from "../../../shared/editor/contributions.ts";
import { findConfigs, findTrainerFiles } from "../configs/find.ts";
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

  /** A config may name other files now, or be new. */
  forget(): void {
    this.#known.clear();
  }
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
    const text = new TextDecoder().decode(await workspace.fs.readFile(uri));
    const isScript = scripts.includes(uri);
    if (isScript && !isTrainerText(text)) continue;
    if (text.includes(basename(file)) || (isScript && uri.fsPath === file)) found.push(uri);
    if (found.length >= mostConfigs) break;
  }
  return found;
}
