/** What each of two runs can do within its samples, on the page that compares runs: the planted crossing and the tasks behind it. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { compareVersion, type FromCompare } from "../../shared/editor/comparePanel.ts";
import { some } from "../support/thorough.ts";
import { before as base, boundaryMessage } from "./fakeBoundary.ts";
import { comparison, tasks } from "./fakeComparison.ts";
import { launch, screenshots, skip, type Panel, type Rig } from "./harness.ts";
import { themes } from "./themes.ts";

let rig: Rig;
before(async () => {
  if (skip === false) rig = await launch("compare");
});
after(() => rig?.close());

const section = (panel: Panel) => panel.page.locator(".boundary");
const posted = async (panel: Panel): Promise<readonly FromCompare[]> =>
  (await panel.page.evaluate(() => (globalThis as unknown as { posted: FromCompare[] }).posted)).filter(
    ({ type }) => type === "boundary" || type === "diffTask",
  );

test("the curves cross where it was planted, and each list has its tasks", { skip }, async () => {
  const panel = await rig.open();
  await panel.send(comparison);
  assert.match(await section(panel).innerText(), /Reading evaluations…/);
  await panel.send(tasks);
  await panel.send(boundaryMessage());
  const text = await section(panel).innerText();
  // At k = 3 pass@k of A is 40/64 · (1 − 20/56) = 0.402, of B (24 + 2 · (1 − 10/56))/64 = 0.401; at k = 2 0.290 and 0.395.
  assert.match(
    text,
    /Within 8 samples both solve 24 of 64 tasks, B at step 29 alone 2, A at step 39 alone 16, neither 22\./,
  );
  assert.match(text, /The curves cross at k = 3, in \d+\s%.* from there on A at step 39 solves more\./);
  assert.match(
    text,
    /By greedy answers B at step 29 has 20 tasks right that A at step 39 has not, and has forgotten 12\./,
  );
  assert.match(text, /ends at\s+0\.\d+ \[.*A ends higher with probability [5-9]\d\s%/s);
  const plot = section(panel).getByRole("slider");
  await plot.focus();
  await panel.page.keyboard.press("Home");
  assert.equal(await plot.getAttribute("aria-valuetext"), "k 1: A at step 39 16 %, B at step 29 34 %");
  const press = async (name: string): Promise<void> => {
    await section(panel).getByRole("button", { name }).focus();
    await panel.page.keyboard.press("Enter");
  };
  await press("Gained 2");
  const items = section(panel).locator(".task-list li");
  assert.deepEqual(await items.allInnerTexts(), ["countdown:40=24", "countdown:41=24"]);
  await press("Forgotten 12");
  assert.equal(await items.count(), 12);
  await press("2 3=6:");
  const other = section(panel).getByLabel("Evaluation that it is compared with");
  await other.selectOption({ label: "B at step 0" });
  assert.deepEqual(
    (await posted(panel)).map(({ version: _, ...rest }) => rest),
    [
      { type: "boundary", own: { run: "brief-1" }, other: { run: "base-1" } },
      { type: "diffTask", other: 1, key: "t#0" },
      { type: "boundary", own: { run: "brief-1", step: 29 }, other: { run: "brief-1", step: 0 } },
    ],
  );
  assert.deepEqual(panel.faults, []);
  await panel.close();
});

test("equal curves do not cross, and where nothing is stored the page says why", { skip }, async () => {
  const panel = await rig.open();
  await panel.send(comparison);
  await panel.send(boundaryMessage(base, base));
  assert.match(await section(panel).innerText(), /do not cross within 8 samples; they do in 0\s% of draws/);
  assert.equal(await section(panel).getByRole("button", { name: "Lost 0" }).isDisabled(), true);
  const reason = "brief-1 has no evaluation with results by task.";
  await panel.send({ version: compareVersion, type: "boundary", report: null, reason });
  assert.match(await section(panel).innerText(), /no evaluation with results by task/);
  assert.equal(await section(panel).getByRole("slider").isVisible(), false);
  assert.deepEqual(panel.faults, []);
  await panel.close();
});

for (const { name, width } of some(
  themes.flatMap(({ name: theme }) => [1100, 300].map((wide) => ({ name: theme, width: wide }))),
  2,
))
  test(`the boundary, ${name}, ${width}`, { skip }, async () => {
    const panel = await rig.open({ theme: name, width });
    await panel.send(comparison);
    await panel.send(tasks);
    await panel.send(boundaryMessage());
    await section(panel).getByRole("button", { name: "Lost 16" }).click();
    await section(panel).screenshot({ path: join(screenshots, `boundary-${name}-${width}.png`) });
    const overflow = await panel.page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    assert.equal(overflow, false, "nothing sticks out at the side");
    assert.deepEqual(panel.faults, []);
    await panel.close();
  });
