/** The panel's list of rollouts, and why one has its advantage, in a real browser. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { panelVersion } from "../../shared/editor/runPanel.ts";
import { chosen, judged, rolloutsMessage, whyMessage } from "./fakeRollouts.ts";
import { show } from "./fakeRun.ts";
import { launch, skip, type OpenOptions, type Panel, type Rig } from "./harness.ts";

let rig: Rig;
before(async () => {
  if (skip === false) rig = await launch();
});
after(() => rig?.close());

const asked = async (panel: Panel) =>
  (await panel.posted()).filter(({ type }) => type === "rollouts" || type === "why");
/** Shows a run whose rollouts are listed. */
async function listed(step: number, options: OpenOptions = {}): Promise<Panel> {
  const panel = await rig.open(options);
  await panel.send(show(step));
  await panel.send(rolloutsMessage(step));
  return panel;
}
const square = (panel: Panel, group: string) =>
  panel.page.getByRole("group", { name: "Groups of the step" }).getByRole("button", { name: group });
const chip = (panel: Panel, index: number) =>
  panel.page.locator(".rollouts").getByRole("button", { name: `Rollout ${index}: ` });

test(
  "rollouts of the last step are there unasked, text first; one is explained; the choice outlives a reload",
  { skip },
  async () => {
    const panel = await rig.open();
    await panel.send(show(chosen.step));
    assert.deepEqual(await asked(panel), [{ version: panelVersion, type: "rollouts", step: chosen.step }]);
    await panel.send(rolloutsMessage(chosen.step - 1));
    assert.equal(await panel.page.locator(".chip").count(), 0, "an answer for another step is dropped");
    await panel.send(rolloutsMessage(chosen.step));
    assert.equal(await panel.page.locator(".square").count(), 6);
    assert.equal(await panel.page.locator(".chip").count(), 8);
    const first = panel.page.locator(".answer");
    assert.match(
      (await first.textContent())!,
      /#7.*advantage \+1\.31.*correct 1.*so I try more/s,
      "the most reinforced",
    );
    await square(panel, chosen.group).click();
    const own = chip(panel, chosen.index);
    await own.focus();
    await panel.page.keyboard.press("Enter");
    assert.equal(await own.getAttribute("aria-pressed"), "true");
    assert.deepEqual((await asked(panel)).at(-1), { version: panelVersion, type: "why", place: chosen });
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
      (await asked(panel)).map(({ type }) => type),
      ["rollouts", "why"],
    );
    assert.deepEqual(panel.faults, []);
    await panel.close();
  },
);

test(
  "what cannot be explained says so in its place; once more on the choice closes it; steps lead on",
  { skip },
  async () => {
    const panel = await rig.open();
    await panel.send(show(chosen.step));
    await panel.send({ version: panelVersion, type: "unanswered", to: "rollouts", message: "no log" });
    assert.equal(await panel.page.getByText("no log").isVisible(), true);
    await panel.send(rolloutsMessage(chosen.step));
    const own = chip(panel, 0);
    await own.click();
    await panel.send({ version: panelVersion, type: "unanswered", to: "why", message: "no config" });
    assert.equal(await panel.page.getByRole("alert").filter({ hasText: "no config" }).isVisible(), true);
    await own.click();
    assert.equal(await panel.page.locator(".why").isVisible(), false);
    await panel.page.getByRole("button", { name: "Previous Step" }).click();
    await panel.page.waitForFunction(
      (step) =>
        (window as unknown as { posted: { type: string; step?: number }[] }).posted.some(
          (message) => message.type === "rollouts" && message.step === step,
        ),
      chosen.step - 1,
    );
    assert.equal(
      await panel.page.getByRole("button", { name: `Cursor at Step ${chosen.step - 1}` }).count(),
      1,
      "one cursor for charts and rollouts",
    );
    await panel.close();
  },
);

test("groups lead to one another, and on to those that teach something", { skip }, async () => {
  const panel = await rig.open();
  await panel.send(show(chosen.step));
  const message = rolloutsMessage(chosen.step);
  assert.ok(message.type === "rollouts");
  const signals = [false, true, false, false, true, false];
  await panel.send({
    ...message,
    groups: message.groups.map((group, i) => ({ ...group, signal: signals[i]! })),
  });
  const nav = panel.page.getByRole("group", { name: "Group", exact: true });
  const at = async (): Promise<string> => (await nav.locator("span").textContent())!;
  assert.equal(await at(), "2 of 6", "the first that teaches");
  await nav.getByRole("button", { name: "Next With Signal" }).click();
  assert.equal(await at(), "5 of 6");
  await nav.getByRole("button", { name: "Next With Signal" }).click();
  assert.equal(await at(), "2 of 6");
  await nav.getByRole("button", { name: "Previous Group" }).click();
  assert.equal(await at(), "1 of 6");
  assert.match((await panel.page.locator(".rollouts .task").textContent())!, /no signal$/);
  assert.equal(await nav.getByRole("button", { name: "Previous Group" }).isDisabled(), true);
  await panel.page.getByRole("button", { name: "Open as Document" }).click();
  assert.deepEqual((await panel.posted()).at(-1), {
    version: panelVersion,
    type: "act",
    action: "openRollouts",
    step: chosen.step,
  });
  await panel.close();
});

test("criteria are next to those of the siblings, and say so in words, too", { skip }, async () => {
  const panel = await listed(judged.step, { width: 900 });
  await square(panel, judged.group).click();
  await chip(panel, judged.index).click();
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
