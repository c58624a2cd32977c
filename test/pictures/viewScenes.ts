/** Scenes of panels and of the side bar. */
import type { Editor } from "./editor.ts";
import { boxOf, type Scene } from "./scene.ts";

const config = "countdown.gradus.yaml";

/** The panel of a run with all of the window to itself. */
async function openAlone(editor: Editor, run: string): Promise<void> {
  await editor.command("Gradus: Open Run");
  await editor.page.locator(".quick-input-list .monaco-list-row", { hasText: run }).first().click();
  await editor.seen(editor.panel.getByRole("heading", { level: 1, name: run }));
  await editor.seen(editor.panel.locator('[data-chart="reward"] canvas'));
}

export const views: readonly Scene[] = [
  {
    name: "verdict",
    doc: {
      file: "verdict.png",
      area: async ({ panel }) => {
        const [{ x, y, width }, end] = [
          await boxOf(panel.locator(".body")),
          await boxOf(panel.locator(".tiles")),
        ];
        return {
          x: x - 14,
          y: y - 12,
          width: width + 28,
          height: end.y + end.height - y + 24,
        };
      },
    },
    play: async (editor) => {
      await openAlone(editor, "terse");
      await editor.seen(editor.panel.locator(".card .fixes", { hasText: "re-scored" }));
      await editor.page.mouse.move(720, 880);
    },
  },
  {
    name: "explain",
    doc: {
      file: "explain.png",
      area: async ({ page }) => {
        const text = await boxOf(page.locator(".editor-instance .view-lines"));
        const hover = await boxOf(page.locator(".monaco-hover:not(.hidden)"));
        // From the group's name, above the first of its rollouts.
        const y = hover.y - 76;
        return {
          x: text.x - 8,
          y,
          width: hover.x + hover.width + 8 - text.x,
          height: hover.y + hover.height + 24 - y,
        };
      },
    },
    play: async (editor) => {
      await editor.command("Gradus: Open Rollouts");
      await editor.page
        .locator(".quick-input-list .monaco-list-row", { hasText: "countdown" })
        .first()
        .click();
      await editor.seen(editor.page.locator(".view-line", { hasText: "reward" }));
      await editor.keys("Control+Home", "Control+f");
      await editor.type("in training");
      // The first is the count in the head; the next a group's.
      await editor.keys("Enter", "Escape", "Home");
      // Five more rollouts down is the one that was right.
      await editor.keys(...Array.from({ length: 17 }, () => "ArrowDown"), "End");
      await editor.hover();
      await editor.seen(editor.page.locator(".monaco-hover table"));
    },
  },
  {
    name: "side-bar",
    play: async (editor) => {
      await editor.open(config);
      await editor.page.getByRole("tab", { name: "Gradus" }).first().click();
      const run = editor.page.getByRole("treeitem", {
        name: /^countdown, finished/,
      });
      await (await editor.seen(run)).click();
      await editor.keys("ArrowRight");
      await editor.seen(editor.page.getByRole("treeitem", { name: /step/i }));
      // A click on a run opens its panel too.
      await editor.seen(editor.panel.locator('[data-chart="reward"] canvas'));
      await run.hover();
    },
  },
  {
    name: "run-panel",
    play: async (editor) => {
      await editor.open(config);
      await editor.page
        .locator(".codelens-decoration a", { hasText: /Last run/ })
        .first()
        .click();
      await editor.seen(editor.panel.getByRole("heading", { level: 1, name: "countdown" }));
      await editor.seen(editor.panel.locator('[data-chart="reward"] canvas'));
    },
  },
  {
    name: "run-story",
    play: async (editor) => {
      await openAlone(editor, "countdown");
      await editor.seen(editor.panel.locator(".chip"));
      await editor.panel.locator(".chip").first().click();
      await editor.seen(editor.panel.locator(".why table"));
    },
  },
  {
    name: "run-story-below",
    play: async (editor) => {
      await openAlone(editor, "countdown");
      await editor.seen(editor.panel.locator(".chip"));
      await editor.panel.getByRole("button", { name: "All Metrics" }).click();
      await editor.panel.getByRole("searchbox").fill("kl");
      await editor.panel.locator(".metric").first().click();
    },
  },
  {
    // Last: keys go to the panel from then on.
    name: "imported-panel",
    play: async (editor) => {
      await editor.command("Gradus: Open Run");
      await editor.page
        .locator(".quick-input-list .monaco-list-row", { hasText: "gsm-grpo" })
        .first()
        .click();
      await editor.seen(editor.panel.getByRole("heading", { level: 1, name: "gsm-grpo" }));
      await editor.seen(editor.panel.locator('[data-chart="reward"] canvas'));
    },
  },
];
