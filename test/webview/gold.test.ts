/** The trained reward and a gold term of the same held-out answers, next to each other in the run panel. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { some } from "../support/thorough.ts";
import { evaluationsTo } from "./fakeForecast.ts";
import { show, training, warmUp } from "./fakeRun.ts";
import { chart, launch, screenshots, skip, type Rig } from "./harness.ts";
import { themes } from "./themes.ts";

let rig: Rig;
before(async () => {
  if (skip === false) rig = await launch();
});
after(() => rig?.close());

const last = warmUp + training - 1;
/** A judge that is pleased ever more; an expert whose opinion rises and then falls. */
const judged = evaluationsTo(last).map((one, i, { length }) => {
  const x = i / (length - 1);
  return {
    ...one,
    metrics: { ...one.metrics, "eval/reward/total": 0.2 + 0.6 * x, "eval/reward/expert": 0.2 + x * (1 - x) },
  };
});

for (const { name, width } of some(
  themes.flatMap(({ name: theme }) => [1100, 400].map((wide) => ({ name: theme, width: wide }))),
  2,
))
  test(`reward and gold, ${name}, ${width}`, { skip }, async () => {
    const panel = await rig.open({ theme: name, width });
    await panel.send({ ...show(last, { status: "finished" }), evaluations: judged });
    const legend = await chart(panel, "gold").innerText();
    assert.match(legend, /Reward and gold[\s\S]*reward[\s\S]*0\.800[\s\S]*expert[\s\S]*0\.200/);
    await panel.page
      .locator(".learning")
      .screenshot({ path: join(screenshots, `gold-${name}-${width}.png`) });
    const overflow = await panel.page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    assert.equal(overflow, false, "nothing sticks out at the side");
    await panel.send({ ...show(last, { status: "finished" }), evaluations: evaluationsTo(last) });
    assert.equal(await chart(panel, "gold").isVisible(), false, "a run without gold terms has no such chart");
    assert.deepEqual(panel.faults, []);
    await panel.close();
  });
