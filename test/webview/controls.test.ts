/** How curves are drawn, every metric of the run, and charts as files, in a real browser. */
import { until } from "../support/until.ts";
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { panelVersion } from "../../shared/editor/runPanel.ts";
import { seriesUpTo, show, verdict, warmUp } from "./fakeRun.ts";
import { rolloutsMessage } from "./fakeRollouts.ts";
import { chart, launch, plot, screenshots, skip, type Panel, type Rig } from "./harness.ts";

let rig: Rig;
before(async () => {
  if (skip === false) rig = await launch();
});
after(() => rig?.close());

const last = warmUp + 84;
const posted = async (panel: Panel, type: string) =>
  (await panel.posted()).filter((message) => message.type === type);
const choose = (panel: Panel, label: string, value: string): Promise<string[]> =>
  panel.page.getByRole("combobox", { name: label }).selectOption(value);

test(
  "20,000 metrics are listed in under 200 ms, a few rows of them; one that is chosen is asked for and drawn",
  { skip },
  async () => {
    const panel = await rig.open();
    await panel.send(show(last));
    await panel.page.getByRole("button", { name: "All Metrics" }).click();
    assert.deepEqual(await posted(panel, "names"), [{ version: panelVersion, type: "names" }]);
    const names = [
      ...Array.from({ length: 20_000 }, (_, i) => `layer_${String(i).padStart(5, "0")}/norm`),
      "policy/entropy",
      "memory/tensors",
    ];
    const session = await panel.page.context().newCDPSession(panel.page);
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    const worked = async (): Promise<number> => {
      const { metrics } = await session.send("Performance.getMetrics");
      return metrics.find(({ name }) => name === "TaskDuration")!.value;
    };
    const before = await worked();
    await panel.send({ version: panelVersion, type: "names", names });
    const taken = (await worked()) - before;
    assert.ok(taken < 0.2, `${taken.toFixed(3)} s`);
    const rows = panel.page.locator(".metric");
    assert.ok((await rows.count()) < 100);
    await panel.page.getByRole("searchbox", { name: "Search metrics" }).fill("mem tens");
    assert.deepEqual(await rows.locator("code").allTextContents(), ["memory/tensors"]);
    assert.match((await rows.textContent())!, /Tensors alive on the device/);
    await rows.click();
    assert.deepEqual(await posted(panel, "metrics"), [
      { version: panelVersion, type: "metrics", metrics: ["memory/tensors"] },
    ]);
    const steps = Array.from({ length: 85 }, (_, i) => warmUp + i);
    const series = [{ metric: "memory/tensors", steps, values: steps.map((step) => step % 7), total: 85 }];
    await panel.send({ version: panelVersion, type: "metrics", series });
    assert.equal(
      await plot(panel, "metric:memory/tensors").getAttribute("aria-valuetext"),
      "step 384: memory/tensors 6",
    );
    await rows.click();
    assert.equal(await chart(panel, "metric:memory/tensors").count(), 0);
    assert.deepEqual(panel.faults, []);
    await panel.close();
  },
);

test(
  "smoothing is asked of the daemon for what is in view; without it the points are there again",
  { skip },
  async () => {
    const panel = await rig.open();
    await panel.send(show(last));
    const entropy = (): Promise<string | null> => plot(panel, "entropy").getAttribute("aria-valuetext");
    const before = await entropy();
    await choose(panel, "smoothing", "0.9");
    const [asked] = await posted(panel, "range");
    assert.ok(asked?.type === "range" && asked.smooth === 0.9 && asked.metrics.includes("policy/entropy"));
    const series = seriesUpTo(last).map((one) => ({
      ...one,
      values: one.values.map((_, i) => 0.25 + 0.004 * (i % 2)),
    }));
    await panel.send({ version: panelVersion, type: "range", id: asked.id, series });
    assert.match((await entropy())!, /0\.25\d$/);
    assert.match(
      (await panel.page.locator(".tile").first().textContent())!,
      /0\.6\d\d/,
      "numbers are those of the run, not of its average",
    );
    await choose(panel, "smoothing", "off");
    assert.equal(await entropy(), before);
    await panel.close();
  },
);

