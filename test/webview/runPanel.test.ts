/** The run panel in a real browser, under the policy its host serves: contract, keyboard, themes, sizes. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import type { Locator } from "playwright-core";
import { panelVersion } from "../../shared/editor/runPanel.ts";
import { live, runAt, seriesUpTo, show, warmUp } from "./fakeRun.ts";
import { acts, changeTheme, chart, launch, plot, skip, type Rig } from "./harness.ts";

let rig: Rig;
before(async () => {
  if (skip === false) rig = await launch();
});
after(() => rig?.close());

const last = warmUp + 84;

/** Whether the canvas holds anything but its background. */
const painted = (canvas: Locator): Promise<number> =>
  canvas.evaluate((node) => {
    if (!(node instanceof HTMLCanvasElement)) return 0;
    const { data } = node.getContext("2d")!.getImageData(0, 0, node.width, node.height);
    let colored = 0;
    for (let i = 3; i < data.length; i += 4) if (data[i]! > 0) colored++;
    return colored / (data.length / 4);
  });

test("asks for its run with a handshake, and shows nothing that it has not received", { skip }, async () => {
  const panel = await rig.open();
  assert.deepEqual(await panel.posted(), [{ version: panelVersion, type: "ready", state: null }]);
  assert.equal(await panel.page.getByText("Loading the run…").isVisible(), true);
  await panel.send({ ...show(last), version: 999 });
  assert.equal(
    await panel.page.getByText("Loading the run…").isVisible(),
    true,
    "a message of another version is dropped",
  );
  await panel.send(show(last));
  assert.equal(await panel.page.getByRole("heading", { level: 1 }).textContent(), "countdown-sec");
  assert.equal(await panel.page.getByRole("heading", { level: 2 }).count(), 11);
  assert.deepEqual(panel.faults, []);
  await panel.close();
});

test("every chart is drawn, with its lines in the legend and a summary in words", { skip }, async () => {
  const panel = await rig.open();
  await panel.send(show(last));
  await panel.page.getByRole("button", { name: /^More Lanes/ }).click();
  for (const id of [
    "terms",
    "heldOut",
    "reward",
    "groups",
    "curriculum",
    "estimate",
    "admission",
    "time",
    "update",
  ]) {
    assert.ok((await painted(chart(panel, id).locator("canvas"))) > 0.005, `${id} is blank`);
    assert.match((await plot(panel, id).getAttribute("aria-label"))!, /at step \d+/);
  }
  assert.match(
    (await chart(panel, "curriculum").locator(".legend").textContent())!,
    /countdown\/3.*countdown\/4.*countdown\/5/,
  );
  const dashes = await chart(panel, "groups")
    .locator(".legend line")
    .evaluateAll((lines) => lines.map((line) => line.getAttribute("stroke-dasharray")));
  assert.equal(new Set(dashes).size, dashes.length, "lines differ by more than colour");
  await panel.close();
});

test(
  "buttons say what can be done in each state, and keep the focus when the state moves on",
  { skip },
  async () => {
    const panel = await rig.open();
    await panel.send(show(last));
    const names = (): Promise<string[]> =>
      panel.page.getByRole("toolbar").getByRole("button").allTextContents();
    assert.deepEqual(await names(), ["Stop", "Pause", "Open Rollouts", "Fork Run", "Open Config"]);
    await panel.page.getByRole("button", { name: "Stop" }).focus();
    await panel.page.keyboard.press("Enter");
    await panel.send(live([last + 1], { status: "stopped" }));
    assert.deepEqual(await names(), ["Resume", "Open Rollouts", "Fork Run", "Open Config"]);
    assert.equal(await panel.page.evaluate(() => document.activeElement?.textContent), "Resume");
    assert.equal(await panel.page.getByRole("status").first().textContent(), "Stopped");
    assert.deepEqual(await acts(panel), [{ action: "stop" }]);
    await panel.send(show(last, { status: "failed", message: "reward term style threw: boom" }));
    assert.equal(await panel.page.getByRole("alert").textContent(), "reward term style threw: boom");
    await panel.close();
  },
);

test("live steps continue the curve; a long run keeps drawing quickly", { skip }, async () => {
  const panel = await rig.open();
  await panel.send(show(warmUp + 10));
  for (let step = 11; step <= 40; step++) await panel.send(live([warmUp + step]));
  assert.equal(await plot(panel, "reward").getAttribute("aria-valuemax"), String(warmUp + 40));
  await chart(panel, "entropy").getByRole("button", { name: "Entropy as a table" }).click();
  const steps = await chart(panel, "entropy").locator("tbody th").allTextContents();
  assert.deepEqual(
    steps,
    Array.from({ length: 41 }, (_, i) => String(warmUp + 40 - i)),
    "no gap and no double",
  );
  await panel.close();
});

