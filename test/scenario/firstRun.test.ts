/**
 * A person's path through the editor: a broken config, its fix, ▶ Run, the chart moves, rollouts of a step, a reload
 * without a gap, stop from the side bar. Pictures of the panel in a real editor in three themes.
 */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import {
  runCommand,
  startWorkbench,
  until,
  webviewOf,
  withoutWorkbench,
  type Workbench,
} from "../support/workbench.ts";

const skip = withoutWorkbench();
let workbench: Workbench;
let runtime: string;
let page: Page;

before(async () => {
  if (skip !== false) return;
  runtime = mkdtempSync(join(tmpdir(), "gradus-s-"));
  workbench = await startWorkbench({
    open: "test/fixtures/workbench/single",
    extensionDevelopmentPath: process.cwd(),
    viewport: { width: 1440, height: 900 },
    // The daemon ends by itself once the window is gone and the run has ended.
    env: { XDG_RUNTIME_DIR: runtime, GRADUS_IDLE_MS: "1500" },
  });
  page = workbench.page;
});
after(async () => {
  await workbench?.stop();
  if (runtime !== undefined) rmSync(runtime, { recursive: true, force: true });
});

const file = (): string => join(workbench.folder!, "tiny.gradus.yaml");
const panel = () => webviewOf(page);
const plot = (id: string): Locator => panel().locator(`[data-chart="${id}"]`).getByRole("slider");
const lens = (text: RegExp): Locator => page.locator(".codelens-decoration a", { hasText: text });
const lastStep = async (): Promise<number> =>
  Number((await plot("entropy").getAttribute("aria-valuemax")) ?? -1);
const shown = (locator: Locator, what: string): Promise<true> =>
  until(async () => (await locator.count()) > 0 && (await locator.first().isVisible()), what);

/** For a failure: which tabs are open, what the editor says, and where the keyboard and the chart's cursor are. */
async function whatIsThere(): Promise<string> {
  await workbench.screenshot("scenario-failure");
  const place = await panel()
    .locator(":focus")
    .first()
    .getAttribute("aria-label", { timeout: 1_000 })
    .catch(String);
  return JSON.stringify({
    tabs: await page.getByRole("tab").allTextContents(),
    notifications: await page.locator(".notification-list-item-message").allTextContents(),
    focus: [
      await page.locator(":focus").first().getAttribute("class", { timeout: 1_000 }).catch(String),
      place,
    ],
    cursor: await plot("reward").getAttribute("aria-valuenow"),
    newest: await plot("reward").getAttribute("aria-valuemax"),
  });
}

async function theme(name: string): Promise<void> {
  const folder = join(workbench.folder!, ".vscode");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "settings.json"), JSON.stringify({ "workbench.colorTheme": name }));
}

test("a broken config is underlined, and its fix removes it", { skip }, async () => {
  // Larger steps: on any machine the run is still far from 2,000 points, beyond which a curve comes reduced.
  const text = readFileSync(file(), "utf8").replace("prompts: 4, group: 4", "prompts: 16, group: 8");
  writeFileSync(file(), text.replace("use: exact_match", "use: exact_mach"));
  await page.getByRole("treeitem", { name: "tiny.gradus.yaml" }).dblclick();
  await shown(page.locator(".squiggly-error"), "the squiggle");
  await workbench.screenshot("scenario-1-squiggle");
  await page.locator(".monaco-editor .view-lines").click();
  await page.keyboard.press("F8");
  await page.keyboard.press("Control+.");
  await shown(page.locator(".action-widget"), "the quick fixes");
  await page.keyboard.press("Enter");
  await until(async () => (await page.locator(".squiggly-error").count()) === 0, "the squiggle to go");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+s");
  await until(() => readFileSync(file(), "utf8").includes("use: exact_match"), "the mended file on disk");
});

test("▶ Run opens the panel, and its chart moves", { skip }, async () => {
  await shown(lens(/Run/), "the lens above the config");
  await lens(/Run/).first().click();
  await shown(panel().getByRole("heading", { level: 1, name: "tiny" }), "the run's panel");
  await shown(plot("entropy"), "the first training step");
  const before = await lastStep();
  await until(async () => (await lastStep()) >= before + 3, "three more points");
  assert.match((await panel().getByRole("status").first().textContent())!, /Running/);
  await workbench.screenshot("scenario-2-running");
});

