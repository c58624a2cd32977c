/** What an editor receives of a diagnostic, and what it is offered: pages, other places, tags, fixes. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { DiagnosticTag } from "vscode-languageserver-protocol/node";
import { applied, startServer, type LanguageServer } from "../support/lspServer.ts";

describe("diagnostics in an editor", () => {
  let server: LanguageServer;
  let folder = "";
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "gradus-findings-"));
    server = await startServer();
  });
  after(async () => {
    assert.equal(await server.stop(), 0);
    rmSync(folder, { recursive: true, force: true });
  });

  const start = "tasks: [{ env: countdown, numbers: [3, 4] }]\nreward: { terms: { correct: equation } }\n";

  it("links to the rule's page, and names the other places", async () => {
    const text = `${start}rollout: { group: 1 }\nadvantage: { baseline: group_mean }\n`;
    const { diagnostics } = await server.open(folder, "pages.gradus.yaml", text);
    const [found] = diagnostics;
    assert.equal(found?.code, "group-size");
    const page = fileURLToPath(found.codeDescription?.href ?? "");
    assert.ok(existsSync(page), page);
    assert.match(page, /docs\/rules\/group-size\.md$/);
    assert.deepEqual(
      found.relatedInformation?.map(({ location }) => location.range.start),
      [{ line: 3, character: 23 }],
    );
  });

  it("every diagnostic of a config full of them has a page that is there", async () => {
    const text = `${start}rollot: { group: 1 }\nupdate: { mini_batch: x }\nmodel: { width: 0 }\nkl: [{ model: refernce }]\n`;
    const { diagnostics } = await server.open(folder, "many.gradus.yaml", text);
    assert.ok(diagnostics.length >= 3);
    for (const { codeDescription } of diagnostics)
      assert.ok(existsSync(fileURLToPath(codeDescription?.href ?? "")));
  });

  it("fades what nothing reads", async () => {
    const text = `${start}curriculum: { sampler: boltzmann }\n`.replace("numbers: [3, 4]", "weight: 2");
    const { diagnostics } = await server.open(folder, "tags.gradus.yaml", text);
    const [found] = diagnostics;
    assert.deepEqual(
      { code: found?.code, tags: found?.tags },
      { code: "task-weight", tags: [DiagnosticTag.Unnecessary] },
    );
  });

  it("offers the nearest sizes with their arithmetic, the nearest one first", async () => {
    const text = `${start}rollout: { prompts: 16, group: 4 }\nupdate: { mini_batch: 30 }\n`;
    const first = await server.open(folder, "sizes.gradus.yaml", text);
    const quick = await server.actions(first, ["quickfix"]);
    assert.deepEqual(
      quick.map(({ title, isPreferred }) => [title, isPreferred]),
      [
        ["Change to 32 (= 8 groups × 4)", true],
        ["Change to 16 (= 4 groups × 4)", false],
      ],
    );
    const mended = applied(text, quick[0]?.edit?.changes?.[server.uri] ?? []);
    assert.deepEqual((await server.change(mended)).diagnostics, []);
  });

  it("fixes everything at once, what only shows after the first fix included", async () => {
    const text = `${start}rollout: { prompts: 16, group: 4, lr: 0.001 }\nupdate: { mini_batch: "30" }\n`;
    const first = await server.open(folder, "all.gradus.yaml", text);
    const [all] = await server.actions(first, ["source.fixAll"]);
    const mended = applied(text, all?.edit?.changes?.[server.uri] ?? []);
    assert.equal(
      mended,
      `${start}rollout: { prompts: 16, group: 4 }\nupdate: { mini_batch: 32, optimizer: { lr: 0.001 } }\n`,
    );
    const second = await server.change(mended);
    assert.deepEqual(second.diagnostics, []);
    assert.deepEqual(await server.actions(second, ["source.fixAll"]), []);
  });
});
