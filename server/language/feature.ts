/** One thing that an editor can ask: its capability, and its answer. One file each below `features/`. */
import type { ClientCapabilities, Connection, ServerCapabilities } from "vscode-languageserver";
import type { CancellationToken, ResponseError } from "vscode-languageserver";
import type { Diagnostic as LspDiagnostic } from "vscode-languageserver";
import type { Diagnostic } from "../config/check/diagnostic.ts";
import type { OpenConfig, FrameworkFile } from "./documents.ts";
import type { Evidence } from "./evidence.ts";
import type { Rescoring } from "./rescoring.ts";

/** What has been found in a document, and the same as it was published, in the same order. */
export interface DocumentDiagnostics {
  readonly own: readonly Diagnostic[];
  readonly published: readonly LspDiagnostic[];
}

/** What the editor can do, as it said when it connected. */
export interface EditorCapabilities {
  /** Lenses, and some actions, run commands of our extension: other editors do not have them. */
  readonly lenses: boolean;
  /** The editor knows the command that asks for completions once more. */
  readonly suggest: boolean;
  /** It draws Run, Validate and the last run itself: ours does so before there is a server. */
  readonly drawsRun: boolean;
  /** The person trusts the workspace: its reward functions may be run. */
  readonly trusted: boolean;
  /** What the editor can do. */
  readonly client: ClientCapabilities;
  /** Absolute paths of the folders that are open. */
  readonly folders: readonly string[];
}

export interface LanguageContext {
  readonly connection: Connection;
  readonly evidence: Evidence | undefined;
  readonly rescoring: Rescoring | undefined;
  readonly editor: () => EditorCapabilities;
  /** The Gradus config of an open document, as it is now. */
  config(uri: string): OpenConfig | undefined;
  /** The configuration of verl, TRL or OpenRLHF that an open document is. */
  frameworkFile(uri: string): FrameworkFile | undefined;
  /** Every open Gradus config. */
  configs(): readonly OpenConfig[];
  /** The diagnostics of a document's current text: it is checked first if it has changed. */
  diagnostics(uri: string): DocumentDiagnostics;
  /** Told when the editor may be asked. */
  onReady(listener: () => void): void;
  /** Called when runs have shown something new of a file's config. */
  onEvidence(listener: (file: string) => void): void;
  /** A handler that cannot throw: an error is logged and answered with `fallback`, a cancelled request says so. */
  guarded<Params, Result>(
    name: string,
    fallback: Result,
    handle: (params: Params) => Result | Promise<Result>,
  ): (params: Params, token?: CancellationToken) => Promise<Result | ResponseError>;
}

export interface Feature {
  readonly capabilities: (editor: EditorCapabilities) => Partial<ServerCapabilities>;
  /** Sets the handlers: called once, before the connection listens. */
  readonly provide: (context: LanguageContext) => void;
}
