/** An editor's end of a daemon's connection: one document open, and what the daemon has said of it. */
import { pathToFileURL } from "node:url";
import {
  createProtocolConnection,
  CodeActionRequest,
  CodeActionTriggerKind,
  ConfigurationRequest,
  DidChangeTextDocumentNotification,
  DidOpenTextDocumentNotification,
  HoverRequest,
  InitializedNotification,
  InitializeRequest,
  InlayHintRefreshRequest,
  InlayHintRequest,
  PublishDiagnosticsNotification,
  RegistrationRequest,
  type CodeAction,
  type Diagnostic,
  type InlayHint,
  type Position,
  type ProtocolConnection,
} from "vscode-languageserver-protocol/node";
import type { DaemonLink } from "../../shared/daemon/handshake.ts";

const everything = { start: { line: 0, character: 0 }, end: { line: 999, character: 0 } };

export class EditorClient {
  readonly connection: ProtocolConnection;
  readonly uri: string;
  diagnostics: readonly Diagnostic[] = [];
  refreshes = 0;
  /** What the person has set. */
  settings: Readonly<Record<string, unknown>> = {};
  private version = 1;

  constructor(link: DaemonLink, file: string) {
    const { reader, writer } = link.transports();
    this.connection = createProtocolConnection(reader, writer);
    this.uri = pathToFileURL(file).href;
    this.connection.onNotification(PublishDiagnosticsNotification.type, ({ uri, diagnostics }) => {
      if (uri === this.uri) this.diagnostics = diagnostics;
    });
    this.connection.onRequest(InlayHintRefreshRequest.type, () => void this.refreshes++);
    this.connection.onRequest(RegistrationRequest.type, () => undefined);
    this.connection.onRequest(ConfigurationRequest.type, ({ items }) => items.map(() => this.settings));
    this.connection.listen();
  }

  async open(text: string, trusted = true): Promise<void> {
    await this.connection.sendRequest(InitializeRequest.type, {
      processId: process.pid,
      rootUri: null,
      capabilities: { workspace: { configuration: true, inlayHint: { refreshSupport: true } } },
      initializationOptions: { codeLens: true, drawsRun: true, trusted },
    });
    await this.connection.sendNotification(InitializedNotification.type, {});
    await this.connection.sendNotification(DidOpenTextDocumentNotification.type, {
      textDocument: { uri: this.uri, languageId: "gradus-yaml", version: 1, text },
    });
  }

  async change(text: string): Promise<void> {
    this.version += 1;
    await this.connection.sendNotification(DidChangeTextDocumentNotification.type, {
      textDocument: { uri: this.uri, version: this.version },
      contentChanges: [{ text }],
    });
  }

  async hints(): Promise<readonly InlayHint[]> {
    return (
      (await this.connection.sendRequest(InlayHintRequest.type, {
        textDocument: { uri: this.uri },
        range: everything,
      })) ?? []
    );
  }

  async labels(): Promise<readonly string[]> {
    return (await this.hints()).map(({ label }) =>
      typeof label === "string" ? label : label.map(({ value }) => value).join(""),
    );
  }

  async actions(position: Position): Promise<readonly CodeAction[]> {
    const found = await this.connection.sendRequest(CodeActionRequest.type, {
      textDocument: { uri: this.uri },
      range: { start: position, end: position },
      context: { diagnostics: [], triggerKind: CodeActionTriggerKind.Invoked },
    });
    return (found ?? []).filter((action): action is CodeAction => "kind" in action);
  }

  async hover(position: Position): Promise<string> {
    const found = await this.connection.sendRequest(HoverRequest.type, {
      textDocument: { uri: this.uri },
      position,
    });
    return found !== null && typeof found.contents === "object" && "value" in found.contents
      ? found.contents.value
      : "";
  }
}

/** Where a text begins in another. */
export function positionOf(text: string, part: string, offset = 0): Position {
  const at = text.indexOf(part);
  if (at < 0) throw new Error(`${part} is not in the text`);
  const before = text.slice(0, at + offset).split("\n");
  return { line: before.length - 1, character: before.at(-1)?.length ?? 0 };
}
