/** The panel's list of rollouts, and why one has its advantage, in a real browser. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { panelVersion } from "../../shared/editor/runPanel.ts";
import { chosen, judged, rolloutsMessage, whyMessage } from "./fakeRollouts.ts";
import { show } from "./fakeRun.ts";
import { launch, skip, type Rig } from "./harness.ts";

let rig: Rig;
before(async () => {
  if (skip === false) rig = await launch();
});
after(() => rig?.close());

test(
  "rollouts of a step are asked for, listed, and one explained; the choice outlives a reload",
  { skip },
  async () => {
    const panel = await rig.open();
    await panel.send(show(chosen.step));
    const asked = async () =>
      (await panel.posted()).filter(({ type }) => type === "rollouts" || type === "why");
    await panel.page.getByRole("button", { name: `Show Rollouts of Step ${chosen.step}` }).click();
    assert.deepEqual(await asked(), [{ version: panelVersion, type: "rollouts", step: chosen.step }]);
    await panel.send(rolloutsMessage(chosen.step - 1));
    assert.equal(await panel.page.locator(".chip").count(), 0, "an answer for another step is dropped");
    await panel.send(rolloutsMessage(chosen.step));
    assert.equal(await panel.page.locator(".chip").count(), 48);
    const chip = panel.page
      .locator(`[data-group="${chosen.group}"]`)
      .getByRole("button", { name: `Rollout ${chosen.index}: reward` });
    await chip.focus();
    await panel.page.keyboard.press("Enter");
    assert.equal(await chip.getAttribute("aria-pressed"), "true");
    assert.deepEqual((await asked()).at(-1), { version: panelVersion, type: "why", place: chosen });
    await panel.send(whyMessage({ ...chosen, index: 4 }));
    assert.equal(await panel.page.getByText("Computing…").isVisible(), true);
    await panel.send(whyMessage(chosen));
    const why = panel.page.getByRole("article", { name: "Why this advantage" });
    assert.match((await why.textContent())!, /Its reward is .* the mean of its group/);
    assert.equal(await why.getByRole("table").count(), 3);
    assert.equal(await why.getByRole("columnheader", { name: "group_std" }).count(), 1);
    assert.match((await why.locator('[data-topic="tokens"]').textContent())!, /clip_high.*1, 6–7/);
    assert.equal(await why.locator("script, img").count(), 0);
    const state = await panel.page.evaluate(() => sessionStorage.getItem("state"));
    assert.deepEqual(JSON.parse(state!).rollout, chosen);
    await panel.page.reload();
    await panel.send(show(chosen.step));
    await panel.send(rolloutsMessage(chosen.step));
    assert.deepEqual(
      (await asked()).map(({ type }) => type),
      ["rollouts", "why"],
    );
    assert.deepEqual(panel.faults, []);
    await panel.close();
  },
);

test(
  "what cannot be explained says so in its place; once more on the choice closes it",
  { skip },
  async () => {
    const panel = await rig.open();
    await panel.send(show(chosen.step));
    await panel.page.getByRole("button", { name: /^Show Rollouts/ }).click();
    await panel.send({ version: panelVersion, type: "unanswered", to: "rollouts", message: "no log" });
    assert.equal(await panel.page.getByText("no log").isVisible(), true);
    await panel.send(rolloutsMessage(chosen.step));
    const chip = panel.page.locator(".chip").first();
    await chip.click();
    await panel.send({ version: panelVersion, type: "unanswered", to: "why", message: "no config" });
    assert.equal(await panel.page.getByRole("alert").filter({ hasText: "no config" }).isVisible(), true);
    await chip.click();
    assert.equal(await panel.page.locator(".why").count(), 0);
    await panel.page.getByRole("button", { name: "Previous Step" }).click();
    assert.deepEqual((await panel.posted()).at(-1), {
      version: panelVersion,
      type: "rollouts",
      step: chosen.step - 1,
    });
    await panel.page.getByRole("button", { name: /^Show Rollouts/ }).click();
    await panel.page.getByRole("button", { name: "Hide Rollouts" }).click();
    assert.equal(await panel.page.locator(".chip").count(), 0);
    await panel.close();
  },
);

test("criteria are next to those of the siblings, and say so in words, too", { skip }, async () => {
  const panel = await rig.open({ width: 900 });
  await panel.send(show(judged.step));
  await panel.page.getByRole("button", { name: /^Show Rollouts/ }).click();
  await panel.send(rolloutsMessage(judged.step));
  await panel.page
    .locator(`[data-group="${judged.group}"]`)
    .getByRole("button", { name: `Rollout ${judged.index}:` })
    .click();
  await panel.send(whyMessage(judged));
  const table = panel.page.getByRole("region", { name: "Criteria of style" }).getByRole("table");
  const heads = await table.getByRole("columnheader").allTextContents();
  assert.deepEqual(heads, ["style", "points", "#3 ◂", "#0", "#1", "#2", "#4", "#5", "#6", "#7", "met"]);
  const veto = table.getByRole("row", { name: /Makes up a number/ });
  const cells = await veto.getByRole("cell").allTextContents();
  assert.deepEqual(cells.slice(0, 2), ["−4, veto", "✓met"]);
  assert.equal(cells.at(-1), "3 of 8");
  assert.equal(await veto.locator('.verdict[data-own][data-sign="negative"]').count(), 1);
  assert.match(
    (await table.getByRole("row", { name: /one <answer> tag/ }).textContent())!,
    /\?not known.*7 of 7/,
  );
  assert.equal(await table.locator("answer").count(), 0, "a criterion is text, whatever it holds");
  assert.match(
    (await panel.page.locator('[data-topic="criteria"]').textContent())!,
    /By style it meets 2 of 4 criteria, and fails one with a veto/,
  );
  assert.deepEqual(panel.faults, []);
  await panel.close();
});