test(
  "50 series of 2,000 points are on screen within a second of arriving; any step is scrubbed to in under 50 ms",
  { skip },
  async () => {
    const panel = await rig.open();
    const steps = Array.from({ length: 2_000 }, (_, i) => i * 5);
    const names = seriesUpTo(warmUp)
      .filter(({ metric }) => !metric.startsWith("tokens/trained"))
      .map(({ metric }) => metric);
    const many = [...names, ...Array.from({ length: 50 }, (_, i) => `reward/term${i}`)].slice(0, 50);
    const series = many.map((metric, m) => ({
      metric,
      steps,
      values: steps.map((step) => 0.5 + 0.1 * Math.sin(step / 300 + m)),
      total: 10_000,
    }));
    const run = { ...runAt(9_999, { steps: 10_000 }), stages: [{ step: 0, name: "full", kind: "rl" }] };
    // Time of the page's own thread: how busy the machine is otherwise says nothing of the panel.
    const session = await panel.page.context().newCDPSession(panel.page);
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    const worked = async (): Promise<number> => {
      const { metrics } = await session.send("Performance.getMetrics");
      return metrics.find(({ name }) => name === "TaskDuration")!.value;
    };
    const before = await worked();
    await panel.send({ version: panelVersion, type: "show", run, series, evaluations: [], errors: 0 });
    await panel.page.waitForFunction(() => document.querySelectorAll("canvas").length >= 6);
    const taken = (await worked()) - before;
    assert.ok(taken < 1, `${taken.toFixed(2)} s`);
    await plot(panel, "reward").focus();
    const [still, moves] = [await worked(), 20];
    for (let i = 0; i < moves; i++) await panel.page.keyboard.press("Shift+ArrowLeft");
    const scrubbed = ((await worked()) - still) / moves;
    assert.ok(scrubbed < 0.05, `${(1_000 * scrubbed).toFixed(0)} ms a step`);
    await panel.close();
  },
);

test(
  "zooming into a reduced run asks for that part step by step, and a stale answer is dropped",
  { skip },
  async () => {
    const panel = await rig.open();
    const reduced = show(last);
    assert.ok(reduced.type === "show");
    await panel.send({
      ...reduced,
      series: reduced.series.map((one) => ({ ...one, total: one.total * 10 })),
    });
    const drag = async (from: number, to: number): Promise<void> => {
      const box = (await chart(panel, "reward").locator(".u-over").boundingBox())!;
      await panel.page.mouse.move(box.x + box.width * from, box.y + 60);
      await panel.page.mouse.down();
      await panel.page.mouse.move(box.x + box.width * to, box.y + 60, { steps: 4 });
      await panel.page.mouse.up();
    };
    await drag(0.2, 0.8);
    await drag(0.2, 0.8);
    const asked = (await panel.posted()).flatMap((message) => (message.type === "range" ? [message] : []));
    assert.equal(asked.length, 2);
    assert.ok(
      asked[1]!.from > asked[0]!.from &&
        asked[1]!.to < asked[0]!.to &&
        asked[1]!.metrics.includes("reward/total"),
    );
    const part = seriesUpTo(last).map((one) => ({
      ...one,
      steps: one.steps.slice(-30),
      values: one.values.slice(-30),
    }));
    await panel.send({ version: panelVersion, type: "range", id: asked[0]!.id, series: [] });
    assert.equal(
      await plot(panel, "entropy").isVisible(),
      true,
      "the answer to the first question no longer counts",
    );
    await panel.send({ version: panelVersion, type: "range", id: asked[1]!.id, series: part });
    assert.equal(await plot(panel, "entropy").getAttribute("aria-valuemin"), String(last - 29));
    await panel.close();
  },
);

test("a reload restores the place: range, tables and scroll", { skip }, async () => {
  const panel = await rig.open({ height: 500 });
  await panel.send(show(last));
  await panel.page.getByRole("button", { name: "Whole Run" }).click();
  await chart(panel, "entropy").getByRole("button", { name: "Entropy as a table" }).click();
  await panel.page.evaluate(() => window.scrollTo(0, 420));
  await panel.page.waitForFunction(() => sessionStorage.getItem("state")?.includes('"scroll":420') === true);
  await panel.page.reload();
  const [ready] = await panel.posted();
  assert.ok(ready?.type === "ready" && ready.state !== null);
  assert.deepEqual(
    { run: ready.state.run, scroll: ready.state.scroll, tables: ready.state.tables },
    { run: runAt(last).summary.id, scroll: 420, tables: ["entropy"] },
  );
  await panel.send(show(last));
  assert.equal(
    await panel.page.getByRole("button", { name: "Whole Run" }).getAttribute("aria-pressed"),
    "true",
  );
  assert.equal(await chart(panel, "entropy").getByRole("table").isVisible(), true);
  assert.equal(await panel.page.evaluate(() => window.scrollY), 420);
  await panel.close();
});

