/** Pictures of the run panel, to be looked at: the states a person meets on the way, in four themes. `looks.ts` has its sizes. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chosen, helped, judged, played, rolloutsMessage, taught, whyMessage } from "./fakeRollouts.ts";
import { live, show, warmUp } from "./fakeRun.ts";
import type { RolloutPlace } from "../../shared/editor/runPanel.ts";
import { launch, screenshots, skip, type Panel, type Rig } from "./harness.ts";
import { themes } from "./themes.ts";
import { some } from "../support/thorough.ts";

const looks = some(
  themes.flatMap(({ name }) => [
    { name, size: "wide", width: 1100 },
    { name, size: "narrow", width: 400 },
  ]),
  2,
);

let rig: Rig;
before(async () => {
  if (skip === false) rig = await launch();
});
after(() => rig?.close());

/** A person looks for a rollout, and asks why. */
async function explain(panel: Panel, { group, index }: RolloutPlace): Promise<void> {
  const rollouts = panel.page.locator(".rollouts");
  await rollouts
    .locator(".square")
    .and(panel.page.getByRole("button", { name: group }))
    .click();
  await rollouts.getByRole("button", { name: `Rollout ${index}: ` }).click();
}

for (const { name, size, width } of looks)
  test(`why this advantage, ${name}, ${size}`, { skip }, async () => {
    const panel = await rig.open({ theme: name, width });
    await panel.send(show(chosen.step));
    await panel.send(rolloutsMessage(chosen.step));
    await explain(panel, chosen);
    await panel.send(whyMessage(chosen));
    await panel.page.locator(".rollouts").screenshot({ path: join(screenshots, `why-${name}-${size}.png`) });
    const overflow = await panel.page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    assert.equal(overflow, false, "nothing sticks out at the side");
    assert.deepEqual(panel.faults, []);
    await panel.close();
  });

for (const { name, size, width } of looks)
  test(`what a rubric said, ${name}, ${size}`, { skip }, async () => {
    const panel = await rig.open({ theme: name, width });
    await panel.send(show(judged.step));
    await panel.send(rolloutsMessage(judged.step));
    await explain(panel, judged);
    await panel.send(whyMessage(judged));
    await panel.page
      .locator('[data-topic="criteria"]')
      .screenshot({ path: join(screenshots, `criteria-${name}-${size}.png`) });
    const overflow = await panel.page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    assert.equal(overflow, false, "nothing sticks out at the side");
    assert.deepEqual(panel.faults, []);
    await panel.close();
  });

for (const { name } of some(themes, 2))
  test(`what a rollout was given, ${name}`, { skip }, async () => {
    const panel = await rig.open({ theme: name, width: 700 });
    await panel.send(show(helped.step));
    await panel.send(rolloutsMessage(helped.step));
    for (const [file, place] of Object.entries({ given: helped, taught, played })) {
      await explain(panel, place);
      await panel.send(whyMessage(place));
      const texts = panel.page.locator(".why .part:has(pre)");
      const told = await texts.allInnerTexts();
      if (place === helped) {
        assert.match(
          told.join("\n"),
          /helped by solution, 50 %.*4 prefilled tokens do not train, all 4 generated/s,
        );
        assert.equal(await panel.page.locator(".why mark.given").count(), 1);
      } else if (place === taught) assert.match(told.join("\n"), /Teacher context: sibling/i);
      else {
        const said = panel.page.locator(".why mark.given");
        assert.equal(await said.getAttribute("title"), "message to the policy between two attempts");
        assert.match(await said.innerText(), /Incorrect, 1 left\./);
      }
      await panel.page.locator(".why").screenshot({ path: join(screenshots, `${file}-${name}.png`) });
    }
    assert.deepEqual(panel.faults, []);
    await panel.close();
  });

test("run panel while warming up", { skip }, async () => {
  const panel = await rig.open({ theme: "dark" });
  await panel.send(show(39));
  await panel.page.screenshot({ path: join(screenshots, "run-warming-up.png"), fullPage: true });
  await panel.close();
});

test("run panel of a failed run", { skip }, async () => {
  const panel = await rig.open({ theme: "light" });
  await panel.send(
    show(warmUp + 40, {
      status: "failed",
      message: "The worker was killed (signal 9). Resume continues from step 350.",
    }),
  );
  await panel.page.screenshot({ path: join(screenshots, "run-failed.png"), fullPage: true });
  await panel.close();
});

test("run panel at 300 px and 200 % with a table open", { skip }, async () => {
  const panel = await rig.open({ theme: "dark", width: 300, scale: 2 });
  await panel.send(show(warmUp + 84));
  await panel.send(live([warmUp + 85]));
  await panel.page.getByRole("button", { name: "Entropy as a table" }).click();
  await panel.page.screenshot({ path: join(screenshots, "run-300px.png"), fullPage: true });
  assert.equal(await panel.page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
  await panel.close();
});
