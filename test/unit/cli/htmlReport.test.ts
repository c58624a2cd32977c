import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { chart } from "../../../server/cli/runs/html/chart.ts";
import { readFindings } from "../../../server/cli/runs/html/findings.ts";
import { reportPage } from "../../../server/cli/runs/html/page.ts";
import { readOnly } from "../../../server/cli/runs/readOnly.ts";
import { readReport } from "../../../server/cli/runs/reportRun.ts";
import { verdictOf } from "../../../server/cli/runs/verdict.ts";
import { ask } from "../../../shared/daemon/request.ts";
import { configReview } from "../../../shared/protocol/protocol.ts";
import { writeForgetfulRun } from "../../support/forgetfulRun.ts";
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
    assert.match(page, /Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/);
    assert.doesNotMatch(page, /<script|\b(src|href)=|@import|url\(/);
  } finally {
    connection.close();
  }
});

test("what a recorded run forgot, where it goes and what it can do are on its page", async () => {
  const project = mkdtempSync(join(tmpdir(), "gradus-page-"));
  const store = join(project, ".gradus");
  mkdirSync(store);
  const file = join(project, "forgetful.gradus.yaml");
  const run = writeForgetfulRun(store, file);
  const connection = readOnly(store);
  try {
    const findings = await readFindings(connection, run);
    const page = reportPage(await readReport(connection, run), null, findings);
    assert.match(
      page,
      /12 learned, 12 kept, 8 forgotten of 40 held-out tasks between the evaluations at step 0/,
    );
    assert.match(
      page,
      /<pre>right 4<\/pre><small>step 20<\/small><\/td><td><pre>wrong 4 &lt;b&gt;<\/pre><small>step 30</,
    );
    assert.match(
      page,
      /Within 8 samples both solve 24 of 40 tasks, step 60 alone 0, step 0 alone 16, neither 0\./,
    );
    // pass@1 is 20/40 at first and 21/40 at last; pass@2 is (20 + 20 · 0.25)/40 at first and 24/40 at last.
    assert.match(page, /The curves cross at k = 2, in \d+\s%/);
    assert.match(page, /<text[^>]*>cross at k = 2<\/text>/);
    assert.match(page, /Forecast: pass@1 ends at .* 30 steps more, [^:]+: /);
    assert.match(page, /<path class="band s2"/);
    for (const title of [
      "Held-out tasks: right, and lost again",
      "pass@k at the first evaluation and at the last",
    ])
      assert.ok(page.includes(`<figcaption>${title}</figcaption>`), title);
    assert.doesNotMatch(page, /<script|\b(src|href)=|@import|url\(/);
    const text = readFileSync(file, "utf8");
    const review = await ask(connection, configReview, { run, text });
    assert.deepEqual(review.arms, [{ arm: "countdown/2", tasks: 20, forgotten: 8 }]);
    assert.match(review.text, /name: review-forgotten, tasks: \{ countdown: \{ numbers: \[2\] \} \} \}/);
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