test("warming up says so, with the loss drawn first", { skip }, async () => {
  const panel = await rig.open();
  await panel.send(show(39));
  assert.match(
    (await chart(panel, "reward").locator(".empty").textContent())!,
    /^Warming up: step 40 of 300, loss 1\.71\./,
  );
  const top = async (id: string): Promise<number> => (await chart(panel, id).boundingBox())!.y;
  assert.ok((await top("update")) < (await top("groups")));
  await panel.send(show(warmUp + 5));
  assert.equal(await chart(panel, "reward").locator(".empty").isVisible(), false);
  assert.ok((await top("update")) > (await top("groups")));
  await panel.close();
});

test(
  "a lost connection, a failed one and a deleted run are said, with what can be done",
  { skip },
  async () => {
    const panel = await rig.open();
    await panel.send(show(last));
    const alert = panel.page.getByRole("alert");
    await panel.send({
      version: panelVersion,
      type: "link",
      link: { state: "waiting", message: "trying again" },
    });
    assert.equal(await alert.textContent(), "trying again");
    await panel.send({
      version: panelVersion,
      type: "link",
      link: { state: "failed", message: "no daemon" },
    });
    await alert.getByRole("button", { name: "Reconnect" }).click();
    assert.deepEqual(await acts(panel), [{ action: "reconnect" }]);
    await panel.send({ version: panelVersion, type: "link", link: { state: "live" } });
    assert.equal(await alert.count(), 0);
    await panel.send({ version: panelVersion, type: "gone", message: "This run was deleted." });
    assert.equal(await alert.textContent(), "This run was deleted.");
    assert.equal(await panel.page.getByRole("toolbar").getByRole("button").count(), 0);
    await panel.close();
  },
);

test(
  "a change of theme is followed by every line, and reduced motion stops what moves",
  { skip },
  async () => {
    const panel = await rig.open({ theme: "dark" });
    await panel.send(show(last));
    const stroke = (): Promise<string | null> =>
      chart(panel, "entropy").locator(".legend line").getAttribute("stroke");
    assert.equal(await stroke(), "rgb(177, 128, 215)");
    const moving = (): Promise<string> =>
      panel.page.locator(".state").evaluate((node) => getComputedStyle(node, "::before").animationName);
    assert.equal(await moving(), "breathe");
    await changeTheme(panel, "light");
    assert.equal(await stroke(), "rgb(101, 45, 144)");
    await changeTheme(panel, "high-contrast");
    assert.equal(await moving(), "none");
    assert.ok((await painted(chart(panel, "entropy").locator("canvas"))) > 0.005);
    assert.deepEqual(panel.faults, []);
    await panel.close();
  },
);

test("everything that can be pressed has a name, and one heading leads", { skip }, async () => {
  const panel = await rig.open();
  await panel.send(show(last));
  const nameless = await panel.page.evaluate(() =>
    [...document.querySelectorAll("button, [tabindex]:not([hidden]), [role=slider], table")]
      .filter((node) => (node.getAttribute("aria-label") ?? node.textContent ?? "").trim() === "")
      .map((node) => node.outerHTML),
  );
  assert.deepEqual(nameless, []);
  assert.equal(await panel.page.getByRole("heading", { level: 1 }).count(), 1);
  assert.equal(await panel.page.getByRole("main").count(), 1);
  await panel.close();
});

test(
  "the policy is really in force: what it forbids is refused, and the panel breaks none of it",
  { skip },
  async () => {
    const panel = await rig.open();
    await panel.send(show(last));
    assert.deepEqual(panel.faults, []);
    await panel.page.evaluate(() => {
      const script = document.createElement("script");
      script.textContent = "window.injected = true";
      document.body.append(script);
    });
    assert.equal(await panel.page.evaluate(() => "injected" in window), false);
    assert.match(panel.faults.join(), /Content Security Policy/);
    await panel.close();
  },
);

test("names from a run are text, never markup", { skip }, async () => {
  const panel = await rig.open();
  await panel.send(show(last, { name: `<img src=x onerror="window.hacked=1">` }));
  assert.equal(
    await panel.page.getByRole("heading", { level: 1 }).textContent(),
    `<img src=x onerror="window.hacked=1">`,
  );
  assert.equal(await panel.page.locator("h1 img").count(), 0);
  await panel.close();
});

test("the bundle stays under 250 kB", { skip }, () => {
  assert.ok(readFileSync("out/webview/main.js").length < 250_000);
});

test(
  "the head of the panel says how far an evaluation is, in the place of the run's time left",
  { skip },
  async () => {
    const panel = await rig.open();
    const message = show(last);
    assert.ok(message.type === "show");
    const evaluating = "Evaluating: 412 of 1152 answers, about 40 s left.";
    await panel.send({ ...message, run: { ...message.run, evaluating } });
    const where = panel.page.locator(".where");
    assert.match(
      await where.innerText(),
      /step \d+ of 420 .* Evaluating: 412 of 1152 answers, about 40 s left$/,
    );
    await panel.send(show(last));
    assert.doesNotMatch(await where.innerText(), /Evaluating/);
    await panel.close();
  },
);
