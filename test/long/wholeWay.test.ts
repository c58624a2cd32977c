/**
 * The whole way of a person whose run went wrong: what its config's line says, the verdict, the rollouts, why one was
 * reinforced, the fix, a fork from before it went wrong, and both runs next to each other. The run that went wrong is
 * recorded, with a checkpoint that a real worker made; the fork trains.
 */
import assert from "node:assert/strict";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { rewardHash } from "../../server/methods/reward/own/fileHash.ts";
import { runFolder } from "../../server/store/files.ts";
import { Editor } from "../pictures/editor.ts";
import { writeCollapsedRun, writeStarter } from "../support/collapsedRun.ts";
import { projectWindow, type ProjectWindow } from "../support/projectWindow.ts";
import { recordRun } from "../support/storedRun.ts";
import { until, webviewOf, withoutWorkbench, type Workbench } from "../support/workbench.ts";

const skip = withoutWorkbench();
const config = "starter.gradus.yaml";
/** The run goes wrong from step 20 on. */
const good = 19;
let opened: ProjectWindow | undefined;
let project: string;
let workbench: Workbench;
let page: Page;
let editor: Editor;

/** The recorded run, with a checkpoint of its config from before it went wrong. */
async function writeStory(folder: string, beside: string): Promise<void> {
  const [file, store, made] = [join(folder, config), join(folder, ".gradus"), join(beside, "made")];
  writeStarter(file);
  const run = writeCollapsedRun(store, file, {
    bundles: { brevity: await rewardHash(join(folder, "brevity.ts"), "brevity") },
    checkpoint: good,
  });
  await recordRun(made, file, [
    `steps=${good + 1}`,
    "rollout.prompts=1",
    "rollout.group=2",
    "evaluation.prompts=2",
  ]);
  cpSync(join(runFolder(made, "one"), "checkpoints"), join(runFolder(store, run), "checkpoints"), {
    recursive: true,
  });
}

before(async () => {
  if (skip !== false) return;
  opened = await projectWindow(writeStory);
  ({ workbench, project } = opened);
  page = workbench.page;
  editor = new Editor(workbench);
});
after(() => opened?.end());

const panel = () => webviewOf(page);
const heading = (name: string | RegExp): Locator => panel().getByRole("heading", { name });
const onDisk = (): string => readFileSync(join(project, config), "utf8");

test("the config says what its last run came to, and leads to the verdict", { skip }, async () => {
  await editor.seen(page.getByRole("treeitem", { name: config }));
  await editor.open(config);
  const lens = page.locator(".codelens-decoration a", { hasText: /collapsed/i });
  await editor.seen(lens);
  await editor.seen(page.locator(".squiggly-warning"));
  await lens.first().click();
  await editor.seen(heading(/^Collapsed at step \d+ because of brevity/));
  await workbench.screenshot("whole-way-1-verdict");
});

