/** A language server as a child process, and what it has published: the client that the protocol's tests share. */
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  createProtocolConnection,
  CodeActionRequest,
  CompletionRequest,
  DidChangeTextDocumentNotification,
  DidCloseTextDocumentNotification,
  DidOpenTextDocumentNotification,
  ExitNotification,
  HoverRequest,
  InitializedNotification,
  InitializeRequest,
  PublishDiagnosticsNotification,
  ShutdownRequest,
  StreamMessageReader,
  StreamMessageWriter,
  type ClientCapabilities,
  type CodeAction,
  type CompletionItem,
  type InitializeParams,
  type Position,
  type ProtocolConnection,
  type ProtocolRequestType,
  type PublishDiagnosticsParams,
  type ServerCapabilities,
  type TextDocumentIdentifier,
  type TextEdit,
} from "vscode-languageserver-protocol/node";
import { builtCli } from "./cli.ts";

export class LanguageServer {
  readonly published: PublishDiagnosticsParams[] = [];
  private waiting: (() => void)[] = [];
  private version = 0;
  /** Of the document that was opened last. */
  uri = "";
  capabilities: ServerCapabilities = {};

  constructor(
    readonly child: ChildProcess,
    readonly connection: ProtocolConnection,
  ) {
    connection.onNotification(PublishDiagnosticsNotification.type, (params) => {
      this.published.push(params);
      for (const wake of this.waiting.splice(0)) wake();
    });
    connection.listen();
  }

  async open(
    folder: string,
    name: string,
    text: string,
    languageId = "gradus-yaml",
  ): Promise<PublishDiagnosticsParams> {
    this.uri = pathToFileURL(join(folder, name)).href;
    this.version = 1;
    const seen = this.published.length;
    await this.connection.sendNotification(DidOpenTextDocumentNotification.type, {
      textDocument: { uri: this.uri, languageId, version: 1, text },
    });
    return this.next(seen);
  }

  async change(text: string): Promise<PublishDiagnosticsParams> {
    this.version += 1;
    const { version, uri } = this;
    const seen = this.published.length;
    await this.connection.sendNotification(DidChangeTextDocumentNotification.type, {
      textDocument: { uri, version },
      contentChanges: [{ text }],
    });
    return this.next(seen, version);
  }

  /** The next diagnostics of the open document, of a version where one is named. */
  async next(seen: number, version?: number): Promise<PublishDiagnosticsParams> {
    for (;;) {
      const found = this.published
        .slice(seen)
        .find((params) => params.uri === this.uri && (version === undefined || params.version === version));
      if (found !== undefined) return found;
      await new Promise<void>((wake) => this.waiting.push(wake));
    }
  }

  /**
   * Any request. Of a feature that asks about a document, the open one is asked unless `params` name another.
   *
   *     await server.ask(DefinitionRequest.type, { position })
   */
  ask<P extends { textDocument: TextDocumentIdentifier }, R, PR, E, RO>(
    type: ProtocolRequestType<P, R, PR, E, RO>,
    params: Omit<P, "textDocument"> & { textDocument?: TextDocumentIdentifier },
  ): Promise<R> {
    return this.connection.sendRequest(type.method, { textDocument: { uri: this.uri }, ...params });
  }

  request<P, R, PR, E, RO>(type: ProtocolRequestType<P, R, PR, E, RO>, params: P): Promise<R> {
    return this.connection.sendRequest(type.method, params);
  }

  /** Shuts it down as an editor does; the status it ends with. */
  async stop(): Promise<number | null> {
    await this.connection.sendRequest(ShutdownRequest.type);
    const ended = once(this.child, "exit");
    await this.connection.sendNotification(ExitNotification.type);
    const [status]: (number | null)[] = await ended;
    this.connection.dispose();
    return status ?? null;
  }

  async close(): Promise<void> {
    await this.connection.sendNotification(DidCloseTextDocumentNotification.type, {
      textDocument: { uri: this.uri },
    });
  }

  async actions(params: PublishDiagnosticsParams, only?: string[]): Promise<CodeAction[]> {
    const range = params.diagnostics[0]?.range ?? {
      start: { line: 0, character: 0 },
      end: { line: 999, character: 0 },
    };
    const found = await this.connection.sendRequest(CodeActionRequest.type, {
      textDocument: { uri: this.uri },
      range,
      context: { diagnostics: params.diagnostics, ...(only === undefined ? {} : { only }) },
    });
    return (found ?? []).filter((action): action is CodeAction => "edit" in action);
  }

  async complete(position: Position): Promise<CompletionItem[]> {
    const found = await this.connection.sendRequest(CompletionRequest.type, {
      textDocument: { uri: this.uri },
      position,
    });
    return Array.isArray(found) ? found : (found?.items ?? []);
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

/** Starts the built server; `initialize` adds to what a client says of itself. */
export async function startServer(
  initialize: Partial<Omit<InitializeParams, "capabilities">> & { capabilities?: ClientCapabilities } = {},
): Promise<LanguageServer> {
  const child = spawn(process.execPath, [await builtCli(), "lsp", "--stdio"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  assert.ok(child.stdin && child.stdout);
  const server = new LanguageServer(
    child,
    createProtocolConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin)),
  );
  const { capabilities } = await server.connection.sendRequest(InitializeRequest.type, {
    processId: process.pid,
    rootUri: null,
    capabilities: {},
    ...initialize,
  });
  server.capabilities = capabilities;
  await server.connection.sendNotification(InitializedNotification.type, {});
  return server;
}

/** A text after edits, which do not overlap. */
export function applied(text: string, edits: readonly TextEdit[]): string {
  const lines = text.split("\n");
  const offset = ({ line, character }: Position): number =>
    lines.slice(0, line).reduce((sum, each) => sum + each.length + 1, 0) + character;
  return [...edits]
    .sort((a, b) => offset(b.range.start) - offset(a.range.start))
    .reduce(
      (now, { range, newText }) => now.slice(0, offset(range.start)) + newText + now.slice(offset(range.end)),
      text,
    );
}

/** `|` marks the cursor. */
export function cursor(marked: string): { text: string; position: Position } {
  const at = marked.indexOf("|");
  const head = marked.slice(0, at).split("\n");
  return {
    text: marked.replace("|", ""),
    position: { line: head.length - 1, character: head.at(-1)?.length ?? 0 },
  };
}
