/** What the panel says of a run that ended without having trained, and of rewards that failed. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { panelVersion, type ToPanel } from "../../shared/editor/runPanel.ts";
import { failedRun } from "./fakeFailures.ts";
import { launch, screenshots, skip, type Panel, type Rig } from "./harness.ts";
import { themes } from "./themes.ts";
import { some } from "../support/thorough.ts";

let rig: Rig;
before(async () => {
  if (skip === false) rig = await launch();
});
after(() => rig?.close());

const tile = async (panel: Panel, label: string): Promise<string> =>
  (await panel.page.locator(".tile", { hasText: label }).first().innerText()).replace(/\s+/g, " ");

test("a run in which nothing trained is finished, but not well", { skip }, async () => {
  const panel = await rig.open();
  await panel.send(failedRun(3));
  assert.equal(await panel.page.locator(".state").innerText(), "Finished, but nothing trained");
  assert.equal(await panel.page.locator(".state").getAttribute("data-warned"), "true");
  assert.match(await panel.page.locator(".warnings").innerText(), /^Nothing was trained in the 120 steps/);
  assert.match(
    await tile(panel, "Errors"),
    /7,320 correct failed on 6,085 of 6,400 rollouts: threw TypeError: Cannot read/,
  );
  assert.match(await tile(panel, "Reward"), /mean of 30 of 640 scored, last 10 steps/);
  assert.equal(
    await panel.page.locator(".tile", { hasText: "Reward" }).first().locator("[data-tone]").count(),
    0,
  );
  await panel.close();
});

test(
  "each message appears once, with its count and the line that threw; a click opens that line",
  { skip },
  async () => {
    const panel = await rig.open();
    await panel.send(failedRun(3));
    const rows = panel.page.locator(".failures li");
    assert.deepEqual(
      (await rows.allInnerTexts()).map((text) => text.replace(/\s+/g, " ")),
      [
        "5,900× correct threw TypeError: Cannot read properties of undefined (reading 'answer') correct.ts:12 steps 300 to 419",
        "185× correct gave no answer within 2 s, twice step 310",
      ],
    );
    await panel.page.getByRole("button", { name: "Open correct.ts:12" }).click();
    await panel.page.getByRole("button", { name: "5 more messages in the log" }).click();
    const posted = await panel.posted();
    assert.deepEqual(
      posted.find(({ type }) => type === "openPlace"),
      {
        version: panelVersion,
        type: "openPlace",
        file: "/project/rewards/correct.ts",
        line: 12,
        column: 7,
      },
    );
    assert.ok(posted.some((one) => one.type === "act" && one.action === "openLog"));
    assert.deepEqual(panel.faults, []);
    await panel.close();
  },
);

test("a run without failures shows no list, and none of its tiles changes", { skip }, async () => {
  const panel = await rig.open();
  await panel.send({
    ...failedRun(64),
    failures: { failures: [], kinds: 0, failed: {}, rollouts: 6_400 },
  } as ToPanel);
  assert.equal(await panel.page.locator(".failures").isVisible(), false);
  assert.match(await tile(panel, "Reward"), /\+0\.\d+ since start/);
  await panel.close();
});

const looks = themes.flatMap(({ name }) => [
  { name, size: "wide", width: 1100 },
  { name, size: "narrow", width: 400 },
]);
for (const { name, size, width } of some(looks, 2))
  test(`nothing trained, ${name}, ${size}`, { skip }, async () => {
    const panel = await rig.open({ theme: name, width });
    await panel.send(failedRun(3));
    await panel.page.locator(".head").screenshot({ path: join(screenshots, `outcome-${name}-${size}.png`) });
    const overflow = await panel.page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    assert.equal(overflow, false, "nothing sticks out at the side");
    assert.deepEqual(panel.faults, []);
    await panel.close();
  });
