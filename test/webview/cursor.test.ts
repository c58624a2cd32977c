/** The cursor that all charts share, in a real browser: by keyboard and by mouse, still and while a run goes on. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { live, show, warmUp } from "./fakeRun.ts";
import { acts, chart, launch, plot, skip, type Panel, type Rig } from "./harness.ts";

let rig: Rig;
before(async () => {
  if (skip === false) rig = await launch();
});
after(() => rig?.close());

const last = warmUp + 84;
const tile = async (panel: Panel, label: string): Promise<string> =>
  (await panel.page.locator(".tile", { hasText: label }).first().innerText()).replace(/\s+/g, " ");

test(
  "arrow keys move one cursor through all charts; Enter opens the rollouts of its step",
  { skip },
  async () => {
    const panel = await rig.open();
    await panel.send(show(last));
    await plot(panel, "entropy").focus();
    const at = async (id: string): Promise<string | null> => plot(panel, id).getAttribute("aria-valuenow");
    assert.equal(await at("entropy"), String(last));
    await panel.page.keyboard.press("ArrowLeft");
    await panel.page.keyboard.press("Shift+ArrowLeft");
    assert.deepEqual([await at("entropy"), await at("groups")], [String(last - 11), String(last - 11)]);
    assert.match(
      (await plot(panel, "reward").getAttribute("aria-valuetext"))!,
      new RegExp(`^step ${last - 11}: reward `),
    );
    await panel.page.keyboard.press("Enter");
    await panel.page.keyboard.press("Home");
    assert.equal(await at("length"), String(warmUp));
    await panel.page.keyboard.press("End");
    await panel.page.keyboard.press("Enter");
    assert.deepEqual(await acts(panel), [
      { action: "openRollouts", step: last - 11 },
      { action: "openRollouts", step: last },
    ]);
    await panel.close();
  },
);

test("the cursor stays at its step while the run goes on", { skip }, async () => {
  const panel = await rig.open();
  await panel.send(show(warmUp + 20));
  await plot(panel, "reward").focus();
  await panel.page.keyboard.press("ArrowLeft");
  const at = async (): Promise<string | null> => plot(panel, "reward").getAttribute("aria-valuenow");
  for (let step = warmUp + 21; step <= last; step += 9) {
    await panel.send(live(Array.from({ length: 9 }, (_, i) => Math.min(last, step + i))));
    assert.equal(await at(), String(warmUp + 19), `after step ${step + 8}`);
  }
  const cursor = chart(panel, "reward").locator(".u-cursor-x");
  const [line, over] = await Promise.all(
    [cursor, chart(panel, "reward").locator(".u-over")].map((one) => one.boundingBox()),
  );
  const share = (line!.x - over!.x) / over!.width;
  assert.ok(Math.abs(share - 19 / (last - warmUp)) < 0.02, `drawn at ${share} of the axis`);
  await panel.page.keyboard.press("Enter");
  assert.deepEqual(await acts(panel), [{ action: "openRollouts", step: warmUp + 19 }]);
  await panel.close();
});

test(
  "a click on a chart leaves the cursor there, and its rollouts are asked for; a drag zooms and Escape shows all again",
  { skip },
  async () => {
    const panel = await rig.open();
    await panel.send(show(last));
    const over = chart(panel, "reward").locator(".u-over");
    const box = (await over.boundingBox())!;
    await over.click({ position: { x: box.width / 2, y: 40 } });
    const cursor = panel.page.getByRole("button", { name: /^Cursor at Step/ });
    const pinned = Number(/\d+/.exec((await cursor.textContent())!)![0]);
    assert.ok(Math.abs(pinned - (warmUp + last) / 2) <= 1, String(pinned));
    const asked = async (): Promise<readonly number[]> =>
      (await panel.posted()).flatMap((message) => (message.type === "rollouts" ? [message.step] : []));
    await panel.page.waitForFunction(
      (step) =>
        (window as unknown as { posted: { type: string; step?: number }[] }).posted.some(
          (message) => message.type === "rollouts" && message.step === step,
        ),
      pinned,
    );
    await panel.page.mouse.move(5, 5);
    assert.equal(
      (await tile(panel, "Reward")).endsWith(`step ${pinned}`),
      true,
      "where the pointer has left",
    );
    await cursor.click();
    assert.match(await tile(panel, "Reward"), /mean of last 10 steps/);
    assert.ok((await asked()).length <= 3, "not at every step that the pointer passes");
    const now = (await over.boundingBox())!;
    await panel.page.mouse.move(now.x + now.width * 0.25, now.y + 60);
    await panel.page.mouse.down();
    await panel.page.mouse.move(now.x + now.width * 0.75, now.y + 60, { steps: 5 });
    await panel.page.mouse.up();
    assert.equal(await cursor.count(), 0, "a drag leaves no cursor");
    assert.deepEqual(await acts(panel), [], "neither opens anything");
    const zoomed = panel.page.getByRole("button", { name: /^Steps \d+ to \d+/ });
    assert.match((await zoomed.textContent())!, /^Steps 3\d\d to 3\d\d/);
    await plot(panel, "groups").focus();
    await panel.page.keyboard.press("Escape");
    assert.equal(await zoomed.count(), 0);
    assert.deepEqual(panel.faults, []);
    await panel.close();
  },
);
