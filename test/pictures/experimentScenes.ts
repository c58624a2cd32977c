/** Pictures of runs as experiments. */
import type { Editor } from "./editor.ts";
import type { Scene } from "./scene.ts";

const showRuns = async (editor: Editor): Promise<void> => {
  await editor.command("Gradus: Focus on Runs View");
  // Only the latest families are open.
  const family = await editor.seen(editor.page.getByRole("treeitem", { name: /^sums, 8 runs/ }));
  if ((await family.getAttribute("aria-expanded")) === "false") await family.click();
  await editor.seen(editor.page.getByRole("treeitem", { name: /lr 3e-6, finished|, lr 3e-6/ }));
};
const compare = async (editor: Editor): Promise<void> => {
  await showRuns(editor);
  await editor.page.getByRole("treeitem", { name: /^sums, 8 runs/ }).click({ button: "right" });
  await (await editor.seen(editor.page.getByRole("menuitem", { name: "Compare Runs" }))).hover();
  await editor.keys("Enter");
  await editor.page.mouse.move(720, 880);
  await editor.seen(editor.panel.getByRole("heading", { level: 1, name: /8 runs in/ }));
  await editor.seen(editor.panel.locator("table.tasks"));
};
/** Two hundred runs. */
const showMany = async (editor: Editor): Promise<void> => {
  await editor.command("Gradus: Focus on Runs View");
  await editor.command("Gradus: Clear Filter of Runs");
  await editor.seen(editor.page.getByRole("treeitem", { name: /^sums, 120 runs/ }));
};
const many: readonly Scene[] = [
  { name: "many-tree", workspace: "many", play: showMany },
  {
    name: "many-compare",
    workspace: "many",
    play: async (editor) => {
      await showMany(editor);
      await editor.page.getByRole("treeitem", { name: /^sums, 120 runs/ }).click({ button: "right" });
      await (await editor.seen(editor.page.getByRole("menuitem", { name: "Compare Runs" }))).hover();
      await editor.keys("Enter");
      await editor.page.mouse.move(720, 880);
      await editor.seen(editor.panel.getByRole("heading", { level: 1, name: /120 runs in/ }));
      await editor.seen(editor.panel.locator("table.tasks"));
    },
  },
  {
    name: "many-filter",
    workspace: "many",
    play: async (editor) => {
      await showMany(editor);
      await editor.command("Gradus: Filter Runs…");
      await editor.seen(".quick-input-widget input");
      await editor.type("reward/mean@last > 0.35 and seed <= 3");
      await editor.seen(editor.page.locator(".quick-input-message", { hasText: "of" }));
      await editor.keys("Enter");
      await editor.page.locator(".quick-input-widget").waitFor({ state: "hidden" });
    },
  },
];
export const experiments: readonly Scene[] = [
  ...many,
  { name: "experiments-tree", play: showRuns },
  {
    name: "experiments-filter",
    play: async (editor) => {
      await showRuns(editor);
      await editor.command("Gradus: Filter Runs…");
      await editor.type("reward/mean@last > 0.3 and seed ==");
      await editor.seen(
        editor.page.locator(".quick-input-message", {
          hasText: "end of the expression",
        }),
      );
    },
  },
  {
    name: "experiments-compare",
    play: async (editor) => {
      await compare(editor);
      await editor.page.mouse.move(720, 880);
    },
  },
  {
    name: "experiments-charts",
    play: async (editor) => {
      await compare(editor);
      await (await editor.seen(editor.panel.locator(".u-over"))).hover();
    },
  },
  {
    name: "experiments-tasks",
    play: async (editor) => {
      await compare(editor);
      await (await editor.seen(editor.panel.locator("table.tasks"))).hover();
    },
  },
  {
    name: "experiments-fork",
    play: async (editor) => {
      await showRuns(editor);
      await editor.command("Gradus: Fork Run…");
      await editor.type("countdown");
      await editor.keys("Enter");
      await editor.seen(
        editor.page.locator(".quick-input-list .monaco-list-row", {
          hasText: /^Step/,
        }),
      );
      await editor.keys("Enter");
      await editor.seen(editor.page.getByRole("button", { name: "Launch Fork" }));
      await editor.seen(".editor.modified .view-line");
      await editor.page.mouse.move(720, 880);
    },
  },
];
