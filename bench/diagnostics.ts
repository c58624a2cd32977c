/** From a change of a 500-line config to its published diagnostics, over a real `gradus lsp --stdio`. `[--changes=50] [--lines=500]` */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  createProtocolConnection,
  DidChangeTextDocumentNotification,
  DidOpenTextDocumentNotification,
  InitializedNotification,
  InitializeRequest,
  PublishDiagnosticsNotification,
  StreamMessageReader,
  StreamMessageWriter,
  type PublishDiagnosticsParams,
} from "vscode-languageserver-protocol/node";
import { builtCli } from "../test/support/cli.ts";
import { longConfig } from "./longConfig.ts";
import { measured, option, quantile } from "./report.ts";

const changes = option("changes", 50);
const lines = option("lines", 500);

const folder = mkdtempSync(join(tmpdir(), "gradus-bench-"));
const child = spawn(process.execPath, [await builtCli(), "lsp", "--stdio"], {
  stdio: ["pipe", "pipe", "inherit"],
});
const connection = createProtocolConnection(
  new StreamMessageReader(child.stdout),
  new StreamMessageWriter(child.stdin),
);
let arrived: (params: PublishDiagnosticsParams) => void = () => undefined;
connection.onNotification(PublishDiagnosticsNotification.type, (params) => arrived(params));
connection.listen();

/** Resolves with the diagnostics of a version of the document. */
const published = (version: number): Promise<PublishDiagnosticsParams> =>
  new Promise((resolve) => {
    arrived = (params) => {
      if (params.version === version) resolve(params);
    };
  });

try {
  await connection.sendRequest(InitializeRequest.type, {
    processId: process.pid,
    rootUri: pathToFileURL(folder).href,
    capabilities: { textDocument: { publishDiagnostics: { versionSupport: true } } },
  });
  await connection.sendNotification(InitializedNotification.type, {});
  const text = longConfig(lines);
  const uri = pathToFileURL(join(folder, "long.gradus.yaml")).href;
  const first = published(1);
  await connection.sendNotification(DidOpenTextDocumentNotification.type, {
    textDocument: { uri, languageId: "gradus-yaml", version: 1, text: `${text.join("\n")}\n` },
  });
  const clean = (await first).diagnostics.filter(({ severity }) => severity === 1);
  if (clean.length > 0) throw new Error(`the generated config is wrong: ${clean[0]?.message}`);

  const line = text.lastIndexOf("      group: 8");
  const times: number[] = [];
  const warmUp = 10;
  for (let change = 0; change < warmUp + changes; change++) {
    const wrong = change % 2 === 0;
    const version = change + 2;
    const answer = published(version);
    const start = performance.now();
    await connection.sendNotification(DidChangeTextDocumentNotification.type, {
      textDocument: { uri, version },
      contentChanges: [
        {
          // `8` ↔ `x`
          range: { start: { line, character: 13 }, end: { line, character: 14 } },
          text: wrong ? "x" : "8",
        },
      ],
    });
    const { diagnostics } = await answer;
    if (change >= warmUp) times.push(performance.now() - start);
    if (diagnostics.some(({ severity }) => severity === 1) !== wrong)
      throw new Error(`after change ${change} the diagnostics are not those of its text`);
  }
  const setting = `${lines} lines, ${changes} changes, warm`;
  measured({ what: "diagnostics, median", value: quantile(times, 0.5), unit: "ms", goal: 50, setting });
  measured({ what: "diagnostics, p95", value: quantile(times, 0.95), unit: "ms", goal: 50, setting });
} finally {
  connection.dispose();
  child.kill();
  rmSync(folder, { recursive: true, force: true });
}
