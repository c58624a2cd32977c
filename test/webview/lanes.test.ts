/** The curriculum's lanes in a real browser: what is asked, drawn, said and marked, in every theme and size. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { FromPanel } from "../../shared/editor/runPanel.ts";
import { panelVersion } from "../../shared/editor/runPanel.ts";
import { curriculumMessage } from "./fakeCurriculum.ts";
import { chosen, rolloutsMessage } from "./fakeRollouts.ts";
import { arms, live, show, warmUp } from "./fakeRun.ts";
import { launch, screenshots, skip, type OpenOptions, type Panel, type Rig } from "./harness.ts";
import { themes } from "./themes.ts";
import { some } from "../support/thorough.ts";

let rig: Rig;
before(async () => {
  if (skip === false) rig = await launch();
});
after(() => rig?.close());

const last = warmUp + 84;
type Of<Type> = Extract<FromPanel, { type: Type }>;
const posted = async <Type extends FromPanel["type"]>(panel: Panel, type: Type) =>
  (await panel.posted()).filter((message): message is Of<Type> & FromPanel => message.type === type);

/** Answers the panel's last question. */
async function answer(panel: Panel, run: "a" | "single" = "a"): Promise<void> {
  const asked = (await posted(panel, "curriculum")).at(-1);
  assert.ok(asked !== undefined, "nothing was asked");
  await panel.send(curriculumMessage(asked.id, asked.view, run));
}
async function opened(options: OpenOptions = {}): Promise<Panel> {
  const panel = await rig.open(options);
  await panel.send(show(last));
  await answer(panel);
  return panel;
}
const lanes = (panel: Panel) => panel.page.locator(".lanes");
const slider = (panel: Panel) => lanes(panel).getByRole("slider", { name: /^Pass rate/ });
const said = (panel: Panel) => slider(panel).getAttribute("aria-valuetext");

test(
  "asks for the steps in view; shows each arm's rate, what was drawn and what was burnt",
  { skip },
  async () => {
    const panel = await opened();
    const [asked] = await posted(panel, "curriculum");
    assert.deepEqual(asked?.view, { by: "auto", family: null, arm: null, from: warmUp, to: last });
    for (const arm of arms)
      assert.equal(
        await lanes(panel)
          .getByRole("button", { name: new RegExp(`^${arm} ?\\d+ %$`) })
          .count(),
        1,
      );
    const text = (await lanes(panel).textContent())!;
    assert.match(text, /1,020 groups drawn, \d+ trained \(\d+\s%\)/);
    assert.match(text, /groups all wrong: [\d,]+ tokens, [\d.]+\s%/);
    assert.match(text, /Left out: all \w+, \d+ groups/);
    const colours = await lanes(panel)
      .locator("canvas")
      .evaluate((node) => {
        const canvas = node as HTMLCanvasElement;
        const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
        return new Set(Array.from({ length: data.length / 4 }, (_, i) => data.slice(4 * i, 4 * i + 4).join()))
          .size;
      });
    assert.ok(colours > 8, `${colours} shades`);
    assert.deepEqual(panel.faults, []);
    await panel.close();
  },
);

test("a live run is not asked about at every step", { skip }, async () => {
  const panel = await rig.open();
  // Where a machine is slow, no more time passes for the panel.
  await panel.page.evaluate(() => {
    const now = performance.now();
    performance.now = () => now;
  });
  await panel.send(show(last));
  await answer(panel);
  for (let step = 1; step <= 3; step++) await panel.send(live([last + step]));
  assert.equal((await posted(panel, "curriculum")).length, 1);
  await panel.close();
});

test("an answer to an older question is dropped; a failure is shown in its place", { skip }, async () => {
  const panel = await opened();
  await panel.send({ ...curriculumMessage(99, { by: "task", family: null, arm: null, from: 0, to: 1 }) });
  assert.match((await lanes(panel).textContent())!, /1,020 groups/);
  await panel.send({
    version: panelVersion,
    type: "unanswered",
    to: "curriculum",
    message: "The disk is full.",
  });
  assert.equal(await lanes(panel).getByText("The disk is full.").isVisible(), true);
  await panel.close();
});

