/** The configs a connection has open, each read once per change. */
import { basename, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { TextDocument } from "vscode-languageserver-textdocument";
import { loadConfig, type LoadedConfig } from "../config/index.ts";
import type { SourceNode } from "../config/node.ts";
import { language } from "../../shared/contributions.ts";

export interface OpenConfig {
  readonly uri: string;
  readonly version: number;
  readonly text: string;
  /** Path on disk, or where it would lie. */
  readonly file: string;
  /** The document's own tree. */
  readonly root: SourceNode | undefined;
  readonly loaded: LoadedConfig;
  /** As it last was without a syntax error: what completion goes by while a line is half-written. */
  readonly whole: LoadedConfig;
}

/** Files that are not on a disk are read as if they lay in the working folder. */
export function pathOf(uri: string): string {
  if (uri.startsWith("file:")) return fileURLToPath(uri);
  return resolve(basename(decodeURIComponent(uri.replace(/^[\w+.-]+:/, ""))) || "untitled.gradus.yaml");
}

export const isConfig = (document: Pick<TextDocument, "languageId" | "uri">): boolean =>
  document.languageId === language.id || /\.gradus\.ya?ml$/.test(document.uri);

export class OpenConfigs {
  private readonly read = new Map<string, OpenConfig>();

  /** The config as it stands, read again only when its text or something it depends on has changed. */
  get(document: TextDocument): OpenConfig {
    const known = this.read.get(document.uri);
    if (known?.version === document.version) return known;
    const text = document.getText();
    const file = pathOf(document.uri);
    const loaded = loadConfig(file, { text });
    const broken = loaded.diagnostics.some(({ rule }) => rule === "syntax");
    const config: OpenConfig = {
      uri: document.uri,
      version: document.version,
      text,
      file,
      root: loaded.source,
      loaded,
      whole: broken ? (known?.whole ?? loaded) : loaded,
    };
    this.read.set(document.uri, config);
    return config;
  }

  forget(uri: string): void {
    this.read.delete(uri);
  }

  /** Something on disk changed: what was read before may no longer hold. */
  stale(): void {
    for (const [uri, config] of this.read) this.read.set(uri, { ...config, version: Number.NaN });
  }
}
