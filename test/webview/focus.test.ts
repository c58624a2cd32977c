/** From a metric in a config to its chart. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { chartOf, panelVersion } from "../../shared/editor/runPanel.ts";
import { show, warmUp } from "./fakeRun.ts";
import { launch, skip, type Rig } from "./harness.ts";

let rig: Rig;
before(async () => {
  if (skip === false) rig = await launch();
});
after(() => rig?.close());

const last = warmUp + 84;

test(
  "a chart that is asked for comes into view, also where it is asked for before the run is there",
  { skip },
  async () => {
    const panel = await rig.open();
    await panel.page.setViewportSize({ width: 700, height: 400 });
    const inView = (id: string): Promise<boolean> =>
      panel.page.locator(`[data-chart="${id}"]`).evaluate((node) => {
        const { top, bottom } = node.getBoundingClientRect();
        return top >= 0 && bottom <= window.innerHeight;
      });
    await panel.send({ version: panelVersion, type: "focus", chart: "memory" });
    await panel.send(show(last));
    assert.equal(await inView("memory"), true);
    await panel.send({ version: panelVersion, type: "focus", chart: "groups" });
    assert.equal(await inView("groups"), true);
    assert.equal(await inView("memory"), false);
    assert.deepEqual(panel.faults, []);
    await panel.close();
  },
);

test("each metric that a panel draws has its chart, and others have none", () => {
  const charts = [
    "reward/correct",
    "eval/pass@1",
    "groups/mixed",
    "curriculum/a/3/share",
    "rollout/truncated",
  ].map(chartOf);
  assert.deepEqual(charts, ["terms", "reward", "groups", "curriculum", "length"]);
  assert.deepEqual(["update/clip_fraction", "policy/kl/reference", "time/update"].map(chartOf), [
    "clip",
    "divergence",
    "time",
  ]);
  assert.deepEqual(["eval/tokens", "tokens/trained", "groups/none", "no/such"].map(chartOf), [
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
