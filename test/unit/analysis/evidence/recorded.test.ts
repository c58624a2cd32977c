/** Evidence of real runs of a real, very small model: what it says, where, and for how long. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { loadConfig } from "../../../../server/rules/load.ts";
import { see, type RunSightings } from "../../../../server/analysis/evidence/index.ts";
import { lastRunOf, readings, type Readings } from "../../../../server/analysis/evidence/readings.ts";
import { storedRun, type StoredRun } from "../../../support/storedRun.ts";

const text = readFileSync("test/fixtures/evidence/seen.gradus.yaml", "utf8");

describe("evidence of a recorded run", () => {
  let run: StoredRun;
  let seen: RunSightings;
  before(async () => {
    run = await storedRun(text);
    const { record } = run.store.queries.fileRuns([run.file]);
    assert.ok(record);
    seen = see(record, 100);
  });
  after(() => run.remove());

  const read = (now: string, sameFile = true): Readings => {
    const { source, tree } = loadConfig(run.file, { text: now });
    const { diagnostics: findings, ...rest } = readings(
      seen,
      { text: now, root: source, tree, sameFile: () => sameFile },
      run.file,
    );
    // How much memory this process took says more of the other tests than of the run.
    return { ...rest, diagnostics: findings.filter(({ rule }) => rule !== "run-memory") };
  };
  const rules = (now: string): string[] => read(now).diagnostics.map(({ rule, key }) => `${rule} ${key}`);

  it("is on the lines that it is about", () => {
    const lines = text.split("\n");
    const placed = read(text).diagnostics.map(({ rule, range }) => [
      rule,
      (lines[range.start.line] ?? "").slice(range.start.character).split(/[:,} ]/)[0],
    ]);
    assert.deepEqual(placed, [
      ["run-verdict", "terms"],
      ["run-constant-term", "correct"],
      ["run-constant-term", "solved"],
      ["run-constant-term", "format"],
      ["run-truncated", "max_tokens"],
      ["run-arm", "{"],
      ["run-arm", "{"],
      ["run-admission", "admission"],
      ["run-zero-advantage", "group"],
      ["run-until", "until"],
    ]);
  });

  it("gives numbers that the run's own records have", () => {
    const { diagnostics: findings, notes } = read(text);
    const said = (rule: string): string => findings.find((found) => found.rule === rule)?.message ?? "";
    assert.match(said("run-constant-term"), /^`correct` was 0 for 24 steps, .* no gradient/);
    const { rollouts } = run.store.queries.rollouts({ run: "one", tokens: false, limit: 10_000 });
    const trained = rollouts.filter(({ use }) => use === "train");
    const cut = trained.filter(({ finish }) => finish === "length").length / trained.length;
    assert.ok(said("run-truncated").includes(`truncated ${Math.round(cut * 100)} %`), said("run-truncated"));
    const hard = trained.filter(({ task }) => task?.arm === "hard/4").length;
    assert.ok(
      findings.some(({ message }) => message.startsWith(`Arm \`hard/4\`: 0 of ${hard} rollouts solved`)),
    );
    assert.match(said("run-admission"), /admitted 0 % of 96 groups .* 100 %: success rate is below the band/);
    const schedule = notes.find(({ label }) => label.includes("ended at step 15"));
    assert.equal(text.split("\n")[schedule?.at.line ?? 0]?.trim().split(":")[0], "brevity");
  });

  it("leads to rollouts that are there", () => {
    for (const { rule, rollouts } of read(text).diagnostics) {
      if (rollouts === undefined) continue;
      const { total } = run.store.queries.rollouts({ ...rollouts, tokens: false, limit: 1 });
      assert.ok(total > 0, `${rule}: no rollout of step ${rollouts.step} has ${rollouts.where}`);
    }
  });

  it("goes when its line changes, stays when others do, and comes back when the change is undone", () => {
    const all = rules(text);
    const longer = rules(text.replace("max_tokens: 3", "max_tokens: 4"));
    assert.deepEqual(
      all.filter((each) => !longer.includes(each)),
      ["run-truncated rollout.max_tokens"],
    );
    const other = rules(text.replace('pattern: "zzz"', 'pattern: "z"'));
    assert.deepEqual(
      all.filter((each) => !other.includes(each)),
      [
        "run-verdict reward.terms",
        "run-constant-term reward.terms.format",
        "run-zero-advantage rollout.group",
      ],
    );
    assert.deepEqual(rules(text), all);
    assert.deepEqual(rules(`# a comment\n\n${text.replace("seed: 1", "seed: 7")}`), all);
  });

  it("compares what holds in the stage: an override at the stage is another value", () => {
    const now = text.replace("steps: 24,", "steps: 24, rollout: { max_tokens: 5 },");
    assert.ok(!rules(now).includes("run-truncated rollout.max_tokens"));
    const same = text.replace("steps: 24,", "steps: 24, rollout: { max_tokens: 3 },");
    assert.ok(rules(same).includes("run-truncated rollout.max_tokens"));
  });

  it("says nothing of a term whose file is another, and nothing of a text that cannot be read", () => {
    const changed = read(text, false);
    assert.ok(!changed.diagnostics.some(({ rule }) => rule === "run-constant-term"));
    assert.ok(!changed.notes.some(({ label }) => label.includes("mean")));
    for (const broken of [
      "",
      "reward: {",
      "- a\n- b",
      "\t",
      "extends: ./gone.yaml\n",
      text.replaceAll("\n", "\r\n"),
    ])
      assert.doesNotThrow(() => read(broken));
    assert.equal(read(text.replaceAll("\n", "\r\n")).diagnostics.length, read(text).diagnostics.length);
  });

  it("is reported in hovers, with the metric's course", () => {
    const said = read(text).hover("reward.terms.format") ?? "";
    assert.match(said, /`format` was 0 .*\n\n`reward\/format` `[▁-█]+`/s);
    assert.equal(read(text).hover("seed"), undefined);
  });

  it("knows the last run: its headline, trend and times", () => {
    const last = run.store.queries.fileRuns([run.file]).last;
    assert.ok(last);
    const { headline, secondsPerStep, tokensPerStep, step, status } = lastRunOf(last, seen.view.record);
    assert.deepEqual(
      { metric: headline?.metric, trend: headline?.trend, step, status },
      { metric: "eval/pass@1", trend: "level", step: 33, status: "finished" },
    );
    assert.ok(secondsPerStep !== null && secondsPerStep > 0 && tokensPerStep !== null && tokensPerStep >= 16);
  });

  it("times the stage that the run is in, and says nothing of one that its record does not know yet", () => {
    const last = run.store.queries.fileRuns([run.file]).last;
    assert.ok(last);
    const clock = (stage: string, from: number, to: number): number | null => {
      const series = {
        "time/total": {
          steps: Float64Array.from({ length: to - from }, (_, i) => from + i),
          values: Float64Array.from({ length: to - from }, (_, i) => (from + i < 20 ? 0.013 : 2)),
        },
      };
      const stages = [
        { step: 0, name: "warm-up", kind: "sft" },
        ...(to > 20 ? [{ step: 20, name: "reinforce", kind: "rl" }] : []),
      ];
      return lastRunOf({ ...last, stage }, { ...seen.view.record, series, stages }).secondsPerStep;
    };
    assert.equal(clock("warm-up", 0, 20), 0.013);
    assert.equal(clock("reinforce", 0, 20), null, "the summary is ahead of the record");
    assert.equal(clock("reinforce", 0, 40), 2);
    assert.equal(clock("warm-up", 0, 40), 0.013);
  });

  it("has stamps that move with the run, and places for its rollouts", () => {
    const { queries } = run.store;
    assert.deepEqual(queries.fileStamps([["/nowhere"]]), ["\n"]);
    assert.deepEqual(queries.fileRuns(["/nowhere"]), { last: null, record: null });
    assert.equal(queries.fileStamps([[run.file]])[0], queries.fileStamps([["/other", run.file]])[0]);
    const steps = queries.rolloutSteps("one");
    assert.deepEqual(
      { first: steps[0], last: steps.at(-1), stepsLength: steps.length },
      { first: 10, last: 33, stepsLength: 24 },
    );
    assert.equal(queries.rolloutPlaces("one", 33).length, 16);
  });
});

describe("evidence of a run that trains", () => {
  it("reports the clip, the divergence, the gradient and the evaluation", async () => {
    const run = await storedRun(text, {}, ["curriculum.admission=none", "rollout.max_tokens=8"]);
    try {
      const { record } = run.store.queries.fileRuns([run.file]);
      assert.ok(record);
      const { sightings } = see(record, 100);
      const said = (kind: string): string =>
        sightings.find((sighting) => sighting.kind === kind)?.message ?? `nothing of ${kind}`;
      const tokens = record.series["tokens/trained"]?.values.reduce((sum, value) => sum + value, 0) ?? 0;
      assert.match(said("run-clip"), /acted on 0 of .* ratio is 1/);
      assert.ok(tokens > 0);
      assert.match(said("run-kl"), /divergence from `reference` was never above/);
      assert.match(said("run-clip-norm"), /was above 0\.000001 in \d\d %/);
      assert.match(said("run-evaluation"), /^Held-out tasks, steps 9 to 33: pass@1/);
      assert.match(said("run-memory"), /at its peak; the prediction was .*/);
      assert.ok(!sightings.some(({ kind }) => kind === "run-admission"));
    } finally {
      run.remove();
    }
  });
});
