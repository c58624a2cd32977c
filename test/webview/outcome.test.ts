/** What the panel says of a run that ended without having trained, and of rewards that failed. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { RunWarning } from "../../shared/run/outcome.ts";
import { panelVersion, type PanelFailures, type ToPanel } from "../../shared/editor/runPanel.ts";
import { evaluationsUpTo, runAt, seriesUpTo, training, warmUp } from "./fakeRun.ts";
import { launch, screenshots, skip, type Panel, type Rig } from "./harness.ts";
import { themes } from "./themes.ts";
import { some } from "../support/thorough.ts";

let rig: Rig;
before(async () => {
  if (skip === false) rig = await launch();
});
after(() => rig?.close());

const last = warmUp + training - 1;
const failures: PanelFailures = {
  failures: [
    {
      term: "correct",
      message: "threw TypeError: Cannot read properties of undefined (reading 'answer')",
      count: 5_900,
      first: 300,
      last: 419,
      file: "/project/rewards/correct.ts",
      line: 12,
      column: 7,
    },
    {
      term: "correct",
      message: "gave no answer within 2 s, twice",
      count: 185,
      first: 310,
      last: 310,
      file: null,
      line: null,
      column: null,
    },
  ],
  kinds: 7,
  failed: { correct: 6_085 },
  rollouts: 6_400,
};
const warnings: readonly RunWarning[] = [
  {
    reason: "nothing-trained",
    label: "nothing trained",
    message:
      "Nothing was trained in the 120 steps with rollouts: `correct` failed on 6,085 of 6,400 rollouts.",
  },
];

/** The fake run, in which every step from training on scored 3 of 64 rollouts. */
const message = (scored: number): ToPanel => ({
  version: panelVersion,
  type: "show",
  run: runAt(last, { status: "finished", endedAt: "2026-11-21T19:50:00.000Z", warnings }),
  series: [
    ...seriesUpTo(last).filter(({ metric }) => metric !== "reward/correct/errors"),
    ...(
      [
        ["reward/correct/errors", 64 - scored],
        ["rollout/scored", scored],
        ["rollout/count", 64],
      ] as const
    ).map(([metric, value]) => {
      const steps = Array.from({ length: training }, (_, i) => warmUp + i);
      return { metric, steps, values: steps.map(() => value), total: training };
    }),
  ],
  evaluations: evaluationsUpTo(last),
  errors: 0,
  failures,
});
const tile = async (panel: Panel, label: string): Promise<string> =>
  (await panel.page.locator(".tile", { hasText: label }).first().innerText()).replace(/\s+/g, " ");

test("a run in which nothing trained is finished, but not well", { skip }, async () => {
  const panel = await rig.open();
  await panel.send(message(3));
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
    await panel.send(message(3));
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
    ...message(64),
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
    await panel.send(message(3));
    await panel.page.locator(".head").screenshot({ path: join(screenshots, `outcome-${name}-${size}.png`) });
    const overflow = await panel.page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    assert.equal(overflow, false, "nothing sticks out at the side");
    assert.deepEqual(panel.faults, []);
    await panel.close();
  });
