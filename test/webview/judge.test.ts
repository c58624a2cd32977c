/** The page in which rollouts are labelled for a judge, in a browser: keys, what it keeps, the report, themes. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { judgeVersion, type FromJudge } from "../../shared/editor/judgePanel.ts";
import { drawn, report } from "./fakeJudge.ts";
import { launch, screenshots, skip, type Panel, type Rig } from "./harness.ts";
import { themes } from "./themes.ts";

let rig: Rig;
before(async () => {
  if (skip === false) rig = await launch("judge");
});
after(() => rig?.close());

const posted = async (panel: Panel): Promise<readonly Omit<FromJudge, "version">[]> => {
  const all = await panel.page.evaluate(() => (globalThis as unknown as { posted: FromJudge[] }).posted);
  return all.map(({ version: _, ...rest }) => rest);
};
const keep = (panel: Panel, at: number, failure: string | null = null): Promise<void> =>
  panel.send({ version: judgeVersion, type: "kept", at, failure });

test(
  "one key each, from the keyboard alone; the score is nowhere, and what is not kept comes back",
  { skip },
  async () => {
    const panel = await rig.open();
    const { page } = panel;
    await panel.send(drawn());
    await page.getByRole("heading", { level: 1, name: "Label for polite" }).waitFor();
    await page.getByText("1 of 4", { exact: true }).waitFor();
    await page.keyboard.press("g");
    await keep(panel, 0);
    await page.getByText("(empty)").waitFor();
    await page.keyboard.press("b");
    await keep(panel, 1, "The label could not be written: the disk is full");
    // It is back at the one that is not in the file, and says why.
    await page.getByRole("alert").getByText("the disk is full").waitFor();
    await page.getByText("2 of 4", { exact: true }).waitFor();
    await page.keyboard.press("b");
    await keep(panel, 1);
    await page.keyboard.press("u");
    assert.equal(await page.getByRole("button", { name: "Bad" }).getAttribute("aria-pressed"), "true");
    await page.keyboard.press("s");
    await keep(panel, 1);
    // A button does the same; a key with a modifier is the editor's.
    await page.keyboard.press("Control+g");
    await page.getByRole("button", { name: "Good" }).focus();
    await page.keyboard.press("Enter");
    await keep(panel, 2);
    await page.getByText("(cut off at its length)").waitFor();
    assert.equal(await page.locator("b").count(), 0);
    await page.keyboard.press("b");
    assert.equal(
      (await posted(panel)).some(({ type }) => type === "report"),
      false,
    );
    await keep(panel, 3);
    assert.deepEqual(await posted(panel), [
      { type: "ready" },
      { type: "label", at: 0, value: "good" },
      { type: "label", at: 1, value: "bad" },
      { type: "label", at: 1, value: "bad" },
      { type: "label", at: 1, value: "skip" },
      { type: "label", at: 2, value: "good" },
      { type: "label", at: 3, value: "bad" },
      { type: "report", ask: false, threshold: null },
    ]);
    assert.deepEqual(panel.faults, []);
    await panel.close();
  },
);

test("the report: its sentences, what to do next, and a threshold", { skip }, async () => {
  const panel = await rig.open();
  const { page } = panel;
  // All have labels of an earlier day.
  await panel.send({ ...drawn(20), rollouts: [] });
  await panel.send({ version: judgeVersion, type: "report", report });
  await page
    .getByRole("heading", {
      level: 2,
      name: "20 labels: polite agrees with 75 % (53 to 89 %) of them, better than a coin",
    })
    .waitFor();
  await page
    .getByText("Length: longer answers score more than their label explains, correlation 0.47")
    .waitFor();
  for (const name of ["step 41, rollout 2 of 41/3", "Ask the Judge Again", "Open Labels", "Label 20 More"]) {
    await page.getByRole("button", { name }).focus();
    await page.keyboard.press("Enter");
  }
  await page.getByLabel("passes from").fill("0.7");
  await page.keyboard.press("Tab");
  await panel.send({ version: judgeVersion, type: "failed", message: "The judge did not answer." });
  await page.getByRole("alert").getByText("The judge did not answer.").waitFor();
  assert.deepEqual(await posted(panel), [
    { type: "ready" },
    { type: "report", ask: false, threshold: null },
    { type: "openRollout", run: "tone-1", step: 41, group: "41/3", index: 2 },
    { type: "report", ask: true, threshold: null },
    { type: "openLabels" },
    { type: "more" },
    { type: "report", ask: false, threshold: 0.7 },
  ]);
  assert.deepEqual(panel.faults, []);
  await panel.close();
});

test("at 300 pixels and in every theme nothing is wider than the page", { skip }, async () => {
  for (const { name } of themes)
    for (const width of [300, 900]) {
      const panel = await rig.open({ theme: name, width, height: 700 });
      const fits = async (what: string): Promise<void> => {
        await panel.page.screenshot({ path: join(screenshots, `judge-${what}-${name}-${width}.png`) });
        const wide = await panel.page.evaluate(
          () => document.documentElement.scrollWidth > window.innerWidth,
        );
        assert.equal(wide, false, `${what} ${name} ${width}`);
      };
      await panel.send(drawn(3));
      await fits("label");
      await panel.send({ version: judgeVersion, type: "report", report });
      await fits("report");
      assert.deepEqual(panel.faults, []);
      await panel.close();
    }
});
