/** Long runs in a real browser: what is on the canvas, not only what was handed to it. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { panelVersion } from "../../shared/editor/runPanel.ts";
import { answered, longRun, longShow } from "./longRun.ts";
import { chart, launch, plot, screenshots, skip, type Rig } from "./harness.ts";
import { themes } from "./themes.ts";
import { some } from "../support/thorough.ts";

let rig: Rig;
before(async () => {
  if (skip === false) rig = await launch();
});
after(() => rig?.close());

test("5,000 steps of shares that sum to 1 are areas with flat tops, not a hatch", { skip }, async () => {
  const panel = await rig.open();
  await panel.send(longShow(5_000, longRun(5_000)));
  // At 90 % of its height every column of the plot shows the topmost area, at 5 % the lowest: one colour each.
  const rows = await chart(panel, "groups")
    .locator("canvas")
    .evaluate((node) => {
      if (!(node instanceof HTMLCanvasElement)) return [];
      const over = node.parentElement?.querySelector(".u-over");
      if (!(over instanceof HTMLElement)) return [];
      const context = node.getContext("2d")!;
      const [left, top] = [over.offsetLeft + 2, over.offsetTop];
      return [0.1, 0.95].map((share) => {
        const y = Math.round(top + share * over.offsetHeight);
        const { data } = context.getImageData(left, y, over.offsetWidth - 4, 1);
        const colors = new Map<string, number>();
        for (let i = 0; i < data.length; i += 4) {
          const color = data.slice(i, i + 4).join();
          colors.set(color, (colors.get(color) ?? 0) + 1);
        }
        return { most: Math.max(...colors.values()), of: data.length / 4 };
      });
    });
  assert.equal(rows.length, 2);
  // The name of the stage covers a few columns at the top.
  for (const { most, of } of rows) assert.ok(most > 0.85 * of, `${most} of ${of} columns`);
  assert.deepEqual(panel.faults, []);
  await panel.close();
});

test(
  "one spike among a million steps is on the canvas, and stays there while zooming in",
  { skip },
  async () => {
    const panel = await rig.open();
    const run = { "policy/entropy": longRun(1_000_000)["policy/entropy"]! };
    await panel.send(longShow(1_000_000, run));
    const topmost = (): Promise<number> =>
      chart(panel, "entropy")
        .locator("canvas")
        .evaluate((node) => {
          if (!(node instanceof HTMLCanvasElement)) return 0;
          const over = node.parentElement?.querySelector(".u-over");
          if (!(over instanceof HTMLElement)) return 0;
          const y = over.offsetTop + Math.round(over.offsetHeight * 0.3);
          const { data } = node
            .getContext("2d")!
            .getImageData(over.offsetLeft + 60, y, over.offsetWidth - 60, 3);
          let painted = 0;
          for (let i = 0; i < data.length; i += 4) if (data[i]! > data[i + 1]! + 40) painted++;
          return painted;
        });
    assert.ok((await topmost()) > 0);
    const box = (await chart(panel, "entropy").locator(".u-over").boundingBox())!;
    await chart(panel, "entropy").scrollIntoViewIfNeeded();
    const { y } = (await chart(panel, "entropy").locator(".u-over").boundingBox())!;
    await panel.page.mouse.move(box.x + box.width * 0.6, y + 60);
    await panel.page.mouse.down();
    await panel.page.mouse.move(box.x + box.width * 0.7, y + 60, { steps: 4 });
    await panel.page.mouse.up();
    const asked = (await panel.posted()).find((message) => message.type === "range");
    assert.ok(asked?.type === "range");
    assert.ok((await topmost()) > 0, "before the answer");
    const series = answered(run, asked.from, asked.to);
    await panel.send({ version: panelVersion, type: "range", id: asked.id, series });
    assert.ok((await topmost()) > 0, "after the answer");
    assert.equal(await plot(panel, "entropy").getAttribute("aria-valuemax"), String(asked.to));
    await panel.close();
  },
);

test(
  "a term is shown with the weight that acts; what does not move is one line, and can be drawn",
  { skip },
  async () => {
    const panel = await rig.open();
    await panel.send(longShow(100));
    const legend = await chart(panel, "terms").locator(".legend").textContent();
    assert.match(legend!, /brevity0\.\d+ × 0\.700.*correct0\.\d+ × 1/);
    const constants = panel.page.locator(".constants");
    assert.match((await constants.textContent())!, /^Constant: .*low 0\s%.* · .*drawn 16, trained 16/);
    assert.equal(await chart(panel, "admission").isVisible(), false);
    await constants.getByRole("button", { name: "Show Constant Charts" }).click();
    assert.equal(await chart(panel, "admission").isVisible(), true);
    await constants.getByRole("button", { name: "Fold Constant Charts" }).click();
    assert.equal(await chart(panel, "admission").isVisible(), false);
    await panel.send({ version: panelVersion, type: "focus", chart: "admission" });
    assert.equal(await chart(panel, "admission").isVisible(), true, "what is asked for by name is drawn");
    await panel.close();
  },
);

for (const { name } of some(themes, 2))
  test(`charts of 100 and 5,000 steps, ${name}`, { skip }, async () => {
    const panel = await rig.open({ theme: name });
    for (const steps of [100, 5_000]) {
      await panel.send(longShow(steps));
      await plot(panel, "entropy").focus();
      await panel.page.keyboard.press("End");
      for (let i = 0; i < 3; i++) await panel.page.keyboard.press("Shift+ArrowLeft");
      await panel.page.screenshot({ path: join(screenshots, `run-${steps}-${name}.png`), fullPage: true });
    }
    assert.deepEqual(panel.faults, []);
    await panel.close();
  });
