/**
 * Two things a person does after a run: every combination of a config's sweep, and a stage that practises what another run forgot.
 * The sweep trains; the run that forgot is recorded.
 */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { Editor } from "../pictures/editor.ts";
import { writeForgetfulRun } from "../support/forgetfulRun.ts";
import { projectWindow, type ProjectWindow } from "../support/projectWindow.ts";
import { webviewOf, withoutWorkbench, type Workbench } from "../support/workbench.ts";

const skip = withoutWorkbench();
const [swept, forgetful] = ["swept.gradus.yaml", "forgetful.gradus.yaml"];
const sweep = `name: swept
model: { base: tiny, width: 32, layers: 1, heads: 2, hidden: 64, context: 48 }
tasks: [{ env: reverse_text, lengths: [3] }]
reward: { terms: { correct: { use: exact_match, weight: 1 } } }
rollout: { prompts: 2, group: 2, max_tokens: 4 }
steps: 4
evaluation: { every: 2, prompts: 4, pass_at: [1] }
sweep:
  parameters:
    update.optimizer.lr: { values: [1.0e-3, 1.0e-4] }
`;
let opened: ProjectWindow | undefined;
let workbench: Workbench;
let page: Page;
let editor: Editor;

before(async () => {
  if (skip !== false) return;
  opened = await projectWindow((project) => {
    writeFileSync(join(project, swept), sweep);
    writeForgetfulRun(join(project, ".gradus"), join(project, forgetful));
  });
  workbench = opened.workbench;
  page = workbench.page;
  editor = new Editor(workbench);
});
after(() => opened?.end());

const panel = () => webviewOf(page);
const lens = (text: RegExp): Locator => page.locator(".codelens-decoration a", { hasText: text }).first();

test(
  "a sweep runs from the lens above its config, and its runs are compared from the next",
  { skip },
  async () => {
    await editor.seen(page.getByRole("treeitem", { name: swept }));
    await editor.open(swept);
    await (await editor.seen(lens(/^Run Sweep$/))).click();
    await editor.seen(lens(/^Last run: /));
    await workbench.screenshot("sweep-1-terminal");
    await lens(/^Compare Sweep$/).click();
    await editor.seen(panel().getByRole("heading", { name: /^Comparing 2 runs/ }));
    // The second run may not have started yet: until then the page says so, and then follows it.
    await editor.seen(panel().locator(".groups", { hasText: /lr 0\.001[^]*lr 1e-4/ }));
    await workbench.screenshot("sweep-2-compared");
  },
);

test("what a run forgot is compared, and practised by a stage that the editor shows", { skip }, async () => {
  await editor.open(forgetful);
  await (await editor.seen(lens(/^Last run: /))).click();
  await editor.seen(panel().getByRole("heading", { name: "8 held-out tasks forgotten" }));
  await panel()
    .getByRole("button", { name: /^Compare the answers to / })
    .first()
    .click();
  await editor.seen(page.getByRole("tab", { name: /right after step 20 ↔ wrong after step 30/ }));
  await workbench.screenshot("review-1-answers");
  await panel().getByRole("button", { name: "Review These" }).click();
  await editor.seen(page.locator(".view-line", { hasText: "review" }));
  await editor.seen(page.locator(".notification-list-item", { hasText: /Run the config, or fork this run/ }));
  await workbench.screenshot("review-2-stage");
  assert.deepEqual(
    workbench.pageErrors.filter((error) => /gradus|runPanel|comparePanel/i.test(error)),
    [],
  );
});