test("an arm opens into its tasks, and Escape leads back", { skip }, async () => {
  const panel = await opened();
  await lanes(panel)
    .getByRole("button", { name: new RegExp(`^${arms[1]}`) })
    .click();
  assert.deepEqual((await posted(panel, "curriculum")).at(-1)?.view, {
    by: "task",
    family: null,
    arm: arms[1],
    from: warmUp,
    to: last,
  });
  await answer(panel);
  assert.match((await lanes(panel).textContent())!, new RegExp(`Tasks of ${arms[1]}`));
  assert.equal(await lanes(panel).locator(".label").count(), 7);
  await slider(panel).focus();
  await panel.page.keyboard.press("Escape");
  assert.equal((await posted(panel, "curriculum")).at(-1)?.view.arm, null);
  await panel.close();
});

test(
  "keys move from cell to cell, say what is in it, and mark a part whose rollouts are listed",
  { skip },
  async () => {
    const panel = await opened();
    await slider(panel).focus();
    await panel.page.keyboard.press("Home");
    assert.match(
      (await said(panel))!,
      new RegExp(`^${arms[0]}, step ${warmUp}: \\d+ % right, \\d of 4 groups trained$`),
    );
    await panel.page.keyboard.press("ArrowRight");
    await panel.page.keyboard.press("Shift+ArrowRight");
    await panel.page.keyboard.press("Shift+ArrowDown");
    assert.match((await said(panel))!, new RegExp(`^${arms[1]}, step ${warmUp + 2}: `));
    await panel.page.keyboard.press("Enter");
    const [asked] = await posted(panel, "brush");
    assert.deepEqual(asked?.brush, {
      by: "arm",
      from: warmUp + 1,
      to: warmUp + 2,
      names: [arms[0], arms[1]],
    });
    const title = panel.page.getByRole("heading", { name: /^Rollouts of steps/ });
    assert.equal(
      await title.textContent(),
      `Rollouts of steps ${warmUp + 1} to ${warmUp + 2}  ·  ${arms[0]}, ${arms[1]}`,
    );
    const sample = rolloutsMessage(chosen.step);
    assert.ok(sample.type === "rollouts");
    const groups = sample.groups.slice(0, 2).flatMap((group) => [
      { ...group, step: warmUp + 1 },
      { ...group, step: warmUp + 2 },
    ]);
    await panel.send({ version: panelVersion, type: "brushed", id: asked!.id, groups, more: 3 });
    assert.equal(await panel.page.locator(".rollouts .square").count(), 4);
    assert.match(
      (await panel.page.locator(".rollouts").textContent())!,
      /3 more rollouts: select fewer steps/,
    );
    await panel.page.locator(".rollouts .square").nth(1).click();
    await panel.page.locator(".rollouts .group").getByRole("button", { name: "Rollout 3:" }).click();
    assert.equal((await posted(panel, "why"))[0]?.place.step, warmUp + 2, "the group of its own step");
    await panel.page.getByRole("button", { name: "Clear Selection" }).click();
    assert.match(
      (await panel.page.locator(".rollouts h2").textContent())!,
      new RegExp(`^Rollouts of step ${warmUp + 2}$`),
      "those of the cursor's step again",
    );
    assert.deepEqual(panel.faults, []);
    await panel.close();
  },
);