test(
  "the axis counts steps, tokens, time or samples, for all lanes at once, and the cursor means the same step",
  { skip },
  async () => {
    const panel = await rig.open();
    await panel.send(show(last));
    const ticks = panel.page.locator(".ticks");
    assert.match((await ticks.textContent())!, /^step300/);
    await plot(panel, "entropy").focus();
    await panel.page.keyboard.press("ArrowLeft");
    for (const [kind, words] of [
      ["tokens", /^tokens generated\d+k/],
      ["time", /^training time\d+ (s|min)/],
      ["samples", /^rollouts\d/],
    ] as const) {
      await choose(panel, "x axis", kind);
      assert.match((await ticks.textContent())!, words);
      assert.equal(await plot(panel, "entropy").getAttribute("aria-valuenow"), String(last - 1));
      const line = (await chart(panel, "entropy").locator(".u-cursor-x").boundingBox())!;
      const over = (await chart(panel, "entropy").locator(".u-over").boundingBox())!;
      assert.ok((line.x - over.x) / over.width > 0.95, kind);
    }
    assert.deepEqual(panel.faults, []);
    await panel.close();
  },
);

test("log and symlog change what can be: shares and areas stay as they are", { skip }, async () => {
  const panel = await rig.open();
  await panel.send(show(last));
  for (const kind of ["log", "symlog", "linear"]) {
    await choose(panel, "y axis", kind);
    await chart(panel, "divergence").screenshot({ path: join(screenshots, `scale-${kind}.png`) });
  }
  assert.deepEqual(panel.faults, []);
  await panel.close();
});

test("a chart is saved as what is seen: values as CSV, a picture as SVG or PNG", { skip }, async () => {
  const panel = await rig.open();
  await panel.send(show(last));
  for (const format of ["CSV", "SVG", "PNG"]) {
    await panel.page.getByRole("button", { name: "Save Held-out tasks", exact: true }).click();
    await panel.page.getByRole("button", { name: `Save Held-out tasks as ${format}` }).click();
    await panel.page.waitForFunction(
      (wanted) =>
        (window as unknown as { posted: { type: string; format?: string }[] }).posted.some(
          (message) => message.type === "save" && message.format === wanted,
        ),
      format,
    );
  }
  const files = (await panel.posted()).flatMap((message) => (message.type === "save" ? [message] : []));
  const [csv, svg, png] = files.map(({ data }) => data);
  assert.match(csv!, /^step,pass@1,pass@1 low,pass@1 high,pass@8.*\n300,0\.204,0\.1\d+,0\.2\d+,/);
  assert.match(svg!, /^<svg .*Held-out tasks.*pass@8.*<circle /s);
  assert.ok(Buffer.from(png!, "base64").subarray(1, 4).toString() === "PNG" && png!.length > 10_000);
  assert.deepEqual(panel.faults, []);
  await panel.close();
});

test("the verdict leads: its step, its rollouts and its fixes can be pressed", { skip }, async () => {
  const panel = await rig.open();
  await panel.send({ ...show(last), verdict });
  await panel.send(rolloutsMessage(last));
  const card = panel.page.getByRole("region", { name: "Verdict" });
  assert.match(
    (await card.textContent())!,
    /hacking brevity.*since step 352.*Against: Entropy fell.*1 of 60/s,
  );
  await card.getByRole("button", { name: "since step 352" }).click();
  assert.equal(await plot(panel, "entropy").getAttribute("aria-valuenow"), "352");
  // The rollouts of a step are asked for once the cursor rests on it.
  await until(
    async () => (await panel.posted()).some((message) => message.type === "rollouts" && message.step === 352),
    "the rollouts of the pinned step",
  );
  await card.getByRole("button", { name: /reinforced most/ }).click();
  const why = (await panel.posted()).findLast(
    (message) => message.type === "why" || message.type === "rollouts",
  );
  assert.deepEqual(
    why,
    { version: panelVersion, type: "rollouts", step: 384 },
    "its step is asked for first",
  );
  await panel.send(rolloutsMessage(384));
  const { step, group, index } = verdict.rollouts[0]!;
  assert.deepEqual((await posted(panel, "why")).at(-1), {
    version: panelVersion,
    type: "why",
    place: { step, group, index },
  });
  await card.getByRole("button", { name: "Score brevity only if correct" }).click();
  await card.getByRole("button", { name: /^Dismiss/ }).click();
  assert.deepEqual(
    (await panel.posted()).slice(-2).map(({ type }) => type),
    ["fix", "dismiss"],
  );
  await panel.send({ ...show(last), verdict: null });
  assert.equal(await card.isVisible(), false);
  assert.deepEqual(panel.faults, []);
  await panel.close();
});

