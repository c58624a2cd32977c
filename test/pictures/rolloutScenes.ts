/** Scenes of rollouts: a step's, one, its tokens, those found, and tests made of them. */
import type { Editor } from "./editor.ts";
import type { Scene } from "./scene.ts";

const config = "countdown.gradus.yaml";

/** The last step's rollouts of a run. @param run undefined where there is only one, which opens unasked */
const rolloutsOf = async (editor: Editor, run?: string): Promise<void> => {
  await editor.command("Gradus: Open Rollouts");
  if (run !== undefined)
    await editor.page.locator(".quick-input-list .monaco-list-row", { hasText: run }).first().click();
  await editor.seen(editor.page.locator(".view-line", { hasText: "reward" }));
  await editor.keys("Control+Home");
};
/** One of them: Enter opens the one that the cursor is in. */
const openRollout = async (editor: Editor, run: string | undefined, number: number): Promise<void> => {
  await rolloutsOf(editor, run);
  await editor.keys("Control+f");
  await editor.type(`● ${number}`);
  await editor.keys("Enter", "Escape", "Enter");
  await editor.seen(editor.page.locator(".view-line", { hasText: /■\sresponse/ }));
  await editor.keys("Control+Home");
};
const chooseHeat = async (editor: Editor, channel: string): Promise<void> => {
  await editor.command("Gradus: Choose Token Heat");
  await editor.page.locator(".quick-input-list .monaco-list-row", { hasText: channel }).first().click();
  await editor.seen('.cdr[class*="TextEditorDecorationType"], .cdr[class*="ced-"]');
};
const findRollouts = async (editor: Editor, where: string): Promise<void> => {
  await editor.command("Gradus: Find Rollouts");
  await editor.page.locator(".quick-input-list .monaco-list-row", { hasText: "countdown" }).first().click();
  await editor.seen(editor.page.locator(".quick-input-title", { hasText: "Find Rollouts of" }));
  await editor.type(where);
};
/** The page in which rollouts of the run are labelled for a term of it. */
const labelFor = async (editor: Editor, term: string): Promise<Editor["panel"]> => {
  await editor.command("Gradus: Label Rollouts for a Judge");
  await editor.page.locator(".quick-input-list .monaco-list-row", { hasText: "countdown" }).first().click();
  await editor.page.locator(".quick-input-list .monaco-list-row", { hasText: term }).first().click();
  const page = editor.panel;
  await editor.seen(page.getByRole("button", { name: "Good" }));
  return page;
};
export const rolloutScenes: readonly Scene[] = [
  { name: "rollouts-step", play: (editor) => rolloutsOf(editor, "countdown") },
  {
    name: "rollouts-hover",
    play: async (editor) => {
      await rolloutsOf(editor, "countdown");
      await editor.point(
        editor.page.locator(".view-line", { hasText: "│" }).first().locator("span span").last(),
      );
      await editor.seen(editor.page.locator(".monaco-hover table"));
    },
  },
  {
    name: "rollout-one",
    play: (editor) => openRollout(editor, "countdown", 1),
  },
  {
    name: "rollout-episode",
    workspace: "episodes",
    play: (editor) => openRollout(editor, undefined, 3),
  },
  {
    name: "rollout-trace",
    play: async (editor) => {
      await openRollout(editor, "trace", 0);
      // Once there is something to choose from, the tokens have been read.
      await editor.command("Gradus: Choose Token Heat");
      await editor.seen(
        editor.page.locator(".quick-input-list .monaco-list-row", {
          hasText: "entropy",
        }),
      );
      await editor.keys("Escape");
      await editor.command("Explorer: Focus on Outline View");
    },
  },
  {
    name: "rollouts-find",
    play: async (editor) => {
      await findRollouts(editor, "rewards.correct == 1 && stp > 400");
      await editor.seen(editor.page.locator(".quick-input-message", { hasText: "unknown" }));
    },
  },
  {
    name: "rollouts-found",
    play: async (editor) => {
      await findRollouts(editor, "rewards.correct == 1 && step > 450");
      await editor.seen(editor.page.locator(".quick-input-message", { hasText: "of" }));
      await editor.keys("Enter");
      await editor.seen(editor.page.locator(".view-line", { hasText: "Sorted" }));
    },
  },
  {
    name: "rollouts-search",
    play: async (editor) => {
      await findRollouts(editor, "/10.11/");
      await editor.seen(editor.page.locator(".quick-input-message", { hasText: "answers" }));
      await editor.keys("Enter");
      await editor.seen(editor.page.locator(".view-line", { hasText: "newest" }));
    },
  },
  {
    name: "rollouts-task",
    play: async (editor) => {
      await findRollouts(editor, 'rewards.correct == 1 && use == "evaluate"');
      await editor.seen(editor.page.locator(".quick-input-message", { hasText: "of" }));
      await editor.keys("Enter");
      await editor.seen(editor.page.locator(".view-line", { hasText: "Sorted" }));
      await editor.keys("Control+g");
      await editor.type(":5");
      await editor.keys("Enter");
      await editor.command("Gradus: Follow Task");
      await editor.seen(editor.page.locator(".view-line", { hasText: "■" }));
    },
  },
  {
    name: "rollout-pin",
    play: async (editor) => {
      await openRollout(editor, "countdown", 1);
      await editor.command("Gradus: Pin Rollout as Test");
      await editor.seen(
        editor.page.locator(".quick-input-list .monaco-list-row", {
          hasText: "at most",
        }),
      );
      await editor.keys("Enter");
      await editor.seen(
        editor.page.locator(".quick-input-list .monaco-list-row", {
          hasText: "tidy",
        }),
      );
      await editor.page.locator(".quick-input-list .monaco-list-row", { hasText: "tidy" }).first().click();
      await editor.seen(editor.page.locator(".quick-input-message", { hasText: "it was" }));
      await editor.keys("Enter");
      await editor.seen(editor.page.locator(".notification-toast", { hasText: "Pinned" }));
      await editor.command("Testing: Focus on Test Explorer View");
      await (await editor.seen(editor.page.locator(".test-explorer .monaco-list-row"))).click();
      await editor.keys("ArrowRight");
      await editor.seen(
        editor.page.locator(".test-explorer .monaco-list-row", {
          hasText: "at most",
        }),
      );
    },
  },
  {
    // The reward is broken and saved: its tests run by themselves.
    name: "rollout-test-fails",
    play: async (editor) => {
      await openRollout(editor, "countdown", 2);
      await editor.command("Gradus: Pin Rollout as Test");
      await editor.seen(
        editor.page.locator(".quick-input-list .monaco-list-row", {
          hasText: "at most",
        }),
      );
      await editor.keys("Enter");
      const row = editor.page.locator(".quick-input-list .monaco-list-row", {
        hasText: "brevity",
      });
      await (await editor.seen(row)).click();
      await editor.seen(editor.page.locator(".quick-input-message", { hasText: "it was" }));
      await editor.keys("Enter");
      await editor.seen(
        editor.page.locator(".notification-toast", {
          hasText: "brevity.reward.test",
        }),
      );
      await editor.open("rewards/brevity.ts");
      await editor.goTo("rewards/brevity.ts", "}: Input): number {");
      await editor.type(" return 1;");
      await editor.keys("Control+s");
      await editor.command("Testing: Focus on Test Explorer View");
      const failed = editor.page.locator(".test-explorer .monaco-list-row", {
        hasText: "brevity.reward",
      });
      await editor.seen(failed.locator(".codicon-testing-failed-icon"));
    },
  },
  {
    // After the one that pins.
    name: "run-gate",
    play: async (editor) => {
      await editor.open(config);
      await editor.command("Gradus: Start Run");
      await editor.seen(editor.page.locator(".monaco-dialog-box", { hasText: "of the reward" }));
    },
  },
  {
    name: "judge-label",
    play: async (editor) => void (await labelFor(editor, "brevity")),
  },
  {
    // After the one that opens the page; twenty keys more.
    name: "judge-report",
    play: async (editor) => {
      const page = await labelFor(editor, "brevity");
      for (let at = 0; at < 20; at++) {
        const answer = await page.locator("pre.answer").textContent();
        await page
          .getByRole("button", {
            name: (answer ?? "").length < 6 ? "Good" : "Bad",
          })
          .click();
      }
      await page.getByRole("button", { name: "Ask the Judge Again" }).click();
      await editor.seen(page.getByText("reverse order"));
    },
  },
  {
    name: "rollouts-long",
    play: (editor) => rolloutsOf(editor, "trace"),
  },
  {
    name: "rollout-heat",
    play: async (editor) => {
      await openRollout(editor, "trace", 0);
      await chooseHeat(editor, "entropy");
    },
  },
  {
    name: "rollout-heat-signed",
    play: async (editor) => {
      await openRollout(editor, "trace", 0);
      await chooseHeat(editor, "divergence from the reference");
      await editor.keys("n", "n", "n");
      await editor.command("Show or Focus Hover");
      await editor.seen(".monaco-hover table");
    },
  },
  {
    name: "rollout-diff",
    play: async (editor) => {
      await openRollout(editor, "countdown", 1);
      await editor.command("Gradus: Diff Sibling Rollouts");
      await editor.seen(".quick-input-list .monaco-list-row");
      await editor.keys("Enter");
      await editor.seen(".monaco-diff-editor .view-line");
    },
  },
];
