/** All scenes: of a config, and with the others those of rollouts. */
import type { Locator } from "playwright-core";
import type { Editor } from "./editor.ts";
import { experiments } from "./experimentScenes.ts";
import { rolloutScenes } from "./rolloutScenes.ts";
import { boxOf, type Scene } from "./scene.ts";
import { views } from "./viewScenes.ts";
import { walkthroughScenes } from "./walkthroughScenes.ts";

const config = "countdown.gradus.yaml";
const mistakes = "mistakes.gradus.yaml";

/** Completion with its documentation next to it, after the rest of a line was cut after `text`. */
const completion = (name: string, text: string, more = ""): Scene => ({
  name: `completion-${name}`,
  play: async (editor) => {
    await editor.open(config);
    await editor.goTo(config, text);
    await editor.keys("Shift+End", "Delete");
    await editor.type(more);
    await editor.keys("Escape");
    await editor.suggest();
  },
});

const research = (name: string, keys: readonly string[]): Scene => ({
  name: `completion-${name}`,
  play: async (editor) => {
    await editor.open(config);
    await editor.goTo(config, "extends: ");
    await editor.keys("Shift+End", "Delete");
    await editor.suggest();
    await editor.keys(...keys);
    await editor.seen(".suggest-widget.visible .monaco-list-row");
    await editor.keys("ArrowUp");
  },
});

/** What is next to the cursor, which is inside of `text`. */
const hover = (name: string, text: string, back = 1, file = config): Scene => ({
  name: `hover-${name}`,
  play: async (editor) => {
    await editor.open(file);
    await editor.goTo(file, text, back);
    await editor.hover();
  },
});

/** The menu of fixes and other actions at a place. */
const actions = (name: string, text: string, file = config): Scene => ({
  name: `actions-${name}`,
  play: async (editor) => {
    await editor.open(file);
    await editor.goTo(file, text, 1);
    await editor.actions();
  },
});

/** What a command or some keys bring up, with the cursor inside of `text`. */
const after = (
  name: string,
  text: string,
  act: (editor: Editor) => Promise<unknown>,
  file = config,
): Scene => ({
  name,
  play: async (editor) => {
    await editor.open(file);
    await editor.goTo(file, text, 1);
    await act(editor);
  },
});

const rewriting: readonly Scene[] = [
  after("signature-method", "low: 0.1", async (editor) => {
    await editor.keys("Control+Shift+Space");
    await editor.seen(".parameter-hints-widget.visible");
  }),
  after("rename", "    correct", async (editor) => {
    await editor.keys("F2");
    await editor.seen(".rename-box");
  }),
  after("references", "    correct", async (editor) => {
    await editor.keys("Shift+F12");
    await editor.seen(".peekview-widget .monaco-list-row");
  }),
  after("definition", "./rewards/brevity.ts", async (editor) => {
    await editor.keys("Control+Shift+F10");
    await editor.seen(".peekview-widget .view-line");
  }),
  after("folding", "seed: 1", async (editor) => {
    await editor.command("Fold All");
    await editor.seen(".inline-folded");
  }),
  after("outline", "until", async (editor) => {
    await editor.command("Explorer: Focus on Outline View");
    await editor.seen(editor.page.getByRole("treeitem", { name: /countdown/ }));
  }),
  after("symbols", "until", async (editor) => {
    await editor.keys("Control+t");
    await editor.type("co");
    await editor.seen(".quick-input-list .monaco-list-row");
  }),
];

const problems: readonly Scene[] = [
  {
    name: "problems",
    play: async (editor) => {
      await editor.open(mistakes);
      await editor.seen(".squiggly-error");
      await editor.command("Problems: Focus on Problems View");
      await editor.seen(".markers-panel .monaco-list-row");
    },
  },
  hover("problem", "use: equatoin", 2, mistakes),
  actions("name", "equatoin", mistakes),
  actions("number", "mini_batch: 3", mistakes),
  actions("threshold", "above: 1.2", mistakes),
  after(
    "problem-peek",
    "tasks:",
    async (editor) => {
      await editor.keys("F8");
      await editor.seen(".marker-widget");
    },
    mistakes,
  ),
];

const frameworks: readonly Scene[] = [
  hover("verl", "data.train_batch_size", 3, "verl.sh"),
  hover("trl", "per_device_train_batch_size", 3, "trl.yaml"),
  hover("openrlhf", "--rollout.batch_size", 3, "openrlhf.sh"),
  {
    name: "completion-verl",
    play: async (editor) => {
      await editor.open("verl.sh");
      await editor.goTo("verl.sh", "algorithm.adv_estimator=");
      await editor.keys("Shift+End", "Delete");
      await editor.suggest();
    },
  },
  {
    name: "problems-verl",
    play: async (editor) => {
      await editor.open("mistakes.sh");
      await editor.seen(".squiggly-error");
      await editor.command("Problems: Focus on Problems View");
      await editor.seen(".markers-panel .monaco-list-row");
    },
  },
  actions("verl", "ppo_mini_batch_size=48", "mistakes.sh"),
];

