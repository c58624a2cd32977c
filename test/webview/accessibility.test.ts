/** Every panel under the checks of WCAG 2.1 A and AA, by keyboard alone, in four themes, zoomed and narrow. */
import axe, { type AxeResults, type RunOptions } from "axe-core";
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { judgeVersion } from "../../shared/editor/judgePanel.ts";
import { panelVersion } from "../../shared/editor/runPanel.ts";
import { contrast } from "../../webviews/shared/color.ts";
import { comparison, tasks } from "./fakeComparison.ts";
import { curriculumMessage } from "./fakeCurriculum.ts";
import { chosen, rolloutsMessage, whyMessage } from "./fakeRollouts.ts";
import { drawn, report } from "./fakeJudge.ts";
import { failedRun } from "./fakeFailures.ts";
import { show, verdict } from "./fakeRun.ts";
import { count } from "../support/thorough.ts";
import { changeTheme, launch, settle, skip, type OpenOptions, type Panel, type Rig } from "./harness.ts";
import { themes } from "./themes.ts";

let run: Rig;
let compare: Rig;
let judge: Rig;
before(async () => {
  if (skip !== false) return;
  run = await launch("run");
  compare = await launch("compare", run.browser);
  judge = await launch("judge", run.browser);
});
after(async () => {
  await judge?.close();
  await compare?.close();
  await run?.close();
});

/** A run with everything that its panel can show: verdict, curriculum, an explained rollout, metrics, a table. */
async function openRun(options: OpenOptions): Promise<Panel> {
  const panel = await run.open(options);
  const { page } = panel;
  await panel.send({ ...show(chosen.step), verdict });
  const asked = (await panel.posted()).find((message) => message.type === "curriculum");
  assert.ok(asked?.type === "curriculum");
  await panel.send(curriculumMessage(asked.id, asked.view));
  await panel.send(rolloutsMessage(chosen.step));
  await page
    .locator(".square")
    .and(page.getByRole("button", { name: chosen.group }))
    .click();
  await page
    .locator(".rollouts")
    .getByRole("button", { name: `Rollout ${chosen.index}: ` })
    .click();
  await panel.send(whyMessage(chosen));
  await page.getByRole("button", { name: "All Metrics" }).click();
  await panel.send({ version: panelVersion, type: "names", names: ["policy/entropy", "memory/rss"] });
  await page.locator(".metric").first().click();
  await page.getByRole("button", { name: "Response length as a table" }).click();
  return panel;
}
async function openCompare(options: OpenOptions): Promise<Panel> {
  const panel = await compare.open(options);
  await panel.send(comparison);
  await panel.send(tasks);
  return panel;
}

/** Rewards that failed in a run that has ended without training, and a daemon that has gone. */
async function openFailed(options: OpenOptions): Promise<Panel> {
  const panel = await run.open(options);
  await panel.send(failedRun(3));
  await panel.send({
    version: panelVersion,
    type: "link",
    link: { state: "failed", message: "It has gone." },
  });
  return panel;
}
async function openLabels(options: OpenOptions): Promise<Panel> {
  const panel = await judge.open(options);
  await panel.send(drawn());
  return panel;
}
async function openJudged(options: OpenOptions): Promise<Panel> {
  const panel = await openLabels(options);
  await panel.send({ ...drawn(20), rollouts: [] });
  await panel.send({ version: judgeVersion, type: "report", report });
  return panel;
}
const panels = {
  "the run panel": openRun,
  "a run that failed": openFailed,
  "the page that compares": openCompare,
  "labels for a judge": openLabels,
  "what a judge is worth": openJudged,
} as const;

