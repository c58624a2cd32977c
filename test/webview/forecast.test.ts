/** Where held-out results are going, in the run panel: a sentence and a band that goes on behind the last step. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { heldOutModel } from "../../webviews/run/learning/heldOutModel.ts";
import { RunSeries } from "../../webviews/shared/series.ts";
import { some } from "../support/thorough.ts";
import { forecast, forecastAt, evaluationsTo } from "./fakeForecast.ts";
import { runAt, training, warmUp } from "./fakeRun.ts";
import { chart, launch, plot, screenshots, settle, skip, type Rig } from "./harness.ts";
import { themes } from "./themes.ts";

let rig: Rig;
before(async () => {
  if (skip === false) rig = await launch();
});
after(() => rig?.close());

const last = warmUp + training - 1;

test("the curve goes on to the planned end with its band, and the cursor stays with what was made", () => {
  const at = warmUp + 80;
  const view = {
    run: runAt(at),
    series: new RunSeries(),
    evaluations: evaluationsTo(at),
    forecast: forecastAt(at),
  };
  const model = heldOutModel(view);
  const curve = model.lines.at(-1);
  assert.deepEqual([curve!.name, curve!.band!.name, model.until], ["forecast of pass@1", "80 % band", at]);
  assert.equal(model.steps.at(-1), last, "to the planned end");
  const width = (i: number): number => curve!.band!.high[i]! - curve!.band!.low[i]!;
  const end = model.steps.length - 1;
  assert.ok(width(end) > 2 * width(model.steps.indexOf(at)), "what is far is less sure");
  // Planted: 0.2 + 0.35 / (1 + (40 / 120)²).
  const [low, high] = [curve!.band!.low[end]!, curve!.band!.high[end]!];
  assert.ok(low - 0.02 < 0.515 && 0.515 < high + 0.02, `${low} to ${high}`);
});

test(
  "a sentence says what more steps bring, once six evaluations tell, and goes on with the run",
  { skip },
  async () => {
    const panel = await rig.open();
    const note = chart(panel, "heldOut").locator(".chart-note");
    await panel.send(forecast(warmUp + 40));
    assert.equal(await note.isVisible(), false, "five evaluations are too few");
    await panel.send(forecast(warmUp + 80));
    const text =
      /^Forecast: pass@1 ends at [\d.]+\s%.* 39 steps to the planned end, 59 min: \+[\d.]+ ± [\d.]+ points, to/;
    assert.match(await note.innerText(), text);
    await panel.send(forecast(last));
    assert.match(
      await note.innerText(),
      /60 steps more, 1 h 30 min: \+[\d.]+ ± [\d.]+ points, to [\d.]+\s% \[/,
    );
    await plot(panel, "heldOut").focus();
    await panel.page.keyboard.press("End");
    assert.equal(
      await plot(panel, "heldOut").getAttribute("aria-valuenow"),
      String(last),
      "no step after the last",
    );
    const box = (await plot(panel, "heldOut").boundingBox())!;
    await panel.page.mouse.move(box.x + box.width - 20, box.y + box.height / 2);
    await settle(panel.page);
    assert.match(
      (await plot(panel, "heldOut").getAttribute("aria-valuetext"))!,
      new RegExp(`^step ${last}: `),
    );
    assert.deepEqual(panel.faults, []);
    await panel.close();
  },
);

for (const { name, width } of some(
  themes.flatMap(({ name: theme }) => [1100, 400].map((wide) => ({ name: theme, width: wide }))),
  2,
))
  test(`where held-out results go, ${name}, ${width}`, { skip }, async () => {
    const panel = await rig.open({ theme: name, width });
    for (const at of [warmUp + 80, last]) {
      await panel.send(forecast(at));
      const path = join(screenshots, `forecast-${at === last ? "ended" : "live"}-${name}-${width}.png`);
      await panel.page.locator(".learning").screenshot({ path });
    }
    const overflow = await panel.page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    assert.equal(overflow, false, "nothing sticks out at the side");
    assert.deepEqual(panel.faults, []);
    await panel.close();
  });
