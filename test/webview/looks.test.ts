/** Pictures of panels to be looked at, `out/screenshots/looks`: all pairs of theme, width, number of runs and of points. */
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { FromCompare } from "../../shared/editor/comparePanel.ts";
import type { CurriculumView, ToPanel } from "../../shared/editor/runPanel.ts";
import { some } from "../support/thorough.ts";
import { curriculumMessage } from "./fakeCurriculum.ts";
import { rolloutsMessage } from "./fakeRollouts.ts";
import { verdict, warmUp } from "./fakeRun.ts";
import {
  changeTheme,
  launch,
  screenshots,
  settle,
  skip,
  type OpenOptions,
  type Panel,
  type Rig,
} from "./harness.ts";
import { comparedRuns, comparedTasks, longRun, looks, nameOf, type Look } from "./looks.ts";

const folder = join(screenshots, "looks");
let run: Rig;
let compare: Rig;
before(async () => {
  if (skip !== false) return;
  run = await launch("run");
  compare = await launch("compare", run.browser);
  mkdirSync(folder, { recursive: true });
});
after(async () => {
  await compare?.close();
  await run?.close();
});

test("each two levels of theme, width, runs and points are in one of the twelve pictures", () => {
  const keys = ["theme", "width", "runs", "points"] as const;
  const levels = (key: (typeof keys)[number]) => [...new Set(looks.map((look) => look[key]))];
  assert.deepEqual(
    keys.map((key) => levels(key).length),
    [4, 3, 2, 3],
  );
  assert.equal(looks.length, 12);
  for (const [i, one] of keys.entries())
    for (const other of keys.slice(i + 1))
      for (const a of levels(one))
        for (const b of levels(other))
          assert.ok(
            looks.some((look) => look[one] === a && look[other] === b),
            `${one} ${a} with ${other} ${b}`,
          );
});

/** Pass rates by arm of a run of 100 steps: those of the run whose training begins at step 300. */
function arms(id: number, view: CurriculumView): ToPanel {
  const message = curriculumMessage(id, { ...view, from: warmUp, to: warmUp + 84 });
  return message.type === "curriculum"
    ? { ...message, overview: { ...message.overview, from: 0, to: 84 } }
    : message;
}

/** A run of as many points, with the rollouts of its last step. */
async function openRun(points: Look["points"], options: OpenOptions): Promise<Panel> {
  const panel = await run.open(options);
  const last = points - 1;
  await panel.send(longRun(points, verdict));
  const asked = (await panel.posted()).find((message) => message.type === "curriculum");
  if (points === 100 && asked?.type === "curriculum") await panel.send(arms(asked.id, asked.view));
  await panel.send(rolloutsMessage(last));
  return panel;
}
async function openCompare({ runs, points }: Look, options: OpenOptions): Promise<Panel> {
  const panel = await compare.open(options);
  await panel.send(await comparedRuns({ runs, points }));
  await panel.send(comparedTasks());
  return panel;
}

async function picture(panel: Panel, name: string): Promise<void> {
  await settle(panel.page);
  await panel.page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
  const wide = await panel.page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  assert.equal(wide, false, "nothing sticks out at the side");
  assert.deepEqual(panel.faults, []);
}

for (const [at, look] of some([...looks.entries()], 2))
  test(`pictures ${nameOf(at)}`, { skip }, async () => {
    const { theme, width, points } = look;
    const options = { theme, width, height: 900 };
    for (const [name, panel] of [
      ["run", await openRun(points, options)],
      ["compare", await openCompare(look, options)],
    ] as const) {
      await picture(panel, `${nameOf(at)}-${name}`);
      await panel.close();
    }
  });

for (const theme of some(["dark", "light"] as const, 1))
  test(
    `200 runs of different configs: the first and the best are told apart, ${theme}`,
    { skip },
    async () => {
      const panel = await compare.open({ theme, width: 1200, height: 900 });
      const { page } = panel;
      await panel.send(await comparedRuns({ runs: 200, points: 5_000, alike: false }));
      const rows = page.locator(".groups > li");
      assert.equal(await rows.count(), 9, "the first, the best, and a button");
      const legend = page.locator(".charts .legend").first();
      assert.equal(await legend.locator("li").count(), 9);
      assert.match((await legend.textContent())!, /^A sums.*187 others$/);
      const [asked] = await page.evaluate(() =>
        (globalThis as unknown as { posted: FromCompare[] }).posted.filter(({ type }) => type === "tasks"),
      );
      assert.ok(asked?.type === "tasks" && asked.other > 1, "A and the best of the others");
      await panel.send(comparedTasks(asked.other));
      await picture(panel, `200-groups-${theme}`);
      await page.getByRole("button", { name: "Show 187 More Groups" }).focus();
      await page.keyboard.press("Enter");
      assert.equal(await rows.count(), 195);
      assert.equal(await rows.nth(8).evaluate((row) => row.contains(document.activeElement)), true);
      await changeTheme(panel, "high-contrast");
      assert.equal(await rows.count(), 195, "what was unfolded stays so");
      await panel.close();
    },
  );
