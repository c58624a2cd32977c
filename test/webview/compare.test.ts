/** The page that compares runs, in a browser: what it says, what it asks for, keyboard and themes. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { compareVersion, type FromCompare } from "../../shared/editor/comparePanel.ts";
import type { Comparison, GroupSeries } from "../../shared/run/comparison.ts";
import { chartOf, differenceRows, lastCommon, ledBy } from "../../webviews/compare/models.ts";
import { launch, skip, type Panel, type Rig } from "./harness.ts";
import { themes } from "./themes.ts";

let rig: Rig;
before(async () => {
  if (skip === false) rig = await launch("compare");
});
after(() => rig?.close());

const course = (group: number, runs: number, steps: number, level: number): GroupSeries => ({
  group,
  steps: Array.from({ length: steps }, (_, step) => step),
  n: Array.from({ length: steps }, () => runs),
  mean: Array.from({ length: steps }, (_, step) => level * (1 - Math.exp(-step / 10))),
  spread: Array.from({ length: steps }, () => (runs > 1 ? 0.04 : null)),
  error: Array.from({ length: steps }, () => (runs > 1 ? 0.02 : null)),
});
const found: Comparison = {
  runs: [
    { id: "base-1", name: "sums", label: "sums", seed: 1, group: 0, step: 39, sources: false },
    { id: "base-2", name: "sums", label: "seed 2", seed: 2, group: 0, step: 39, sources: false },
    { id: "brief-1", name: "sums", label: "+brevity", seed: 1, group: 1, step: 29, sources: true },
    { id: "brief-2", name: "sums", label: "+brevity", seed: 1, group: 2, step: 39, sources: true },
  ],
  groups: [
    { label: "sums", runs: [0, 1] },
    { label: "+brevity", runs: [2] },
    { label: "other brevity.ts", runs: [3] },
  ],
  sources: [{ kind: "reward", name: "rewards/brevity.ts", values: [null, null, "aaaa", "bbbb"] }],
  config: [
    {
      path: "update.optimizer.lr",
      values: [
        { value: 1e-5, by: "default" },
        { value: 1e-5, by: "default" },
        { value: 3e-6, by: "file" },
        { value: 3e-6, by: "set" },
      ],
    },
  ],
  series: [
    { metric: "reward/total", groups: [course(0, 2, 40, 0.5), course(1, 1, 30, 0.3), course(2, 1, 40, 0.6)] },
    { metric: "eval/pass@1", groups: [] },
  ],
  heldOut: [
    {
      metric: "eval/pass@1",
      group: 1,
      before: 0.4,
      after: 0.3,
      difference: -0.1,
      low: -0.15,
      high: -0.05,
      tasks: 64,
      method: "paired",
      reason: null,
    },
  ],
  arms: [
    { arm: "easy", values: [0.5, 0.4, null] },
    { arm: "hard", values: [0.3, 0.2, 0.1] },
  ],
  notes: ["2 groups of 3 have one seed: the difference may be that of the seeds."],
};

test("charts: the mean of seeds with its error, said once, each group as far as it goes", () => {
  const model = chartOf(found, found.series[0]!);
  assert.deepEqual(
    model.lines.map(({ name, band, tone }) => [name, band?.name, tone]),
    [
      ["A sums (n 2)", "± standard error", 0],
      ["B +brevity", undefined, 1],
      ["C other brevity.ts", undefined, 2],
    ],
  );
  assert.equal(model.lines[1]!.values[35], null);
  assert.equal(lastCommon(found), 29);
});

test("differences: who has what, and the two runs that can be opened next to each other", () => {
  const [source, lr] = differenceRows(found);
  assert.deepEqual(
    source!.values.map(({ who, text }) => [who, text]),
    [
      ["A", "not kept"],
      ["B", "aaaa"],
      ["C", "bbbb"],
    ],
  );
  // The base kept nothing that could be opened.
  assert.deepEqual(source!.runs, ["brief-1", "brief-2"]);
  assert.deepEqual(
    lr!.values.map(({ who, text, note }) => [who, text, note]),
    [
      ["A", "1e-5", "default"],
      ["B", "3e-6", ""],
      ["C", "3e-6", "--set"],
    ],
  );
  assert.deepEqual(ledBy(found, 1), ["brief-1", "base-1", "base-2", "brief-2"]);
});

const posted = async (panel: Panel): Promise<readonly FromCompare[]> =>
  panel.page.evaluate(() => (globalThis as unknown as { posted: FromCompare[] }).posted);

test(
  "the page says what differs and how sure it is, and every action can be reached by keyboard",
  { skip },
  async () => {
    const panel = await rig.open();
    const { page } = panel;
    await panel.send({ version: compareVersion, type: "comparison", comparison: found });
    await page.getByRole("heading", { level: 1, name: "Comparing 4 runs in 3 groups" }).waitFor();
    await page
      .getByText("B solves fewer held-out tasks than A: pass@1 40.0 % → 30.0 %, −10.0 points [−15.0, −5.0]")
      .waitFor();
    await page.locator("p.empty", { hasText: "None of these runs has recorded it." }).waitFor();
    assert.equal(await page.locator("canvas").count(), 1);
    const press = async (name: string | RegExp): Promise<void> => {
      await page.getByRole("button", { name }).first().focus();
      await page.keyboard.press("Enter");
    };
    await press("Diff rewards/brevity.ts");
    await press("Diff update.optimizer.lr");
    await press("Diff Configs");
    await press("Compare Others with This");
    await press("base-2");
    await press("Show Every Step");
    await panel.send({
      version: compareVersion,
      type: "tasks",
      other: 1,
      pairs: [{ key: "t#0", prompt: "2 3=6:", rewards: [1, 0], responses: ["2*3", "2+3"] }],
    });
    await press("2 3=6:");
    await press("A and C");
    const asked = (await posted(panel)).map(({ version: _, ...rest }) => rest);
    assert.deepEqual(asked, [
      { type: "ready" },
      { type: "tasks", other: 1 },
      { type: "diffSource", runs: ["brief-1", "brief-2"], path: "rewards/brevity.ts" },
      { type: "diffConfigs", runs: ["base-1", "brief-1"], resolved: true },
      { type: "diffConfigs", runs: ["base-1", "brief-1"], resolved: false },
      { type: "order", runs: ["brief-1", "base-1", "base-2", "brief-2"] },
      { type: "openRun", run: "base-2" },
      { type: "smooth", smooth: false },
      { type: "diffTask", other: 1, key: "t#0" },
      { type: "tasks", other: 2 },
    ]);
    // The chart's cursor moves by keys, and says what is there.
    const plot = page.getByRole("slider").first();
    await plot.focus();
    await page.keyboard.press("Home");
    assert.match((await plot.getAttribute("aria-valuetext"))!, /step 0: A sums \(n 2\) 0/);
    assert.deepEqual(panel.faults, []);
    await panel.close();
  },
);

test("at 300 pixels and in every theme nothing is wider than the page", { skip }, async () => {
  for (const { name } of themes) {
    const panel = await rig.open({ theme: name, width: 300, height: 700 });
    await panel.send({ version: compareVersion, type: "comparison", comparison: found });
    await panel.page.locator("canvas").first().waitFor();
    const wide = await panel.page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
    assert.equal(wide, false, name);
    assert.deepEqual(panel.faults, []);
    await panel.close();
  }
});