test("Enter on a point opens the rollouts of its step", { skip }, async () => {
  await plot("reward").focus();
  await page.keyboard.press("ArrowLeft");
  const step = await plot("reward").getAttribute("aria-valuenow");
  await page.keyboard.press("Enter");
  const tab = page.getByRole("tab", { name: `tiny · step ${step}` });
  await shown(tab, "the rollouts' tab").catch(async (error: unknown) => {
    throw new Error(await whatIsThere(), { cause: error });
  });
  await shown(page.locator(".view-line", { hasText: /in\straining|left\sout/ }), "the groups");
  await workbench.screenshot("scenario-3-rollouts");
  await page.keyboard.press("Control+w");
});

test("after a reload the run is still going, and its curve has no gap", { skip }, async () => {
  const before = await lastStep();
  // The command, not the page's own reload, which does not wait until the editor has written down what is open.
  await runCommand(page, "Developer: Reload Window");
  await page.waitForEvent("load");
  await shown(plot("entropy"), "the restored panel");
  await until(async () => (await lastStep()) >= before + 3, "steps after the reload");
  await panel().locator(`[data-chart="entropy"]`).getByRole("button", { name: "Entropy as a table" }).click();
  const steps = (await panel().locator(`[data-chart="entropy"] tbody th`).allTextContents()).map(Number);
  assert.deepEqual(
    steps,
    Array.from({ length: steps.length }, (_, i) => steps[0]! - i),
  );
  // The table lists the newest 400 steps; training begins after six steps of warm-up.
  assert.equal(steps.at(-1), Math.max(6, steps[0]! - 399), "from the first step of training on");
  assert.ok(steps[0]! >= before + 3);
  await panel().locator(`[data-chart="entropy"]`).getByRole("button", { name: "Entropy as a table" }).click();
});

test("the panel follows the theme", { skip }, async () => {
  await page.keyboard.press("Control+b");
  await panel()
    .locator("body")
    .evaluate(() => scrollTo(0, 0));
  for (const [name, title] of [
    ["light", "Default Light Modern"],
    ["high-contrast", "Default High Contrast"],
    ["dark", "Default Dark Modern"],
  ] as const) {
    const kind = name === "light" ? "vscode-light" : name === "dark" ? "vscode-dark" : "vscode-high-contrast";
    await theme(title);
    await until(
      async () => ((await panel().locator("body").getAttribute("class")) ?? "").split(" ").includes(kind),
      `the theme ${title}`,
    );
    await workbench.screenshot(`scenario-panel-${name}`);
  }
  await page.keyboard.press("Control+b");
});

test("the run is stopped from the side bar", { skip }, async () => {
  await page.getByRole("tab", { name: "Gradus" }).first().click();
  const row = page.getByRole("treeitem", { name: /^tiny, running/ });
  await shown(row, "the run in the side bar");
  await row.hover();
  await workbench.screenshot("scenario-4-side-bar");
  const stopped = page.getByRole("treeitem", { name: /^tiny, (stopping|stopped)/ });
  // Each step of the run draws the row again: a click may fall between two of its buttons' lives.
  await until(async () => {
    if (await stopped.isVisible()) return true;
    const stop = row.getByRole("button", { name: "Stop Run" });
    await stop.click({ timeout: 5_000 }).catch(() => undefined);
    return stopped.waitFor({ timeout: 5_000 }).then(
      () => true,
      () => false,
    );
  }, "the run to take the stop");
  await shown(page.getByRole("treeitem", { name: /^tiny, stopped/ }), "the stopped run");
  await until(
    async () => /Stopped/.test((await panel().getByRole("status").first().textContent()) ?? ""),
    "the panel to say so",
  );
  await workbench.screenshot("scenario-5-stopped");
});

test("nothing is left behind, and nothing went wrong in the page", { skip }, async () => {
  await runCommand(page, "Gradus: Stop Daemon");
  await until(
    async () =>
      (await page.getByText("The daemon is stopped").count()) > 0 ||
      (await page.getByRole("treeitem", { name: /^tiny, stopped/ }).count()) > 0,
    "the view without a daemon",
  );
  assert.deepEqual(
    workbench.pageErrors.filter((error) => /gradus|runPanel/i.test(error)),
    [],
  );
});
