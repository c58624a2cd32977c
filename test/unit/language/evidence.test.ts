import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { describe, it } from "node:test";
import { createConnection } from "vscode-languageserver";
import {
  createProtocolConnection,
  DidOpenTextDocumentNotification,
  ExitNotification,
  HoverRequest,
  InitializeRequest,
  PublishDiagnosticsNotification,
  StreamMessageReader,
  StreamMessageWriter,
  type ProtocolConnection,
  type PublishDiagnosticsParams,
} from "vscode-languageserver-protocol/node";
import { attachLanguage, type LanguageOptions } from "../../../server/language/index.ts";

const text = "tasks: [{ env: countdown }]\nreward: { terms: { correct: equation } }\n";
const uri = "file:///tmp/evidence.gradus.yaml";
const range = { start: { line: 1, character: 0 }, end: { line: 1, character: 6 } };

interface Rig {
  readonly client: ProtocolConnection;
  readonly exits: number[];
  next(): Promise<PublishDiagnosticsParams>;
}

/** A client and a server in one process, each at an end of two pipes. */
async function rig(options: LanguageOptions): Promise<Rig> {
  const [up, down] = [new PassThrough(), new PassThrough()];
  const exits: number[] = [];
  const watchDog = {
    shutdownReceived: false,
    initialize: () => undefined,
    exit: (code: number) => void exits.push(code),
  };
  const server = createConnection(
    (logger) => createProtocolConnection(new StreamMessageReader(up), new StreamMessageWriter(down), logger),
    watchDog,
  );
  attachLanguage(server, options);
  server.listen();
  const client = createProtocolConnection(new StreamMessageReader(down), new StreamMessageWriter(up));
  const arrived: PublishDiagnosticsParams[] = [];
  let wake = (): void => undefined;
  client.onNotification(PublishDiagnosticsNotification.type, (params) => {
    arrived.push(params);
    wake();
  });
  client.listen();
  await client.sendRequest(InitializeRequest.type, { processId: null, rootUri: null, capabilities: {} });
  const next = async (): Promise<PublishDiagnosticsParams> => {
    for (;;) {
      const found = arrived.shift();
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => (wake = resolve));
    }
  };
  return { client, exits, next };
}

const open = (client: ProtocolConnection): Promise<void> =>
  client.sendNotification(DidOpenTextDocumentNotification.type, {
    textDocument: { uri, languageId: "gradus-yaml", version: 1, text },
  });

describe("evidence from runs", () => {
  it("is next to the diagnostics, and is published again when it changes", async () => {
    let message = "The last run gained nothing from this term.";
    let changed = (): void => undefined;
    const watched: string[][] = [];
    const { client, next } = await rig({
      evidence: {
        diagnostics: ({ file }) => [
          { severity: "info", rule: "run", message, key: "reward", file, range, fixes: [] },
        ],
        hover: (_config, key) => (key === "reward.terms.correct" ? "Paid 0.4 on average." : undefined),
        onChange: (listener) => {
          changed = () => listener("/tmp/evidence.gradus.yaml");
          return { dispose: () => undefined };
        },
      },
      onDocuments: (configs) => void watched.push(configs.map(({ file }) => file)),
    });
    await open(client);
    assert.deepEqual(
      (await next()).diagnostics.map((found) => found.message),
      [message],
    );
    assert.deepEqual(watched.at(-1), ["/tmp/evidence.gradus.yaml"]);
    message = "It does now.";
    changed();
    assert.deepEqual(
      (await next()).diagnostics.map((found) => found.message),
      [message],
    );
    const hover = await client.sendRequest(HoverRequest.type, {
      textDocument: { uri },
      position: { line: 1, character: 21 },
    });
    assert.match(JSON.stringify(hover), /Paid 0\.4 on average/);
  });

  it("cannot bring a handler down", async () => {
    const { client, next } = await rig({
      evidence: {
        hover: () => {
          throw new Error("the store is gone");
        },
      },
    });
    await open(client);
    assert.deepEqual((await next()).diagnostics, []);
    assert.equal(
      await client.sendRequest(HoverRequest.type, {
        textDocument: { uri },
        position: { line: 1, character: 21 },
      }),
      null,
    );
  });
});

describe("a client that sends exit", () => {
  it("ends its connection and not the process", async () => {
    const { client, exits } = await rig({});
    await client.sendNotification(ExitNotification.type);
    // The request after it is answered or refused: either way the process has read `exit` by then.
    await client
      .sendRequest(HoverRequest.type, { textDocument: { uri }, position: { line: 0, character: 0 } })
      .catch(() => undefined);
    assert.deepEqual(exits, [1]);
  });
});
