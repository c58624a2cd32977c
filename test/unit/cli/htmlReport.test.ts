import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { chart } from "../../../server/cli/runs/html/chart.ts";
import { reportPage } from "../../../server/cli/runs/html/page.ts";
import { readOnly } from "../../../server/cli/runs/readOnly.ts";
import { readReport } from "../../../server/cli/runs/reportRun.ts";
import { verdictOf } from "../../../server/cli/runs/verdict.ts";
import { writeCollapsedRun } from "../../support/collapsedRun.ts";

test("a run on one page: its verdict, its charts, its config, and nothing that is fetched or run", async () => {
  const project = mkdtempSync(join(tmpdir(), "gradus-page-"));
  const store = join(project, ".gradus");
  mkdirSync(store);
  const run = writeCollapsedRun(store, join(project, "starter.gradus.yaml"));
  const connection = readOnly(store);
  try {
    const report = await readReport(connection, run);
    const page = reportPage(
      { ...report, set: ["name=</pre><script>alert(1)</script>"] },
      await verdictOf(connection, run),
    );
    assert.match(
      page,
      /<section class="verdict alarm"><h2>Collapsed at step \d+ together with <code>brevity/,
    );
    for (const title of ["Reward", "Reward terms", "Held-out", "Groups", "Entropy, nats"])
      assert.ok(page.includes(`<figcaption>${title}</figcaption>`), title);
    assert.ok((page.match(/<path class="s0"/g) ?? []).length >= 5);
    assert.ok(page.includes("brevity: { use: ./brevity.ts"));
    assert.doesNotMatch(page, /<script|\b(src|href)=|@import|url\(/);
  } finally {
    connection.close();
  }
});

test("a chart says its last values to a screen reader, breaks where a value is missing, and does not blow up noise", () => {
  const svg = chart({
    title: "Norm",
    series: [
      { name: "norm", steps: [0, 1, 2, 3], values: [1, 1 + 1e-9, null, 1] },
      { name: "none", steps: [0], values: [null] },
    ],
  });
  assert.match(svg, /aria-label="Norm: at step 3 norm 1"/);
  assert.equal(svg.match(/<path[^>]* d="([^"]+)"/)?.[1]?.match(/M/g)?.length, 2);
  const heights = [...svg.matchAll(/[ML][\d.]+ ([\d.]+)/g)].map(([, y]) => Number(y));
  assert.ok(Math.max(...heights) - Math.min(...heights) < 1, heights.join());
  assert.doesNotMatch(svg, />none</);
  assert.equal(chart({ title: "Nothing", series: [] }), "");
});