const rules = {
  runOnly: { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] },
  resultTypes: ["violations"],
} satisfies RunOptions;
/** What breaks a rule of WCAG 2.1 A or AA, and where. */
async function violations(page: Page): Promise<readonly string[]> {
  const found = await page.evaluate(
    (options) =>
      (globalThis as unknown as { axe: { run(options: RunOptions): Promise<AxeResults> } }).axe.run(options),
    rules,
  );
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}: ${failureSummary}`),
  );
}
/** What is wider than the page, itself or what it holds. */
const sticksOut = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() =>
    document.documentElement.scrollWidth <= window.innerWidth
      ? []
      : [...document.querySelectorAll("body *")]
          .filter((node) => node.getBoundingClientRect().right > window.innerWidth)
          .map((node) => node.outerHTML.slice(0, 120)),
  );

interface Stop {
  readonly what: string;
  /** Width of the outline, and its contrast with the page. */
  readonly outline: number;
  readonly colour: string;
  readonly page: string;
}
/** Runs in the page: what has the focus, and how that is seen. */
function focused(): Stop | null {
  const node = document.activeElement;
  if (node === null || node === document.body) return null;
  node.setAttribute("data-stopped", "");
  const style = getComputedStyle(node);
  return {
    what: node.outerHTML.slice(0, 160),
    outline: style.outlineStyle === "none" ? 0 : Number.parseFloat(style.outlineWidth),
    colour: style.outlineColor,
    page: getComputedStyle(document.body).backgroundColor,
  };
}
/** Runs in the page: what looks as if it could be used, and no key leads to it. */
function unreached(): string[] {
  // A heading takes the focus when what is below it changes, and is not used.
  const usable = "button, select, input, a, [role=slider], [tabindex]:not(h2), [data-tip]";
  const pointers = ["pointer", "crosshair", "help", "ew-resize"];
  const isShown = (node: Element): boolean => node.checkVisibility() && node.getClientRects().length > 0;
  const inReach = (node: Element): boolean => {
    if (node.closest("[data-stopped]") !== null || node.matches(":disabled, [tabindex='-1'].why"))
      return true;
    // One of a row of buttons has the stop, and arrow keys lead to the others.
    const group = node.closest("[role=group], [role=slider]");
    return group?.querySelector("[data-stopped]") != null && node.getAttribute("tabindex") === "-1";
  };
  return [...document.querySelectorAll("body *")]
    .filter((node) => node.matches(usable) || pointers.includes(getComputedStyle(node).cursor))
    .filter((node) => isShown(node) && !inReach(node.closest(usable) ?? node))
    .map((node) => node.outerHTML.slice(0, 160));
}

/** Names of charts: first, last, lowest and highest, and over what. */
const summary = / over .*from .* (at|in) steps? .* to .*, lowest .*, highest .*\.$/;

async function checkNames({ page }: Panel): Promise<void> {
  const names = await page
    .getByRole("slider")
    .filter({ has: page.locator("canvas") })
    .evaluateAll((charts) => charts.map((chart) => chart.ariaLabel ?? ""));
  for (const name of names) assert.match(name, summary);
}

async function checkKeyboard({ page }: Panel): Promise<void> {
  const stops: Stop[] = [];
  // From where the page was clicked to its end, and once more from its beginning.
  for (let ends = 0; ends < 2;) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate(focused);
    if (stop === null) ends++;
    else stops.push(stop);
    assert.ok(stops.length < 300, "the focus never leaves the page");
  }
  const unseen = stops.filter(
    ({ outline, colour, page: around }) => outline < 1 || contrast(colour, around) < 3,
  );
  assert.deepEqual(unseen, [], "the focus is seen");
  assert.deepEqual(await page.evaluate(unreached), [], "no key leads there");
}

/** Lines of charts that do not stand out from the page, which the rules say nothing of. */
async function faintLines(page: Page): Promise<readonly string[]> {
  const [around, strokes] = await page.evaluate(
    () =>
      [
        getComputedStyle(document.body).backgroundColor,
        [...document.querySelectorAll(".legend line")].map((line) => line.getAttribute("stroke") ?? ""),
      ] as const,
  );
  return strokes.filter((stroke) => contrast(stroke, around) < 3);
}

/** A window, the same window zoomed to 200 %, and a narrow side bar. */
const widths = [1200, 600, 300];
async function checkLooks(panel: Panel): Promise<void> {
  const { page } = panel;
  await page.evaluate(axe.source);
  for (const [i, theme] of themes.entries()) {
    await changeTheme(panel, theme.name);
    assert.deepEqual(await faintLines(page), [], theme.name);
    for (const [j, width] of [...widths.slice(i % 3), ...widths.slice(0, i % 3)].entries()) {
      await page.setViewportSize({ width, height: 900 });
      await settle(page);
      assert.deepEqual(await sticksOut(page), [], `${theme.name}, ${width} pixels`);
      if (j < count(1, widths.length))
        assert.deepEqual(await violations(page), [], `${theme.name}, ${width} pixels`);
    }
  }
}

for (const [name, open] of Object.entries(panels))
  test(
    `${name}: rules of WCAG 2.1 AA hold, keys reach everything, charts are put into words`,
    { skip },
    async () => {
      const panel = await open({ width: widths[0]! });
      if ((await panel.page.locator("canvas").count()) > 0) await checkNames(panel);
      await checkKeyboard(panel);
      await checkLooks(panel);
      assert.deepEqual(panel.faults, []);
      await panel.close();
    },
  );
