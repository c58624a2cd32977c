/** Pictures of the walkthrough: a small window, so that its text can be read on half a page. */
import { configOfStory } from "./workspace.ts";
import type { Editor } from "./editor.ts";
import type { Scene } from "./scene.ts";

const config = "countdown.gradus.yaml";
const size = { width: 960, height: 600 };
const scene = (name: string, play: Scene["play"], part: Scene["part"] = "editor"): Scene => ({
  name: `walkthrough-${name}`,
  size,
  part,
  play,
});

const openStory = async (editor: Editor): Promise<void> => {
  await editor.command("Gradus: Open Run");
  await editor.type("starter");
  await editor.keys("Enter");
  await editor.seen(editor.panel.getByRole("heading", { name: /^Collapsed at step/ }));
  await editor.seen(editor.panel.getByRole("button", { name: /reinforced most/ }));
};

export const walkthroughScenes: readonly Scene[] = [
  {
    name: "tour",
    play: async (editor) => {
      await editor.command("Gradus: Open Walkthrough");
      await (await editor.seen(editor.page.getByText("Is it learning?"))).click();
      await editor.seen(editor.page.locator(".getting-started-media img"));
    },
  },
  scene("create", async (editor) => {
    await editor.open(config);
    await editor.goTo(config, "use: boltzmann");
    // Its first line says what the pictures are taken of.
    await editor.keys(...Array.from({ length: 3 }, () => "Control+ArrowDown"));
    await editor.hover();
  }),
  scene(
    "paper",
    async (editor) => {
      await editor.open(config);
      await editor.command("Gradus: Find a Paper");
      await editor.seen(".quick-input-list .monaco-list-row");
      await editor.page.mouse.move(size.width - 10, size.height - 10);
      await editor.type("curriculum");
    },
    "window",
  ),
  scene("validate", async (editor) => {
    await editor.open(config);
    await editor.goTo(config, "rollout: { prompts: 8, group: 8");
    await editor.keys("Backspace");
    await editor.type("1");
    await editor.keys("Escape");
    await editor.seen(".squiggly-error, .squiggly-warning");
    await editor.keys("ArrowLeft", "Control+ArrowDown");
    await editor.hover();
  }),
  scene("reward", async (editor) => {
    await editor.open(config);
    await editor.goTo(config, "use: equation, weight: 1");
    await editor.keys("Backspace");
    await editor.type("-0.1");
    await editor.keys("Escape", "Alt+z");
    const change = editor.page.locator(".view-line span", { hasText: "flipped" }).last();
    await editor.seen(change);
    await editor.point(change);
  }),
  scene(
    "start",
    async (editor) => {
      await editor.open(configOfStory);
      await editor.command("Gradus: Focus on Runs View");
      await editor.seen(editor.page.getByRole("treeitem", { name: /^starter/ }));
      await editor.page.locator(".codelens-decoration a", { hasText: "Run" }).first().hover();
    },
    "window",
  ),
  // Last: keys may go to the panel from then on.
  scene("watch", openStory),
  scene("rollouts", async (editor) => {
    await openStory(editor);
    await editor.panel.getByRole("button", { name: /reinforced most/ }).click();
    await editor.seen(editor.panel.locator(".why table"));
    await editor.panel.locator(".answer").evaluate((answer) => answer.scrollIntoView({ block: "start" }));
  }),
  scene("compare", async (editor) => {
    await editor.command("Gradus: Focus on Runs View");
    await editor.page.getByRole("treeitem", { name: /^sums, 8 runs/ }).click({ button: "right" });
    await (await editor.seen(editor.page.getByRole("menuitem", { name: "Compare Runs" }))).hover();
    await editor.keys("Enter");
    await editor.seen(editor.panel.getByRole("heading", { level: 1, name: /8 runs in/ }));
    await editor.seen(editor.panel.locator("canvas").first());
    await editor.keys("Control+b");
  }),
];