test("a rollout that the verdict names is shown, and why it was reinforced", { skip }, async () => {
  await panel()
    .getByRole("button", { name: /^#\d+ of step [\d,]+: / })
    .first()
    .click();
  const why = panel().getByRole("article", { name: "Why this advantage" });
  await editor.seen(why.locator("table").first());
  assert.match((await why.textContent()) ?? "", /brevity/);
  await workbench.screenshot("whole-way-2-why");
  await panel().getByRole("button", { name: "Open as Document" }).click();
  await editor.seen(page.getByRole("tab", { name: /^starter · step \d+/ }));
  await editor.seen(page.locator(".view-line", { hasText: /advantage/ }));
  await editor.command("View: Close Editor");
});

test(
  "the verdict's quick fix changes the config, and the editor says what that would have changed",
  { skip },
  async () => {
    await editor.open(config);
    // Its line has a warning from before any run, too; a person goes on to the verdict.
    await until(async () => {
      await editor.keys("F8");
      return page.locator(".marker-widget", { hasText: /Collapsed/ }).isVisible();
    }, "the verdict on its line");
    await editor.actions();
    await workbench.screenshot("whole-way-3-fixes");
    await editor.choose(/^Reward brevity only where correct is/);
    await editor.seen(page.locator(".view-line span", { hasText: /flipped|no\slonger/ }).last());
    await workbench.screenshot("whole-way-4-edit");
    await editor.keys("Escape", "Escape", "Control+s");
    await until(() => /combine: "?product/.test(onDisk()), "the changed config on disk");
  },
);

/** A test of the reward that fails, while the window is open: the workbench out of npm cannot search for files. */
async function pinTest(): Promise<void> {
  const pinned = {
    task: { env: "countdown", data: { numbers: [7, 5, 2], target: 33 } },
    prompt: "7 5 2=33:",
    response: "7*5-2",
    expect: { term: "brevity", at_least: 1 },
  };
  writeFileSync(join(project, "brevity.reward.test.jsonl"), `${JSON.stringify(pinned)}\n`);
  await editor.seen(page.getByRole("tab", { name: /^Testing/ }));
}

test(
  "a fork from the step before asks about a failing test, and trains by the changed config",
  { skip },
  async () => {
    await pinTest();
    await page.getByRole("tab", { name: /^starter(,|$)/ }).click();
    await panel()
      .getByRole("button", { name: /^Fork (Run|from Step)/ })
      .click();
    await editor.seen(page.locator(".editor.modified .view-line"));
    await workbench.screenshot("whole-way-5-fork");
    await page.locator(".monaco-button", { hasText: "Launch Fork" }).click();
    await (
      await editor.seen(page.locator(".monaco-dialog-box .monaco-button", { hasText: "Run Anyway" }))
    ).click();
    const state = panel().getByRole("status").first();
    await until(
      async () => /^(Starting|Running|Finished)$/.test((await state.textContent()) ?? ""),
      "the fork",
    );
    await editor.seen(panel().getByText(/^stage rl {2}· {2}step (2[3-9]|[3-6]\d) of 60/));
    await workbench.screenshot("whole-way-6-forked");
  },
);

test("the fork is compared with the run that it comes from", { skip }, async () => {
  const before = panel().getByRole("button", { name: /combine/ });
  await editor.seen(before);
  await before.click();
  await editor.seen(heading(/^Comparing 2 runs in 2 groups/));
  const text = (await panel().locator("body").textContent()) ?? "";
  assert.match(text, /reward\.combine/);
  await editor.seen(panel().locator("canvas").first());
  await workbench.screenshot("whole-way-7-compared");
});

/** Groups are drawn, so that the second expectation cannot hold. */
const curriculumTests = `tests:
  - { name: draws something, steps: 5, expect: [{ metric: groups/drawn, at_least: 1 }] }
  - { name: draws nothing, steps: 5, expect: [{ metric: groups/drawn, at_most: 0 }] }
`;

test(
  "tests of the curriculum are in the Test Explorer, and the one that fails is red",
  { skip },
  async () => {
    await editor.command("Testing: Focus on Test Explorer View");
    writeFileSync(join(project, "starter.curriculum.test.yaml"), curriculumTests);
    const row = (text: string): Locator =>
      page.locator(".test-explorer .monaco-list-row", { hasText: text }).last();
    await editor.seen(row("starter"));
    await editor.command("Test: Run All Tests");
    await (await editor.seen(row("starter"))).click();
    await editor.keys("ArrowRight");
    await editor.seen(row("draws something").locator(".codicon-testing-passed-icon"));
    await editor.seen(row("draws nothing").locator(".codicon-testing-failed-icon"));
    await workbench.screenshot("whole-way-8-curriculum-tests");
  },
);

test("the fork is stopped, and nothing went wrong in the page", { skip }, async () => {
  await editor.command("Gradus: Stop Run Now");
  await editor.command("Gradus: Stop Daemon");
  assert.deepEqual(
    workbench.pageErrors.filter((error) => /gradus|runPanel|comparePanel/i.test(error)),
    [],
  );
});
