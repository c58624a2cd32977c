import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { TextDocument } from "vscode-languageserver-textdocument";
import { OpenConfigs, type OpenConfig } from "../../../server/language/documents.ts";
import type { LastRun } from "../../../server/analysis/evidence/types.ts";
import { hintsOf } from "../../../server/language/hints/index.ts";
import { chartLenses, judgeLenses, lastRunTitle, runLenses } from "../../../server/language/lenses.ts";
import { namesIn } from "../../../server/language/names/occurrences.ts";
import { trendOf } from "../../../shared/lib/trend.ts";

const text = `tasks: [{ env: countdown }]
model: { base: tiny }
rollout: { prompts: 64, group: 8, max_tokens: 20 }
reward:
  terms:
    correct: { use: equation }
    brevity:
      use: length
      shape: linear
      weight: { schedule: linear, from: 0, to: 0.1, over: 40 } # grows
update: { mini_batch: 128, epochs: 2 }
stages:
  - { name: warm-up, kind: sft, steps: 100 }
  - name: practice
    steps: 200
    rollout: { temperature: { schedule: linear, from: 1, to: 0.5, over: 100 } }
    until: { metric: reward/correct, above: 0.9 }
  - { name: last, steps: 50, rollout: { group: 16 }, until: { metric: tokens/trained, above: 1 } }
`;

const opened = (content: string): OpenConfig =>
  new OpenConfigs().get(TextDocument.create("file:///tmp/hints.gradus.yaml", "gradus-yaml", 1, content));

const run: LastRun = {
  run: "r1",
  name: "hints",
  status: "finished",
  step: 120,
  steps: 350,
  stage: "practice",
  headline: { metric: "reward/total", value: 0.412, trend: "up" },
  secondsPerStep: 3.6,
  tokensPerStep: 5120,
};

const labels = async (content: string, last?: LastRun): Promise<Record<number, string[]>> => {
  const open = opened(content);
  assert.deepEqual(
    open.loaded.diagnostics.filter(({ severity }) => severity === "error"),
    [],
  );
  const found: Record<number, string[]> = {};
  for (const { position, label } of await hintsOf(
    open,
    last === undefined ? undefined : { lastRun: () => last },
  )) {
    assert.equal(position.character, (content.split("\n")[position.line] ?? "").trimEnd().length);
    if (!String(label).includes("memory")) (found[position.line + 1] ??= []).push(String(label));
  }
  return found;
};

describe("hints", () => {
  it("say what a step is made of, for the run and for a stage that differs", async () => {
    const found = await labels(text);
    assert.deepEqual(found[3], ["64 × 8 = 512 rollouts per step", "≤ 10,240 tokens per step"]);
    assert.deepEqual(found[11], ["8 optimiser steps per step"]);
    assert.deepEqual(found[18], ["64 × 16 = 1,024 rollouts per step", "≤ 20,480 tokens per step"]);
  });

  it("give a schedule at both ends, and where the last run is", async () => {
    const before = await labels(text);
    assert.deepEqual(before[10], ["0 at the start, 0.100 at the end"]);
    assert.deepEqual(before[16], ["1 at the start, 0.500 at the end"]);
    const after = await labels(text, run);
    // Step 120 of the run is step 20 of `practice`, and of all rl steps.
    assert.deepEqual(after[10], ["now 0.050"]);
    assert.deepEqual(after[16], ["now 0.900"]);
  });

  it("say nothing of a moment that they cannot place: an earlier stage ended before its time", async () => {
    const found = await labels(text, { ...run, step: 90, stage: "practice" });
    assert.deepEqual(found[10], ["0 at the start, 0.100 at the end"]);
  });

  it("estimate the time of the stage that the last run was in", async () => {
    assert.deepEqual((await labels(text, run))[15], ["3.6 s per step, about 12 min"]);
    assert.deepEqual((await labels(text))[15], undefined);
    const plain = "tasks: [{ env: countdown }]\nreward: { terms: { correct: equation } }\nsteps: 10\n";
    assert.deepEqual((await labels(plain, { ...run, stage: "rl", step: 3 }))[3], [
      "3.6 s per step, about 36 s",
    ]);
  });

  it("say how rejected groups change the count", async () => {
    const banded = `${text}curriculum: { admission: { use: success_band, refill: none } }\n`;
    assert.deepEqual((await labels(banded))[3]?.[0], "≤ 64 × 8 = 512 rollouts per step");
  });

  it("are silent where nothing could be read", async () => {
    assert.deepEqual(await hintsOf(opened(text.replace("reward:", "reward: [")), undefined), []);
    assert.deepEqual(await hintsOf(opened(""), undefined), []);
  });
});

