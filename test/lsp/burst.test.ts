/** Keys that are struck faster than a config can be checked: what is no longer there is not checked. */
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { DidChangeTextDocumentNotification } from "vscode-languageserver-protocol/node";
import { longConfig } from "../../bench/longConfig.ts";
import { startServer } from "../support/lspServer.ts";

it("checks the last of a burst of changes", async () => {
  const server = await startServer();
  try {
    const lines = longConfig(1_000);
    const text = (word: string): string => [...lines, `nam: ${word}`, ""].join("\n");
    await server.open(mkdtempSync(join(tmpdir(), "gradus-burst-")), "a.gradus.yaml", text(""));
    const seen = server.published.length;
    const last = 41;
    const changes = Array.from({ length: last - 1 }, (_, index) => index + 2);
    await Promise.all(
      changes.map((version) =>
        server.connection.sendNotification(DidChangeTextDocumentNotification.type, {
          textDocument: { uri: server.uri, version },
          contentChanges: [{ text: text("x".repeat(version)) }],
        }),
      ),
    );
    const found = await server.next(seen, last);
    assert.ok(found.diagnostics.some(({ code }) => code === "unknown-key"));
    const checked = server.published.length - seen;
    // What the pipe brings in one piece is one burst: 40 texts of 20 kB come in several.
    assert.ok(checked < changes.length / 2, `${checked} of ${changes.length} texts were checked`);
  } finally {
    await server.stop();
  }
});