const evidence: readonly Scene[] = [
  hover("evidence", "    tidy", 2),
  actions("evidence", "max_tokens: 9"),
  hover("sweep", "weight: 1", 1),
  after("rollouts", "max_tokens: 9", async (editor) => {
    await editor.actions();
    await editor.choose(/Show these rollouts/);
    await editor.seen(editor.page.getByRole("tab", { name: /· step/ }));
  }),
  after("sweep", "weight: 1", async (editor) => {
    await editor.actions();
    await editor.choose(/Sweep the weight/);
    await editor.seen(editor.page.getByText(/share\sof\sthe\sspread/));
  }),
];

const flips = (editor: Editor): Locator =>
  editor.page.locator(".view-line span", { hasText: "flipped" }).last();
/** An edit of a weight, and what the editor says of it. */
const edit = async (editor: Editor): Promise<void> => {
  await editor.open(config);
  await editor.goTo(config, "use: equation, weight: 1");
  await editor.keys("Backspace");
  await editor.type("-0.1");
  await editor.seen(flips(editor));
};
const rescoring: readonly Scene[] = [
  { name: "rescore", play: edit },
  {
    name: "rescore-hover",
    play: async (editor) => {
      await edit(editor);
      await editor.keys("Escape");
      await editor.point(flips(editor));
    },
  },
  {
    name: "rescore-diff",
    doc: {
      file: "rescore.png",
      area: async ({ page }) => ({
        ...(await boxOf(page.locator(".monaco-diff-editor"))),
        height: 480,
      }),
    },
    play: async (editor) => {
      await edit(editor);
      await editor.keys("Escape");
      await editor.actions();
      await editor.choose(/this edit changes most/);
      await editor.seen(".monaco-diff-editor .view-line");
    },
  },
  {
    name: "rescore-function",
    play: async (editor) => {
      await editor.open("rewards/brevity.ts");
      await editor.goTo("rewards/brevity.ts", "numbers.length - 1");
      await editor.keys("Backspace");
      await editor.type("2");
      await editor.seen(editor.page.locator(".view-line span", { hasText: /sign\S*\sflip/ }).last());
    },
  },
];

const reward = "gsm/reward.py";
/** A hole in the reward of a verl project, saved: what it is, and what it changes over the imported run. */
const makeHole = async (editor: Editor): Promise<void> => {
  await editor.open(reward);
  await editor.goTo(reward, "        return 0");
  await editor.keys("Shift+End", "Delete");
  await editor.type(".5");
  await editor.goTo(reward, "else format_score", "format_score".length);
  await editor.keys("Shift+End", "Delete");
  await editor.type("-0.5");
  await editor.keys("Control+s");
  await editor.seen(".squiggly-warning, .squiggly-error");
  await editor.seen(editor.page.locator(".view-line span", { hasText: /sign\S*\sflip/ }).last());
};
const checks: readonly Scene[] = [
  {
    name: "reward-checks",
    play: async (editor) => {
      await makeHole(editor);
      await editor.command("Problems: Focus on Problems View");
      await editor.seen(".markers-panel .monaco-list-row");
    },
  },
  {
    name: "reward-coverage",
    play: async (editor) => {
      await editor.open(reward);
      await editor.command("Gradus: Show Reward Coverage");
      await editor.seen('.cdr[class*="TextEditorDecorationType"]');
      await editor.goTo(reward, "    if not");
      await editor.command("Show or Focus Hover");
      await editor.seen(".monaco-hover-content");
    },
  },
  {
    name: "reward-attack",
    play: async (editor) => {
      await editor.open(reward);
      await editor.goTo(reward, "def compute_score");
      await editor.actions();
    },
  },
];

export const scenes: readonly Scene[] = [
  { name: "config", play: (editor) => editor.open(config) },
  completion("key", "group: 8, "),
  completion("top", "seed: 1", "\n\n"),
  completion("method", "sampler: { use: "),
  completion("value", "aggregate: "),
  completion("metric", "until: { metric: "),
  completion("term", "success: { terms: ["),
  completion("export", "brevity: { use: ./rewards/brevity.ts", ":"),
  completion("file", "brevity: { use: ", "./"),
  completion("preset", "extends: "),
  // The last item of the list asks for the rest.
  research("research", []),
  research("research-shown", ["ArrowUp", "Enter"]),
  {
    name: "find-paper",
    play: async (editor) => {
      await editor.open(config);
      await editor.command("Gradus: Find a Paper");
      await editor.seen(".quick-input-list .monaco-list-row");
      await editor.type("curriculum");
    },
  },
  {
    name: "find-paper-config",
    play: async (editor) => {
      await editor.open(config);
      await editor.command("Gradus: Find a Paper");
      await editor.seen(".quick-input-list .monaco-list-row");
      await editor.type("DUMP: Automated");
      await editor.keys("Enter");
      await editor.seen(".tab.active[data-resource-name^='Untitled']");
    },
  },
  hover("key", "estimator: { use", 12),
  hover("method", "use: boltzmann"),
  hover("value", "max_tokens: 9", 5),
  hover("objective", "use: clipped"),
  hover("reward-file", "./rewards/brevity.ts", 4),
  hover("metric", "metric: reward/correct"),
  hover("preset", "extends: grpo"),
  hover("schedule", "schedule: linear"),
  ...rewriting,
  ...problems,
  ...frameworks,
  ...evidence,
  ...rescoring,
  ...checks,
  ...rolloutScenes,
  ...views,
  ...experiments,
  ...walkthroughScenes,
];
