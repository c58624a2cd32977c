/** What a run forgot, in its panel: found, compared, followed, and practised. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { ToPanel } from "../../shared/editor/runPanel.ts";
import { forgetting } from "./fakeForgetting.ts";
import { evaluatedTasks } from "./fakeForgetting.ts";
import { arms, live, show, training, warmUp } from "./fakeRun.ts";
import { chart, launch, plot, screenshots, skip, type Panel, type Rig } from "./harness.ts";
import { themes } from "./themes.ts";
import { some } from "../support/thorough.ts";

let rig: Rig;
before(async () => {
  if (skip === false) rig = await launch();
});
after(() => rig?.close());

const last = warmUp + training - 1;
const forgot: ToPanel = { ...show(last, { status: "finished" }), turnover: forgetting() } as ToPanel;
const section = (panel: Panel) => panel.page.locator(".forgotten");
const posted = async (panel: Panel) =>
  (await panel.posted())
    .filter(({ type }) => type === "forgotten" || type === "review")
    .map(({ version: _, ...rest }) => rest);

test("planted forgetting is told with its steps and arms, and drawn as a lane", { skip }, async () => {
  const panel = await rig.open();
  await panel.send(forgot);
  const text = await section(panel).innerText();
  assert.match(text, /12 held-out tasks forgotten/);
  assert.match(text, /22 learned, 18 kept, 12 forgotten of 128 held-out tasks/);
  assert.match(text, new RegExp(`${arms[0]} 11 of 29, ${arms[1]} 1 of 43\\.`));
  assert.match(text, /right at step 340, wrong at 380/);
  await plot(panel, "turnover").focus();
  await panel.page.keyboard.press("End");
  const said = (await plot(panel, "turnover").getAttribute("aria-valuetext"))!;
  assert.match(said, /step 419: right 40, right before, and lost 12/);
  assert.equal(await chart(panel, "turnover").isVisible(), true);
  assert.deepEqual(panel.faults, []);
  await panel.close();
});

test("by keys: answers next to each other, the task through training, and a review", { skip }, async () => {
  const panel = await rig.open();
  await panel.send(forgot);
  const rows = section(panel).locator(".tasks > li");
  assert.equal(await rows.count(), 7, "six tasks and a button");
  const press = async (name: RegExp | string): Promise<void> => {
    await section(panel).getByRole("button", { name }).first().focus();
    await panel.page.keyboard.press("Enter");
  };
  await press(/^Compare the answers to /);
  await press(/ through training$/);
  await press("Review These");
  const [compared, followed, review] = await posted(panel);
  const task = forgetting().listed[0]!.task;
  assert.deepEqual(compared, { type: "forgotten", task, show: "diff" });
  assert.deepEqual(followed, { type: "forgotten", task, show: "history" });
  assert.deepEqual(review, { type: "review" });
  await press("Show 6 More");
  assert.equal(await rows.count(), 12);
  assert.equal(await rows.getByText("answers not kept").count(), 8);
  assert.deepEqual(panel.faults, []);
  await panel.close();
});

test(
  "the list goes on with the run, and nothing is claimed of a run that forgets nothing",
  { skip },
  async () => {
    const panel = await rig.open();
    await panel.send(show(warmUp + 85));
    assert.equal(await section(panel).isVisible(), false, "nothing is known of its tasks");
    const message = live([warmUp + 86]);
    await panel.send({ ...message, turnover: forgetting(evaluatedTasks.slice(0, 3)) } as ToPanel);
    assert.match(await section(panel).innerText(), /10 held-out tasks forgotten/);
    const kept = evaluatedTasks
      .slice(0, 2)
      .map(({ step }) => ({ step, results: evaluatedTasks[0]!.results }));
    await panel.send({ ...message, turnover: forgetting(kept) } as ToPanel);
    assert.match(await section(panel).innerText(), /No held-out task is forgotten\s+0 learned, 27 kept/);
    assert.equal(await section(panel).getByRole("button").count(), 0);
    await panel.close();
  },
);

const looks = themes.flatMap(({ name }) => [
  { name, size: "wide", width: 1100 },
  { name, size: "narrow", width: 300 },
]);
for (const { name, size, width } of some(looks, 2))
  test(`what was forgotten, ${name}, ${size}`, { skip }, async () => {
    const panel = await rig.open({ theme: name, width });
    await panel.send(forgot);
    await section(panel).screenshot({ path: join(screenshots, `forgotten-${name}-${size}.png`) });
    await chart(panel, "turnover").screenshot({ path: join(screenshots, `turnover-${name}-${size}.png`) });
    const overflow = await panel.page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    assert.equal(overflow, false, "nothing sticks out at the side");
    assert.deepEqual(panel.faults, []);
    await panel.close();
  });
