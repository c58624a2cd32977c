/** The page that compares runs, in a browser: what it says, what it asks for, and its keyboard. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { FromCompare } from "../../shared/editor/comparePanel.ts";
import { chartOf, differenceRows, lastCommon, ledBy } from "../../webviews/compare/models.ts";
import { comparison, found, tasks } from "./fakeComparison.ts";
import { launch, skip, type Panel, type Rig } from "./harness.ts";

let rig: Rig;
before(async () => {
  if (skip === false) rig = await launch("compare");
});
after(() => rig?.close());

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
    await panel.send(comparison);
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
    await panel.send(tasks);
    await press("2 3=6:");
    await press("A and C");
    const asked = (await posted(panel)).map(({ version: _, ...rest }) => rest);
    assert.deepEqual(asked, [
      { type: "ready" },
      { type: "boundary", own: { run: "brief-1" }, other: { run: "base-1" } },
      { type: "tasks", other: 1 },
      { type: "diffSource", runs: ["brief-1", "brief-2"], path: "rewards/brevity.ts" },
      { type: "diffConfigs", runs: ["base-1", "brief-1"], resolved: true },
      { type: "diffConfigs", runs: ["base-1", "brief-1"], resolved: false },
      { type: "order", runs: ["brief-1", "base-1", "base-2", "brief-2"] },
      { type: "openRun", run: "base-2" },
      { type: "smooth", smooth: false },
      { type: "diffTask", other: 1, key: "t#0" },
      { type: "tasks", other: 2 },
      { type: "boundary", own: { run: "brief-2" }, other: { run: "base-1" } },
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