describe("lenses", () => {
  const titles = (last: LastRun | undefined): string[] =>
    runLenses(opened(`# a comment\n${text}`), last).map(
      ({ command, range }) => `${range.start.line} ${command?.title ?? ""}`,
    );

  it("run, validate and show the last run, above the first key", () => {
    assert.deepEqual(titles(undefined), ["1 ▶ Run", "1 Validate"]);
    assert.deepEqual(titles(run), ["1 ▶ Run", "1 Validate", "1 Last run: reward 0.412 ↑"]);
    assert.deepEqual(titles({ ...run, status: "running" }), [
      "1 ■ Stop",
      "1 Validate",
      "1 Step 121 of 350: reward 0.412 ↑",
    ]);
  });

  it("say how a run ended that did not finish", () => {
    assert.equal(lastRunTitle({ ...run, status: "failed", headline: null }), "Last run: failed");
    assert.equal(lastRunTitle({ ...run, status: "stopped" }), "Last run: stopped, reward 0.412 ↑");
    const headline = { metric: "eval/pass@1", value: 0.388, trend: "level" } as const;
    assert.equal(lastRunTitle({ ...run, headline }), "Last run: pass@1 38.8 % →");
  });

  it("open the chart of a metric that has one", () => {
    const open = opened(text);
    const { metrics } = namesIn(open.root, text);
    const found = chartLenses(metrics, open).map(({ command, range }) => [
      range.start.line + 1,
      command?.title,
    ]);
    assert.deepEqual(found, [[17, "Chart of reward/correct"]]);
  });
});

describe("lenses of judges", () => {
  it("are above the terms that score as a person would, with the config's last run", () => {
    const judged = text.replace(
      "    brevity:",
      "    polite: { use: rubric, judge: { of: policy } }\n    style: reward_model\n    brevity:",
    );
    assert.deepEqual(
      judgeLenses(opened(judged), run).map(({ command, range }) => [range.start.line, command?.arguments]),
      [
        [6, [run.run, "polite"]],
        [7, [run.run, "style"]],
      ],
    );
    assert.deepEqual(judgeLenses(opened(text), run), []);
  });
});

describe("a trend", () => {
  it("compares the last tenth with as many before, within their noise", () => {
    const noise = (step: number): number => 0.05 * Math.sin(17 * step);
    const rising = Array.from({ length: 200 }, (_, step) => step / 100 + noise(step));
    assert.equal(trendOf(rising), "up");
    assert.equal(trendOf([...rising].reverse()), "down");
    assert.equal(trendOf(rising.map((_, step) => noise(step))), "level");
    assert.equal(trendOf([1]), "level");
    assert.equal(trendOf([1, 2, 3]), "up");
  });
});

describe("hints while something is wrong", () => {
  const configs = new OpenConfigs();
  let version = 0;
  const shown = async (content: string): Promise<string[]> => {
    const uri = "file:///tmp/wrong.gradus.yaml";
    const open = configs.get(TextDocument.create(uri, "gradus-yaml", (version += 1), content));
    const found = await hintsOf(open, { lastRun: () => run });
    return found.map(({ position: { line }, label }) => `${line + 1} ${String(label)}`).sort();
  };

  it("stay where they do not need the value that cannot be read", async () => {
    const before = await shown(text);
    const without = (line: string): string[] => before.filter((hint) => !hint.startsWith(line));
    assert.ok(before.length > without("10 ").length);
    // A reward may bring a model of its own.
    const misspelt = await shown(text.replace("use: length", "use: lenght"));
    assert.deepEqual(
      misspelt,
      before.filter((hint) => !hint.includes("memory")),
    );
    const grouped = await shown(text.replace("group: 8", "group: eight"));
    assert.ok(grouped.some((hint) => hint.startsWith("10 now")));
    assert.ok(grouped.every((hint) => !/(?:rollouts|tokens) a step/.test(hint)));
  });

  it("move with their lines while the text does not parse", async () => {
    const before = await shown(text);
    const broken = await shown(text.replace("reward:\n", "# more\nreward: [\n"));
    const moved = before.map((hint) =>
      hint.replace(/^\d+/, (line) => String(Number(line) + (Number(line) > 3 ? 1 : 0))),
    );
    assert.deepEqual(broken, moved.sort());
    assert.deepEqual(await shown(text), before);
    const half = await shown(text.replace("group: 8, max_tokens: 20 }", "group: 8, max_tokens: 20"));
    assert.ok(half.every((hint) => !hint.startsWith("3 ")) && half.length > 0);
  });
});
