/**
 * Tiny policies learn to play: number guessing, a grid world, and a task that needs a tool. Several seeds each, and next to each
 * the same run with every advantage 0, in which nothing is learned. A world has a file, since each takes many minutes.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { randomStream } from "../../../server/lib/random.ts";
import type { Json } from "../../../shared/lib/json.ts";
import { mean } from "../../../shared/lib/mean.ts";
import { ofKind, testRun } from "../../support/runFolder.ts";

type Row = Readonly<Record<string, Json>>;
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
export const guessing: Played = {
  config: `model: { base: tiny, width: 32, layers: 2, heads: 2, hidden: 64, context: 64 }
tasks: [{ name: guess, env: guess_number, numbers: [8], limit: 4, prompt: "1-8?", higher: "+", lower: "-", unclear: "?" }]
rollout: { prompts: 8, group: 16, max_tokens: 2, chat: false, shape: { use: environment, turns: 4, observation: "{text}" } }
reward: { terms: { right: environment } }
stages:
  - { name: form, kind: sft, steps: 100, batch: 8, tasks: [{ dataset: form.jsonl, prompt: "{prompt}", solution: "{solution}" }] }
  - { name: rl, steps: 150 }
`,
  files: { "form.jsonl": lines(digits.slice(1, 9).map((solution) => ({ prompt: "1-8?", solution }))) },
  // Ten steps are 1,280 episodes: their mean is known to 0.014. The slowest of the five seeds gains 0.2.
  gain: 0.15,
};

const directions = ["north", "east", "south", "west"];
const offsets = [-2, -1, 0, 1, 2];
const distance = (steps: number, ahead: string, back: string): string =>
  steps === 0 ? "" : `${Math.abs(steps)}${steps > 0 ? ahead : back}`;
const views = offsets.flatMap((north) =>
  offsets.map((east) => distance(north, "n", "s") + distance(east, "e", "w")),
);

/** The supervised stage teaches the four words, each as likely after every view. */
export const walking: Played = {
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

const boxes = ["a", "b", "c", "d", "e", "f"];
/** Where the number is: no prompt says it. */
const right = "d";
const numbers = digits.slice(1, 7);
/** The prompt, after what the engine says of the tool. */
const question = `You may use tools: write the argument between the tags of one, and read the result.
<open>box</open>: Opens a box.

number?`;
const called = (box: string): string => `<open>${box}</open>`;

/**
 * Which number is it? Each task has its own, in the same one of six boxes; the others hold any. So a guess, or a call with
 * another box, is right as often as chance has it. The supervised stage teaches what there is to say: a call or a number at
 * once, each box and each number as likely, and after a call the number that it found.
 */
export const opening: Played = {
  config: `model: { base: tiny, width: 32, layers: 2, heads: 2, hidden: 64, context: 192 }
tasks: [{ name: boxes, dataset: boxes.jsonl, prompt: "number?", answer: "{answer}" }]
rollout: { prompts: 16, group: 8, max_tokens: 16, chat: false, tools: [./open.ts], shape: { use: environment, calls: tags, turns: 2, result: "{result}" } }
reward: { terms: { right: exact_match } }
stages:
  - name: form
    kind: sft
    steps: 150
    batch: 24
    tasks:
      - { name: calls, dataset: calls.jsonl, prompt: "{prompt}", solution: "{solution}" }
      - { name: guesses, dataset: guesses.jsonl, prompt: "{prompt}", solution: "{solution}" }
      - { name: readings, dataset: readings.jsonl, prompt: "{prompt}", solution: "{solution}" }
  - { name: rl, steps: 100, update: { optimizer: { lr: 0.001 } } }
`,
  files: {
    "open.ts": `export default {
  description: "Opens a box.",
  parameters: { type: "object", properties: { box: { type: "string" } }, required: ["box"] },
  call: ({ box }, { task }) => task.data.boxes[box] ?? "0",
};
`,
    "boxes.jsonl": lines(
      Array.from({ length: 400 }, (_, i) => {
        const held = Object.fromEntries(
          boxes.map((name) => [name, numbers[randomStream(i, name).integer(numbers.length)]!]),
        );
        return { boxes: held, answer: held[right]! };
      }),
    ),
    "calls.jsonl": lines(boxes.map((box) => ({ prompt: question, solution: called(box) }))),
    "guesses.jsonl": lines(numbers.map((solution) => ({ prompt: question, solution }))),
    "readings.jsonl": lines(
      boxes.flatMap((box) =>
        numbers.map((solution) => ({ prompt: question + called(box) + solution, solution })),
      ),
    ),
  },
  gain: 0.4,
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

/** Tests that a world is learned, a seed each. */
export function isLearned(name: string, played: Played, seeds: readonly number[] = [1, 2, 3, 4, 5]): void {
  for (const seed of seeds)
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
}