test(
  "a drag over the picture marks steps and arms; over all arms no name is asked for",
  { skip },
  async () => {
    const panel = await opened();
    await lanes(panel).scrollIntoViewIfNeeded();
    const box = (await lanes(panel).locator("canvas").boundingBox())!;
    const drag = async (from: readonly [number, number], to: readonly [number, number]): Promise<void> => {
      await panel.page.mouse.move(box.x + from[0] * box.width, box.y + from[1]);
      await panel.page.mouse.down();
      await panel.page.mouse.move(box.x + to[0] * box.width, box.y + to[1], { steps: 4 });
      await panel.page.mouse.up();
    };
    await drag([0.25, 25], [0.5, 30]);
    await drag([0.1, 25], [0.9, 70]);
    const [one, all] = (await posted(panel, "brush")).map(({ brush }) => brush);
    assert.equal(one?.names.length, 1);
    assert.ok(
      Math.abs(one.from - (warmUp + 21)) <= 1 && Math.abs(one.to - (warmUp + 42)) <= 1,
      JSON.stringify(one),
    );
    assert.deepEqual(all?.names, []);
    await slider(panel).focus();
    await panel.page.keyboard.press("Escape");
    assert.equal(await panel.page.getByRole("button", { name: "Clear Selection" }).isVisible(), false);
    await panel.close();
  },
);

test(
  "arms that are tasks are in families; a family opens into them, with parent and author",
  { skip },
  async () => {
    const panel = await rig.open();
    await panel.send(show(last));
    await answer(panel, "single");
    assert.equal(await lanes(panel).locator(".label").count(), arms.length);
    await lanes(panel)
      .getByRole("button", { name: new RegExp(`^${arms[2]}`) })
      .click();
    const { by, family } = (await posted(panel, "curriculum")).at(-1)!.view;
    assert.deepEqual({ by, family }, { by: "arm", family: arms[2] });
    await answer(panel, "single");
    assert.match((await lanes(panel).textContent())!, new RegExp(`Arms of ${arms[2]}`));
    assert.equal(await lanes(panel).locator(".label").count(), 7);
    const origin = lanes(panel).locator(".label .origin");
    assert.deepEqual(await origin.allTextContents(), [`program ‹ ${arms[2]} 5`]);
    await lanes(panel).getByRole("button", { name: "Curriculum as a table" }).click();
    const row = lanes(panel).locator("tbody tr", { hasText: "program (simplify)" });
    assert.match((await row.textContent())!, new RegExp(`${arms[2]} 5program \\(simplify\\)30\\d1 of 4$`));
    await lanes(panel).getByRole("button", { name: "Curriculum as a table" }).click();
    await lanes(panel).getByRole("button", { name: "‹ All Families" }).click();
    assert.equal((await posted(panel, "curriculum")).at(-1)?.view.by, "auto");
    assert.deepEqual(panel.faults, []);
    await panel.close();
  },
);

test(
  "what is opened, marked and explained is there again after the window was loaded again",
  { skip },
  async () => {
    const panel = await opened();
    await lanes(panel)
      .getByRole("button", { name: new RegExp(`^${arms[1]}`) })
      .click();
    await answer(panel);
    await slider(panel).focus();
    await panel.page.keyboard.press("Home");
    await panel.page.keyboard.press("Shift+ArrowRight");
    await panel.page.keyboard.press("Enter");
    const before = (await posted(panel, "brush")).at(-1)!.brush;
    const sample = rolloutsMessage(chosen.step);
    assert.ok(sample.type === "rollouts");
    const groups = sample.groups.slice(0, 1).map((group) => ({ ...group, step: before.from }));
    const answerBrush = async (): Promise<void> => {
      const { id } = (await posted(panel, "brush")).at(-1)!;
      await panel.send({ version: panelVersion, type: "brushed", id, groups, more: 0 });
    };
    await answerBrush();
    await panel.page.locator(".rollouts .chip").first().click();
    const place = (await posted(panel, "why"))[0]!.place;
    await panel.page.reload();
    await panel.send(show(last));
    assert.deepEqual(
      (await posted(panel, "brush")).map(({ brush }) => brush),
      [before],
    );
    assert.equal((await posted(panel, "curriculum")).at(-1)?.view.arm, arms[1]);
    await answer(panel);
    await answerBrush();
    assert.deepEqual((await posted(panel, "why"))[0]?.place, place);
    await lanes(panel).screenshot({ path: join(screenshots, "lanes-again.png") });
    await panel.page.getByRole("button", { name: "Clear Selection" }).click();
    await panel.page.reload();
    await panel.send(show(last));
    assert.deepEqual(await posted(panel, "brush"), [], "what was cleared stays so");
    assert.deepEqual(panel.faults, []);
    await panel.close();
  },
);

