/** What a sweep's runs come to: which is stopped early, and the table. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { worseThanMedian, type SweepPoint } from "../../../server/analysis/sweep/median.ts";
import { comparable, isTrial, planSweep } from "../../../server/analysis/sweep/plan.ts";
import { sweepRows, type SweepRun } from "../../../server/analysis/sweep/table.ts";
import { headsOf, sweepTableLines } from "../../../server/cli/sweep/tableText.ts";
import { loadConfig } from "../../../server/rules/load.ts";

const course = (...values: readonly number[]): SweepPoint[] =>
  values.map((value, at) => ({ steps: 10 * at, value }));
const rule = { after: 10, trials: 3, better: "max" } as const;

describe("the median rule", () => {
  // Means from step 10 to step 30: 0.25, 0.5 and 0.75.
  const others = [
    course(0.9, 0.125, 0.25, 0.375),
    course(0.9, 0.5, 0.5, 0.5, 0.9),
    course(0.9, 0.5, 0.75, 1),
  ];

  it("stops a run whose best is below the median of the others' means up to the same step", () => {
    assert.deepEqual(worseThanMedian(course(0, 0.1, 0.49, 0.2), others, rule), {
      steps: 30,
      best: 0.49,
      median: 0.5,
      others: 3,
    });
  });

  it("leaves alone one that is as good, or was once", () => {
    assert.equal(worseThanMedian(course(0, 0.1, 0.2, 0.5), others, rule), undefined);
    assert.equal(worseThanMedian(course(0.6, 0.1, 0.1, 0.1), others, rule), undefined);
  });

  it("goes the other way where less is better", () => {
    const least = { ...rule, better: "min" } as const;
    assert.equal(worseThanMedian(course(9, 0.49, 0.8, 0.8), others, least), undefined);
    assert.equal(worseThanMedian(course(9, 0.6, 0.8, 0.8), others, least)?.best, 0.6);
  });

  it("waits for its first step, and for enough runs that came as far", () => {
    assert.equal(worseThanMedian(course(0), others, rule), undefined);
    assert.equal(worseThanMedian(course(0, 0, 0, 0), others.slice(1), rule), undefined);
    // Only one of the three came to step 40.
    assert.equal(worseThanMedian(course(0, 0, 0, 0, 0), others, rule), undefined);
    assert.equal(worseThanMedian(course(0, 0, 0, 0, 0), others, { ...rule, trials: 1 })?.others, 1);
  });
});

const run = (lr: number, seed: number, value: number | null, more: Partial<SweepRun> = {}): SweepRun => ({
  run: `lr-${lr}-${seed}`,
  seed,
  values: { "update.optimizer.lr": lr },
  status: "finished",
  stopped: false,
  steps: 40,
  value,
  ...more,
});

describe("the table", () => {
  const stopped = { status: "stopped", stopped: true, steps: 20 } as const;
  const runs = [
    run(1e-6, 1, 0.1, stopped),
    run(1e-5, 1, 0.4),
    run(1e-4, 1, 0.9, { status: "failed" }),
    run(1e-6, 3, 0.3),
    run(1e-6, 2, 0.2, { ...stopped, steps: 10 }),
    run(1e-5, 2, 0.6),
    run(1e-5, 3, 0.99, { status: "running", steps: 7 }),
  ];

  it("has means and standard errors over the seeds that ended, the best first", () => {
    const rows = sweepRows(runs, "max");
    assert.deepEqual(
      rows.map(({ values, n, stopped: early }) => [values["update.optimizer.lr"], n, early]),
      [
        [1e-5, 2, 0],
        [1e-6, 3, 2],
        [1e-4, 0, 0],
      ],
    );
    // (0.4 + 0.6) / 2; √((0.1² + 0.1²) / 1) / √2
    assert.ok(Math.abs((rows[0]?.mean ?? 0) - 0.5) < 1e-12);
    assert.ok(Math.abs((rows[0]?.error ?? 0) - 0.1) < 1e-12);
    // (0.1 + 0.2 + 0.3) / 3; √((0.1² + 0 + 0.1²) / 2) / √3
    assert.ok(Math.abs((rows[1]?.mean ?? 0) - 0.2) < 1e-12);
    assert.ok(Math.abs((rows[1]?.error ?? 0) - 0.1 / Math.sqrt(3)) < 1e-12);
    assert.deepEqual([rows[2]?.mean, rows[2]?.error], [null, null]);
    assert.deepEqual(
      rows[1]?.runs.map(({ seed }) => seed),
      [1, 2, 3],
    );
  });

  it("puts the least first where less is better, and what has no value last", () => {
    assert.deepEqual(
      sweepRows(runs, "min").map(({ mean }) => mean?.toFixed(1) ?? null),
      ["0.2", "0.5", null],
    );
  });

  it("is printed with what was stopped, what failed, and how to go on", () => {
    const lines = sweepTableLines({
      sweep: "lr-0123ab",
      file: "/p/my lr.gradus.yaml",
      metric: "eval/pass@1",
      better: "max",
      parameters: ["update.optimizer.lr"],
      rows: sweepRows(runs, "max"),
      missing: [{ seed: 4, values: { "update.optimizer.lr": 1e-6 } }],
    });
    assert.deepEqual(lines.slice(0, 6), [
      "lr-0123ab  7 runs, 1 not made yet: gradus run '/p/my lr.gradus.yaml'",
      "",
      "  lr  eval/pass@1 ± s.e.  n  stopped early              not counted",
      "1e-5       0.500 ± 0.100  2                             1 live",
      "1e-6       0.200 ± 0.058  3  2 of 3, after 10–20 steps",
      "1e-4                   –  0                             1 failed",
    ]);
    assert.equal(
      lines.at(-1),
      "Run the best one alone: gradus run '/p/my lr.gradus.yaml' --set sweep=null --set update.optimizer.lr=0.00001",
    );
    assert.ok(!lines.some((line) => line.startsWith("The best two")));
  });

  it("heads columns with the last word of a key, where no other has it", () => {
    assert.deepEqual(headsOf(["update.optimizer.lr", "rollout.group"]), ["lr", "group"]);
    assert.deepEqual(headsOf(["models.a.width", "models.b.width"]), ["models.a.width", "models.b.width"]);
  });
});

describe("a sweep's plan", () => {
  const text = `tasks: [{ env: countdown, numbers: [3, 4] }]
reward: { terms: { correct: equation } }
sweep: { parameters: { update.optimizer.lr: { values: [1.0e-6, 1.0e-5] } }, seeds: 2 }
`;
  const file = "/p/sums.gradus.yaml";
  const planOf = (written: string) => {
    const load = (set: readonly string[] = []) => loadConfig(file, { text: written, set }).config;
    const config = load();
    assert.ok(config?.sweep !== undefined);
    return planSweep(config, config.sweep, (set) => load(set) ?? config);
  };

  it("is the same sweep where it has grown, and another where the config is", () => {
    const { id } = planOf(text);
    assert.equal(planOf(text.replace("seeds: 2", "seeds: 5").replace("1.0e-6,", "1.0e-6, 2.0e-6,")).id, id);
    assert.equal(planOf(`${text}seed: 9\n`).id, id);
    assert.notEqual(planOf(`${text}rollout: { group: 4 }\n`).id, id);
  });

  it("knows its runs by their configs and seeds", () => {
    const { trials } = planOf(text);
    const [first, second] = trials;
    assert.ok(first !== undefined && second !== undefined);
    assert.ok(isTrial(first, { seed: 1, tree: structuredClone(first.tree) }));
    assert.ok(!isTrial(first, { seed: 2, tree: first.tree }));
    assert.ok(!isTrial(first, { seed: 1, tree: second.tree }));
  });

  it("knows them where the project was moved", () => {
    const here = comparable({ seed: 1, file: "/p/data/a.jsonl" }, "/p/sums.gradus.yaml");
    assert.deepEqual(here, comparable({ seed: 2, file: "/q/data/a.jsonl" }, "/q/sums.gradus.yaml"));
  });
});
