/** The configs that a name may reach into: those that are open, those of the open folders, and what they extend. */
import { readFileSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parentFile } from "../../config/extend.ts";
import { child, textOf, type SourceNode } from "../../config/text/node.ts";
import { presetsFolder } from "../../config/presets.ts";
import { parseSource } from "../../config/text/source.ts";
import type { LanguageContext } from "../feature.ts";
import { wholeTree } from "../tolerant/tolerantParse.ts";
import { namesIn, type Names } from "./occurrences.ts";
import { statsOf } from "../../lib/inputFile.ts";

export interface ConfigFile {
  readonly file: string;
  readonly uri: string;
  readonly text: string;
  /** Of a text with syntax errors, what can be read of it. */
  readonly root: SourceNode | undefined;
  readonly preset: boolean;
  /** What it extends, nearest last, as far as the files are there. */
  readonly parents: readonly string[];
  readonly names: Names;
}

/** Deeper folders, and more of them, are not looked through: a workspace may be a home directory. */
const deepest = 8;
const mostFolders = 4_000;
/** Bytes; larger files are no hand-written configs, and reading them would block every request. */
const largest = 1_000_000;
const passedOver = new Set(["node_modules", "__pycache__", "dist", "out", "venv"]);

interface Folder {
  readonly stamp: number;
  readonly folders: readonly string[];
  readonly configs: readonly string[];
}

export class ConfigFiles {
  private readonly read = new Map<string, { readonly stamp: string; readonly file: ConfigFile }>();
  private readonly listed = new Map<string, Folder>();

  constructor(private readonly context: Pick<LanguageContext, "configs" | "editor">) {}

  /** As it is being edited, else as it lies on disk; undefined where it cannot be read. */
  get(file: string): ConfigFile | undefined {
    const open = this.context.configs().find((config) => config.file === file);
    if (open !== undefined)
      return this.known(file, `open ${open.uri} ${open.version}`, () =>
        this.make(open.file, open.uri, open.text, wholeTree(open), open.whole.root),
      );
    const stamp = stampOf(file);
    if (stamp === undefined) return undefined;
    return this.known(file, stamp, () => {
      const text = readFileSync(file, "utf8");
      const origin = { file, folder: dirname(file), via: [], layer: "file" } as const;
      return this.make(file, pathToFileURL(file).href, text, parseSource(file, text, origin).root);
    });
  }

  /** A config and everything that it extends, itself first, each once. */
  lineage(file: string): ConfigFile[] {
    const found = new Map<string, ConfigFile>();
    const follow = (name: string): void => {
      const one = found.has(name) ? undefined : this.get(name);
      if (one === undefined) return;
      found.set(name, one);
      // The last of several parents has the last word: it is the nearest.
      for (const parent of [...one.parents].reverse()) follow(parent);
    };
    follow(file);
    return [...found.values()];
  }

  /** Every config that is open or lies in an open folder. */
  async all(): Promise<ConfigFile[]> {
    const files = new Set(this.context.configs().map(({ file }) => file));
    const budget = { folders: mostFolders };
    for (const folder of this.context.editor().folders)
      for (const file of await this.below(folder, 0, budget)) files.add(file);
    for (const file of this.read.keys())
      if (!files.has(file) && stampOf(file) === undefined) this.read.delete(file);
    return [...files].sort().flatMap((file) => this.get(file) ?? []);
  }

  private async below(folder: string, depth: number, budget: { folders: number }): Promise<string[]> {
    if (depth > deepest || (budget.folders -= 1) < 0) return [];
    const here = await this.list(folder);
    const found = [...here.configs];
    for (const inner of here.folders) found.push(...(await this.below(inner, depth + 1, budget)));
    return found;
  }

  /** Read again when the folder has changed: its own time moves when a file comes or goes. */
  private async list(folder: string): Promise<Folder> {
    const nothing: Folder = { stamp: 0, folders: [], configs: [] };
    try {
      const { mtimeMs } = await stat(folder);
      const known = this.listed.get(folder);
      if (known?.stamp === mtimeMs) return known;
      const entries = await readdir(folder, { withFileTypes: true });
      const seen: Folder = {
        stamp: mtimeMs,
        folders: entries
          .filter((one) => one.isDirectory() && !one.name.startsWith(".") && !passedOver.has(one.name))
          .map(({ name }) => join(folder, name)),
        configs: entries
          .filter((one) => one.isFile() && /\.gradus\.ya?ml$/.test(one.name))
          .map(({ name }) => join(folder, name)),
      };
      this.listed.set(folder, seen);
      return seen;
    } catch (error) {
      // A folder that vanished, or that we may not read, has no configs for us.
      if (isGone(error)) return nothing;
      throw error;
    }
  }

  private known(file: string, stamp: string, make: () => ConfigFile): ConfigFile {
    const known = this.read.get(file);
    if (known?.stamp === stamp) return known.file;
    const made = make();
    this.read.set(file, { stamp, file: made });
    return made;
  }

  private make(
    file: string,
    uri: string,
    text: string,
    root: SourceNode | undefined,
    merged = root,
  ): ConfigFile {
    const extended = child(root, "extends");
    const entries = extended?.kind === "list" ? extended.items : extended === undefined ? [] : [extended];
    const parents = entries.flatMap((entry) => {
      const name = textOf(entry);
      return name === undefined ? [] : (parentFile(name, file)?.file ?? []);
    });
    const preset = dirname(resolve(file)) === presetsFolder();
    return { file, uri, text, root, preset, parents, names: namesIn(root, text, merged) };
  }
}

function stampOf(file: string): string | undefined {
  const found = statsOf(file);
  return found?.isFile() === true && found.size <= largest ? `${found.mtimeMs} ${found.size}` : undefined;
}

const isGone = (error: unknown): boolean =>
  error instanceof Error &&
  "code" in error &&
  ["ENOENT", "ENOTDIR", "EACCES", "EPERM"].includes(String(error.code));

const ofContext = new WeakMap<object, ConfigFiles>();

/** One index for all features of a connection. */
export function configFilesOf(context: LanguageContext): ConfigFiles {
  const known = ofContext.get(context) ?? new ConfigFiles(context);
  ofContext.set(context, known);
  return known;
}