test(
  "the end of a stage is moved by keys and by dragging; what it would mean is said first",
  { skip },
  async () => {
    const panel = await opened();
    await panel.page.getByRole("button", { name: "Whole Run" }).click();
    await answer(panel);
    const handle = lanes(panel).getByRole("slider", { name: /^End of stage warm-up/ });
    await handle.focus();
    await panel.page.keyboard.press("ArrowRight");
    await panel.page.keyboard.press("Shift+ArrowLeft");
    assert.equal(await lanes(panel).locator(".cell").textContent(), "warm-up: 291 steps, was 300");
    assert.deepEqual(await posted(panel, "moveStage"), []);
    await panel.page.keyboard.press("Escape");
    await panel.page.keyboard.press("Enter");
    assert.deepEqual(await posted(panel, "moveStage"), [], "where it was, nothing is asked");
    const [box, field] = [
      (await handle.boundingBox())!,
      (await lanes(panel).locator("canvas").boundingBox())!,
    ];
    await panel.page.mouse.move(box.x + box.width / 2, box.y + 6);
    await panel.page.mouse.down();
    await panel.page.mouse.move(field.x + field.width / 2, box.y + 6, { steps: 5 });
    await panel.page.mouse.up();
    const [moved] = await posted(panel, "moveStage");
    assert.ok(
      moved?.stage === "warm-up" && moved.was === 300 && Math.abs(moved.steps - 193) <= 2,
      JSON.stringify(moved),
    );
    assert.equal(await handle.getAttribute("aria-valuenow"), "300", "the run keeps its boundary");
    assert.deepEqual(await posted(panel, "brush"), [], "a handle is no brush");
    await lanes(panel).screenshot({ path: join(screenshots, "lanes-boundary.png") });
    assert.deepEqual(panel.faults, []);
    await panel.close();
  },
);

test("the lanes as a table", { skip }, async () => {
  const panel = await opened();
  await lanes(panel).getByRole("button", { name: "Curriculum as a table" }).click();
  const cells = await lanes(panel).locator("tbody tr").first().locator("th, td").allTextContents();
  assert.equal(cells[0], arms[0]);
  assert.equal(cells[1], "340");
  await panel.close();
});

const looks = themes.flatMap(({ name }) => [
  { name, size: "wide", width: 1100, scale: 1 },
  { name, size: "narrow", width: 300, scale: 2 },
]);
for (const { name, size, width, scale } of some(looks, 2))
  test(`curriculum, ${name}, ${size}`, { skip }, async () => {
    const panel = await opened({ theme: name, width, scale });
    await slider(panel).focus();
    await panel.page.keyboard.press("Shift+ArrowLeft");
    await panel.page.keyboard.press("Enter");
    await lanes(panel).screenshot({ path: join(screenshots, `lanes-${name}-${size}.png`) });
    await answer(panel, "single");
    await lanes(panel)
      .getByRole("button", { name: new RegExp(`^${arms[2]}`) })
      .click();
    await answer(panel, "single");
    await lanes(panel).screenshot({ path: join(screenshots, `lanes-made-${name}-${size}.png`) });
    if (size === "wide")
      await panel.page.screenshot({ path: join(screenshots, `curriculum-${name}.png`), fullPage: true });
    const overflow = await panel.page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    assert.equal(overflow, false, "nothing sticks out at the side");
    assert.deepEqual(panel.faults, []);
    await panel.close();
  });
