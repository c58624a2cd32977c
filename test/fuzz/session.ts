/** The language server at the other end of a real connection, in this process. */
import { PassThrough } from "node:stream";
import { createConnection } from "vscode-languageserver";
import {
  createProtocolConnection,
  DidChangeTextDocumentNotification,
  DidCloseTextDocumentNotification,
  DidOpenTextDocumentNotification,
  InitializedNotification,
  InitializeRequest,
  LogMessageNotification,
  MessageType,
  PublishDiagnosticsNotification,
  StreamMessageReader,
  StreamMessageWriter,
  type Diagnostic,
  type ProtocolConnection,
} from "vscode-languageserver-protocol/node";
import { TextDocument } from "vscode-languageserver-textdocument";
import { attachLanguage } from "../../server/language/index.ts";
import { patience } from "../support/until.ts";
import { applied, type Edit } from "./edits.ts";

interface Shown {
  readonly version: number | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

export class Session {
  readonly errors: string[] = [];
  readonly shown = new Map<string, Shown>();
  readonly texts = new Map<string, string>();
  private readonly versions = new Map<string, number>();
  private wake: () => void = () => undefined;

  private constructor(
    readonly client: ProtocolConnection,
    private readonly end: () => void,
  ) {
    client.onNotification(LogMessageNotification.type, ({ type, message }) => {
      if (type === MessageType.Error) this.errors.push(message);
    });
    client.onNotification(PublishDiagnosticsNotification.type, ({ uri, version, diagnostics }) => {
      this.shown.set(uri, { version, diagnostics });
      this.wake();
    });
    client.listen();
  }

  static async start(): Promise<Session> {
    const [there, back] = [new PassThrough(), new PassThrough()];
    const server = createConnection(
      () => createProtocolConnection(new StreamMessageReader(there), new StreamMessageWriter(back)),
      { shutdownReceived: false, initialize: () => undefined, exit: () => undefined },
    );
    const language = attachLanguage(server);
    server.listen();
    const client = createProtocolConnection(new StreamMessageReader(back), new StreamMessageWriter(there));
    const session = new Session(client, () => {
      client.dispose();
      language.dispose();
      server.dispose();
    });
    await client.sendRequest(InitializeRequest.type, {
      processId: null,
      rootUri: null,
      capabilities: { textDocument: { completion: { completionItem: { snippetSupport: true } } } },
      initializationOptions: { codeLens: true },
    });
    await client.sendNotification(InitializedNotification.type, {});
    return session;
  }

  dispose(): void {
    this.end();
  }

  async open(uri: string, languageId: string, text: string): Promise<void> {
    this.texts.set(uri, text);
    this.versions.set(uri, 1);
    await this.client.sendNotification(DidOpenTextDocumentNotification.type, {
      textDocument: { uri, languageId, version: 1, text },
    });
  }

  async close(uri: string): Promise<void> {
    this.texts.delete(uri);
    await this.client.sendNotification(DidCloseTextDocumentNotification.type, { textDocument: { uri } });
  }

  async edit(uri: string, edit: Edit): Promise<void> {
    const text = this.texts.get(uri) ?? "";
    const document = TextDocument.create(uri, "", 0, text);
    const version = (this.versions.get(uri) ?? 0) + 1;
    this.versions.set(uri, version);
    const [start, end] = [document.positionAt(edit.start), document.positionAt(edit.end)];
    // An editor has no place inside of a line break; the text is what the server makes of the places sent.
    this.texts.set(
      uri,
      applied(text, { ...edit, start: document.offsetAt(start), end: document.offsetAt(end) }),
    );
    await this.client.sendNotification(DidChangeTextDocumentNotification.type, {
      textDocument: { uri, version },
      contentChanges: [{ range: { start, end }, text: edit.text }],
    });
  }

  /** Waits until what is shown of a document satisfies; false where nothing more comes for very long. */
  async until(holds: () => boolean): Promise<boolean> {
    while (!holds()) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<"late">((resolve) => (timer = setTimeout(() => resolve("late"), patience)));
      const next = new Promise<"more">((resolve) => (this.wake = () => resolve("more")));
      const what = await Promise.race([late, next]);
      clearTimeout(timer);
      if (what === "late") return holds();
    }
    return true;
  }
}
