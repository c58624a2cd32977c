/** The configs a connection has open, each read once per change. */
import { basename, resolve } from "node:path";
import type { TextDocument } from "vscode-languageserver-textdocument";
import { isConfigName } from "../config/configKind.ts";
import { loadConfig, type LoadedConfig } from "../rules/load.ts";
import type { Known } from "../rules/fixAll.ts";
import type { SourceNode } from "../config/text/node.ts";
import { language } from "../../shared/editor/contributions.ts";
import { isModule, isNotebook } from "../lib/notebook/notebook.ts";
import { readFrameworkDocument, type FrameworkDocument } from "../frameworks/check/index.ts";
import { engineKeys } from "../frameworks/lens/engineKeys.ts";
import { modelFacts } from "../analysis/modelFacts.ts";
import type { BackgroundFacts } from "./backgroundFacts.ts";
import type { ReleaseHints } from "../frameworks/releases/version.ts";
import { pathOfAddress } from "../../shared/lib/fileAddress.ts";

export interface OpenConfig {
  readonly uri: string;
  readonly version: number;
  readonly text: string;
  /** Path on disk, or where it would lie. */
  readonly file: string;
  /** The document's own tree. */
  readonly root: SourceNode | undefined;
  /** What `loaded` was found with, next to the text. */
  readonly known: Known;
  readonly loaded: LoadedConfig;
  /** As it last was without a syntax error: what completion goes by while a line is half-written. */
  readonly whole: LoadedConfig;
  /** The text that `whole` was read from. */
  readonly wholeText: string;
}

/** A configuration of another framework. */
export interface FrameworkFile {
  readonly uri: string;
  readonly version: number;
  readonly document: FrameworkDocument;
}

/** What is on no disk is read as if it lay in the editor's first folder. */
function pathOf(uri: string, folder = "."): string {
  if (uri.startsWith("file:")) return pathOfAddress(uri);
  return resolve(
    folder,
    basename(decodeURIComponent(uri.replace(/^[\w+.-]+:/, ""))) || "untitled.gradus.yaml",
  );
}

export const isConfig = (document: Pick<TextDocument, "languageId" | "uri">): boolean =>
  document.languageId === language.id || isConfigName(document.uri);

export class OpenConfigs {
  private readonly read = new Map<string, OpenConfig>();

  /** @param facts default: everything is read at once */
  constructor(
    private readonly facts?: BackgroundFacts,
    private readonly folder: () => string | undefined = () => undefined,
  ) {}

  /** The config as it is, read again only when its text or something it depends on has changed. */
  get(document: TextDocument): OpenConfig {
    const before = this.read.get(document.uri);
    if (before?.version === document.version) return before;
    const text = document.getText();
    const file = pathOf(document.uri, this.folder());
    const known = { models: this.facts?.of(document.uri) ?? modelFacts, engineKeys };
    const loaded = loadConfig(file, { text, ...known });
    const broken = loaded.diagnostics.some(({ rule }) => rule === "syntax");
    const config: OpenConfig = {
      uri: document.uri,
      version: document.version,
      text,
      file,
      root: loaded.source,
      known,
      loaded,
      whole: broken ? (before?.whole ?? loaded) : loaded,
      wholeText: broken ? (before?.wholeText ?? text) : text,
    };
    this.read.set(document.uri, config);
    return config;
  }

  forget(uri: string): void {
    this.read.delete(uri);
    this.facts?.forget(uri);
  }

  /** Something on disk changed: what was read before may no longer hold. */
  stale(): void {
    for (const [uri, config] of this.read) this.read.set(uri, { ...config, version: Number.NaN });
  }
}

/** The other frameworks' configurations a connection has open; `undefined` is remembered as well. */
export class FrameworkFiles {
  private readonly read = new Map<
    string,
    { readonly version: number; readonly found: FrameworkFile | undefined }
  >();

  private surroundings: ReleaseHints = {};

  constructor(private readonly folder: () => string | undefined = () => undefined) {}

  /** Another Python is named, or what lies around the files has changed: none may be what it was. */
  stale(surroundings: ReleaseHints = this.surroundings): void {
    this.surroundings = surroundings;
    this.read.clear();
  }

  /** @param open a text, or the module of an open notebook's cells */
  get(open: Pick<TextDocument, "uri" | "version" | "getText">): FrameworkFile | undefined {
    const { uri, version } = open;
    const known = this.read.get(uri);
    if (known?.version === version) return known.found;
    const [file, text] = [pathOf(uri, this.folder()), open.getText()];
    // Of a notebook that is open as JSON the places are those of cells that the editor does not show.
    const document =
      isNotebook(file) && !isModule(text) ? undefined : readFrameworkDocument(file, text, this.surroundings);
    const found = document === undefined ? undefined : { uri, version, document };
    this.read.set(uri, { version, found });
    return found;
  }

  forget(uri: string): void {
    this.read.delete(uri);
  }
}