test("what a verdict says is said once: its step, what is in a banner otherwise", { skip }, async () => {
  const panel = await rig.open();
  const { page } = panel;
  const warnings = [
    { reason: "held-out-worse", label: "held-out got worse", message: "It got worse." },
  ] as const;
  const collapsed = {
    ...verdict,
    state: "collapsed",
    headline: "Collapsed at step 352 because of `brevity`.",
    fixes: [{ ...verdict.fixes[0]!, title: "Leave `brevity` out" }],
  } as const;
  await panel.send({ ...show(last, { warnings }), verdict: null });
  assert.equal(await page.getByText("It got worse.").isVisible(), true);
  await panel.send({ ...show(last, { warnings }), verdict: collapsed });
  assert.equal(await page.getByText("It got worse.").isVisible(), false);
  const card = page.getByRole("region", { name: "Verdict" });
  assert.equal(await card.getByRole("button", { name: "Leave brevity out" }).count(), 1);
  await card.getByRole("button", { name: "Show Step 352" }).click();
  assert.equal(await plot(panel, "entropy").getAttribute("aria-valuenow"), "352");
  const failed = { status: "failed", message: "The reward file has a syntax error." } as const;
  const alert = page.getByRole("alert");
  await panel.send({ ...show(last, failed), verdict: null });
  assert.equal(await alert.isVisible(), true);
  const headline = `The run failed at step 352: ${failed.message}`;
  await panel.send({
    ...show(last, failed),
    verdict: { ...verdict, state: "failing", label: "failed", headline },
  });
  assert.equal(await alert.isVisible(), false);
  assert.deepEqual(panel.faults, []);
  await panel.close();
});

test(
  "marks of the timeline, groups and siblings are one Tab stop each, and arrow keys lead on",
  { skip },
  async () => {
    const panel = await rig.open();
    await panel.send({ ...show(last), verdict });
    await panel.send(rolloutsMessage(last));
    const checkpoints = panel.page.getByRole("group", { name: "Checkpoints" }).getByRole("button");
    await checkpoints.first().focus();
    const said = panel.page.locator(".event-said");
    assert.equal(await said.textContent(), "step 340: checkpoint");
    await panel.page.keyboard.press("ArrowRight");
    assert.equal(await said.textContent(), "step 380: checkpoint");
    await panel.page.keyboard.press("Enter");
    assert.equal(await plot(panel, "entropy").getAttribute("aria-valuenow"), "380");
    const stops = await panel.page.evaluate(() =>
      [".event-row", ".group-map", ".chips"].map((part) =>
        [...document.querySelectorAll(part)].map(
          (row) => row.querySelectorAll('button[tabindex="0"]').length,
        ),
      ),
    );
    for (const stop of stops.flat()) assert.ok(stop <= 1, JSON.stringify(stops));
    const chip = panel.page.locator(".population").first();
    await chip.focus();
    assert.match((await chip.getAttribute("aria-label"))!, /^Over all · 256 rollouts\. Over every rollout/);
    const overflow = await panel.page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    assert.equal(overflow, false, "what it says stays on the page");
    await panel.page.screenshot({ path: join(screenshots, "chip.png") });
    assert.deepEqual(panel.faults, []);
    await panel.close();
  },
);
