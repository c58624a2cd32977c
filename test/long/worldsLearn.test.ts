/**
 * Tiny policies learn to play: number guessing and a grid world. Five seeds each, and next to each the same run with every
 * advantage 0, in which nothing is learned.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { mean } from "../../shared/lib/mean.ts";
import { ofKind, testRun } from "../support/runFolder.ts";

type Row = Readonly<Record<string, string | number>>;
const lines = (rows: readonly Row[]): string => rows.map((row) => JSON.stringify(row)).join("\n");
const digits = Array.from({ length: 10 }, (_, digit) => String(digit));

const common = `advantage: { baseline: leave_one_out, scale: none }
update: { optimizer: { use: adamw, lr: 0.003 } }
evaluation: { every: 1000, prompts: 1, pass_at: [1], record: 0 }
`;

interface Played {
  readonly config: string;
  readonly files: Readonly<Record<string, string>>;
  /** By how much the mean reward of the last ten steps must be above that of the control. */
  readonly gain: number;
}

/** The supervised stage teaches what a guess looks like, and nothing of which guess is good. */
const guessing: Played = {
  config: `model: { base: tiny, width: 32, layers: 2, heads: 2, hidden: 64, context: 64 }
tasks: [{ name: guess, env: guess_number, numbers: [8], limit: 4, prompt: "1-8?", higher: "+", lower: "-", unclear: "?" }]
rollout: { prompts: 8, group: 16, max_tokens: 2, chat: false, shape: { use: environment, turns: 4, observation: "{text}" } }
reward: { terms: { right: environment } }
stages:
  - { name: form, kind: sft, steps: 100, batch: 8, tasks: [{ dataset: form.jsonl, prompt: "{prompt}", solution: "{solution}" }] }
  - { name: rl, steps: 150 }
`,
  files: { "form.jsonl": lines(digits.slice(1, 9).map((solution) => ({ prompt: "1-8?", solution }))) },
  gain: 0.3,
};

const directions = ["north", "east", "south", "west"];
const offsets = [-2, -1, 0, 1, 2];
const distance = (steps: number, ahead: string, back: string): string =>
  steps === 0 ? "" : `${Math.abs(steps)}${steps > 0 ? ahead : back}`;
const views = offsets.flatMap((north) =>
  offsets.map((east) => distance(north, "n", "s") + distance(east, "e", "w")),
);

/** The supervised stage teaches the four words, each as likely after every view. */
const walking: Played = {
  config: `model: { base: tiny, width: 32, layers: 2, heads: 2, hidden: 64, context: 160 }
tasks: [{ name: grid, env: grid_world, rooms: [1], size: 3, things: 1, missions: [go_to], kinds: [ball], colors: [red], moves: compass, view: short, limit: 6, prompt: "{view}:" }]
rollout: { prompts: 32, group: 8, max_tokens: 6, chat: false, shape: { use: environment, turns: 6, observation: "\\n{text}:" } }
reward: { terms: { right: environment } }
objective: { entropy: 0.001 }
stages:
  - { name: form, kind: sft, steps: 150, batch: 16, tasks: [{ dataset: form.jsonl, prompt: "{prompt}", solution: "{solution}" }] }
  - { name: rl, steps: 150, update: { optimizer: { lr: 0.001 } } }
`,
  files: {
    "form.jsonl": lines(
      views
        .filter((view) => view !== "")
        .flatMap((view) => directions.map((solution) => ({ prompt: `red ball ${view}:`, solution }))),
    ),
  },
  gain: 0.3,
};

/** Mean rewards of the first and of the last ten steps with rollouts. */
async function trained(
  { config, files }: Played,
  settings: readonly string[],
): Promise<readonly [number, number]> {
  const folder = mkdtempSync(join(tmpdir(), "gradus-worlds-"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const file = join(folder, "a.gradus.yaml");
  writeFileSync(file, config + common);
  const run = testRun(settings, file);
  try {
    assert.equal(await run.work(), 0, run.ending());
    const rewards = ofKind(run.records(), "metrics").flatMap(({ values }) => values["reward/right"] ?? []);
    const [first, last] = [rewards.slice(0, 10), rewards.slice(-10)].map((some) => mean(some.map(Number)));
    return [first!, last!];
  } finally {
    run.remove();
    rmSync(folder, { recursive: true });
  }
}

for (const [name, played] of Object.entries({ guessing, walking }))
  for (const seed of [1, 2, 3, 4, 5])
    test(
      `${name}, seed ${seed}: the reward rises, and not where every advantage is 0`,
      { timeout: 1_800_000 },
      async (t) => {
        const [before, after] = await trained(played, [`seed=${seed}`]);
        const [still, same] = await trained(played, [`seed=${seed}`, "advantage.scale=zero"]);
        t.diagnostic(
          `${before.toFixed(3)} → ${after.toFixed(3)}; without advantages ${still.toFixed(3)} → ${same.toFixed(3)}`,
        );
        assert.ok(after > same + played.gain, `${before} → ${after}`);
        assert.ok(Math.abs(same - still) < 0.15, `without advantages ${still} → ${same}`);
      },
    );
