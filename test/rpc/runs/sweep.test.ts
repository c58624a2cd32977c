/** A sweep with the command line, the daemon, workers and the engine, as a person runs it. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { Workspace, type Line, type Said } from "../../support/workspace.ts";

const reward = `/** 1 for an answer that begins with a letter of the alphabet's first half. */
export const score = ({ response }: { response: string }): number => (/^[a-m]/.test(response) ? 1 : 0);
`;
/** With the second rate nothing is learned, whatever the seed. */
const config = `name: rates
model: { base: tiny, width: 32, layers: 1, heads: 2, hidden: 64, context: 48 }
tasks: [{ env: reverse_text, lengths: [3] }]
reward: { terms: { early: { use: ./rewards/early.ts } } }
rollout: { prompts: 16, group: 8, max_tokens: 4 }
steps: 20
evaluation: { every: 5, prompts: 32, pass_at: [1] }
sweep:
  parameters:
    update.optimizer.lr: { values: [1.0e-2, 1.0e-7] }
  seeds: 2
  stop: { after: 10, trials: 1 }
`;

const tableSchema = z.looseObject({
  sweep: z.string(),
  rows: z.array(
    z.looseObject({
      values: z.record(z.string(), z.json()),
      mean: z.number().nullable(),
      error: z.number().nullable(),
      n: z.number(),
      stopped: z.number(),
      runs: z.array(
        z.looseObject({
          run: z.string(),
          seed: z.number(),
          status: z.string(),
          stopped: z.boolean(),
          steps: z.number(),
          value: z.number().nullable(),
        }),
      ),
    }),
  ),
  missing: z.array(z.json()),
});

const trialsOf = (talk: Said): readonly (readonly unknown[])[] =>
  talk.of("trial").map((line) => [line["trial"], line["seed"], line["state"]]);
const runsOf = (talk: Said): readonly (string | undefined)[] => talk.of("trial").map(({ run }) => run);

async function inWorkspace(act: (workspace: Workspace, file: string) => Promise<void>): Promise<void> {
  const workspace = new Workspace();
  try {
    mkdirSync(join(workspace.folder, "rewards"), { recursive: true });
    writeFileSync(join(workspace.folder, "rewards", "early.ts"), reward);
    const file = join(workspace.folder, "rates.gradus.yaml");
    writeFileSync(file, config);
    await act(workspace, file);
  } finally {
    await workspace.remove();
  }
}

const isStep = ({ type }: Line): boolean => type === "step";

test("a bad learning rate is stopped early, a killed sweep goes on where it was, and one table ranks all", () =>
  inWorkspace(async (workspace, file) => {
    const first = workspace.start("run", file, "--json");
    await first.until((talk) => talk.of("trial").length === 3 && talk.lines.at(-1)?.type === "step");
    const [kept, early, killed] = runsOf(first);
    assert.ok(kept !== undefined && early !== undefined && killed !== undefined);
    first.child.kill("SIGKILL");
    process.kill(workspace.worker(killed).pid, "SIGKILL");
    await first.ended;

    const second = await workspace.finish("run", file, "--json");
    assert.equal(second.code, 0, second.stderr);
    assert.deepEqual(trialsOf(second), [
      [1, 1, "kept"],
      [2, 1, "kept"],
      [3, 2, "resumed"],
      [4, 2, "started"],
    ]);
    assert.deepEqual(runsOf(second).slice(0, 3), [kept, early, killed]);
    assert.deepEqual(
      second.of("summary").map(({ status }) => status),
      ["finished", "stopped"],
    );
    const [why] = second.of("event").filter((line) => line["name"] === "stopped-early");
    assert.match(
      String(why?.["message"]),
      /its best eval\/pass@1 so far is 0\.\d+, below 0\.\d+, the median of/,
    );

    const table = tableSchema.parse(second.lines.at(-1));
    assert.deepEqual(
      table.rows.map(({ values, n, stopped }) => [values["update.optimizer.lr"], n, stopped]),
      [
        [1e-2, 2, 0],
        [1e-7, 2, 2],
      ],
    );
    assert.deepEqual(table.missing, []);
    for (const { mean, error, runs } of table.rows) {
      const [a = 0, b = 0] = runs.map(({ value }) => value ?? Number.NaN);
      assert.ok(Math.abs((mean ?? 0) - (a + b) / 2) < 1e-12);
      // Of two values the standard error of the mean is half their distance.
      assert.ok(Math.abs((error ?? 0) - Math.abs(a - b) / 2) < 1e-12);
    }
    for (const { steps, status } of table.rows[1]?.runs ?? [])
      assert.ok(status === "stopped" && steps >= 10 && steps < 20, `${status} ${steps}`);

    const asked = await workspace.finish("runs", "sweep", "rates", "--json");
    assert.deepEqual(tableSchema.parse(JSON.parse(asked.text)).rows, table.rows);

    // A second time there is nothing to do; with more seeds, only these are made.
    const more = await workspace.finish(
      "run",
      file,
      "--json",
      "--set",
      "sweep.seeds=3",
      "--set",
      "sweep.stop=null",
    );
    assert.deepEqual(
      trialsOf(more).map(([, seed, state]) => [seed, state]),
      [1, 1, 2, 2].map((seed): unknown[] => [seed, "kept"]).concat([3, 3].map((seed) => [seed, "started"])),
    );
    assert.equal(more.lines.filter(isStep).length, 40);
    const shown = await workspace.finish("runs", "show", runsOf(more)[5] ?? "", "--json");
    const run = z
      .looseObject({ tags: z.array(z.string()), config: z.looseObject({}) })
      .parse(JSON.parse(shown.text));
    assert.deepEqual(run.tags, [`sweep:${table.sweep}`]);
    assert.equal(run.config["sweep"], undefined);
  }));

test("Ctrl-C leaves the run going, and says how the sweep goes on; a dry run starts nothing", () =>
  inWorkspace(async (workspace, file) => {
    const dry = await workspace.finish("run", file, "--json", "--dry-run");
    assert.equal(dry.code, 0, dry.stderr);
    const [planned] = dry.lines;
    assert.deepEqual(planned?.["trials"], [
      { trial: 1, seed: 1, values: { "update.optimizer.lr": 1e-2 } },
      { trial: 2, seed: 1, values: { "update.optimizer.lr": 1e-7 } },
      { trial: 3, seed: 2, values: { "update.optimizer.lr": 1e-2 } },
      { trial: 4, seed: 2, values: { "update.optimizer.lr": 1e-7 } },
    ]);
    const talk = workspace.start("run", file, "--json", "--set", "steps=100000");
    await talk.until(({ lines }) => lines.some(isStep));
    talk.child.kill("SIGINT");
    assert.equal(await talk.ended, 0, talk.stderr);
    assert.match(talk.stderr, /Detached\. The run continues/);
    assert.match(talk.stderr, /3 runs of the sweep are not started\. Go on with it: gradus run /);
    const [run = ""] = runsOf(talk);
    const again = workspace.start("run", file, "--json", "--set", "steps=100000");
    await again.until(({ lines }) => lines.some(isStep));
    assert.deepEqual(trialsOf(again), [[1, 1, "followed"]]);
    assert.deepEqual(runsOf(again), [run]);
    again.child.kill("SIGINT");
    await again.ended;
  }));
