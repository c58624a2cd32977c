/** An editor's checks of large data: what a config's text says comes at once, what its data say when they are read. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, describe, it } from "node:test";
import { applied, cursor, startServer, type LanguageServer } from "../support/lspServer.ts";

describe("data in an editor", () => {
  let server: LanguageServer;
  let folder = "";
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "gradus-data-"));
    const rows = Array.from({ length: 20_000 }, (_, i) => ({
      question: `What is ${i % 19_999} + 1?`,
      answer: String(i),
    }));
    writeFileSync(join(folder, "sums.jsonl"), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    process.env["HF_HUB_CACHE"] = resolve("test/fixtures/datasets/hub");
    server = await startServer();
  });
  after(async () => {
    assert.equal(await server.stop(), 0);
    rmSync(folder, { recursive: true, force: true });
  });

  const config = (limit: number): string =>
    `tasks:\n  - { dataset: sums.jsonl, prompt: "{question}", answer: "{answer}", max_prompt: ${limit} }\nreward: { terms: { correct: exact_match } }\n`;
  const ofData = ["repeated-prompt", "prompt-length"];
  /** The rules on data that the last message has; waits for the first that has one. */
  const said = async (from: number): Promise<Record<string, string>> => {
    for (let seen = from; ; seen += 1) {
      const { diagnostics } = await server.next(seen);
      const found = diagnostics.filter(({ code }) => ofData.includes(String(code)));
      if (found.length > 0)
        return Object.fromEntries(found.map(({ code, message }) => [code, String(message)]));
    }
  };

  it("are read after the text has been answered", async () => {
    const before = server.published.length;
    const first = await server.open(folder, "sums.gradus.yaml", config(17));
    assert.deepEqual(
      first.diagnostics.filter(({ code }) => ofData.includes(String(code))),
      [],
    );
    const found = await said(before + 1);
    assert.match(
      found["repeated-prompt"] ?? "",
      /^1 of 20,000 prompts repeat an earlier one with another answer/,
    );
    assert.match(found["prompt-length"] ?? "", /\(9,999 of 20,000\) exceed `max_prompt: 17`/);
  });

  it("are not read again for another limit", async () => {
    const { diagnostics } = await server.change(config(16));
    const length = diagnostics.find(({ code }) => code === "prompt-length");
    assert.match(String(length?.message), /\(18,999 of 20,000\) exceed `max_prompt: 16`/);
  });

  it("of the Hub are offered, with their columns, where they are in its cache", async () => {
    for (const written of ["|", "hf:|", '"hf://datasets/gr|"']) {
      const { text, position } = cursor(`tasks:\n  - { dataset: ${written} }\n`);
      await server.open(folder, "hub.gradus.yaml", text);
      const offers = await server.complete(position);
      const offer = offers.find(({ label }) => label === "hf://datasets/gradus/sums");
      assert.ok(offer?.textEdit && "range" in offer.textEdit, written);
      assert.match(applied(text, [offer.textEdit]), /dataset: "?hf:\/\/datasets\/gradus\/sums"? \}/);
      await server.close();
    }
    const { text, position } = cursor('tasks:\n  - { dataset: hf://datasets/gradus/sums, prompt: "{|}" }\n');
    await server.open(folder, "hub.gradus.yaml", text);
    const labels = (await server.complete(position)).map(({ label }) => label);
    assert.ok(
      labels.some((label) => label.includes("question")),
      labels.join(" "),
    );
    await server.close();
  });
});
