/** Each kind of evidence on a log written by hand and read by a real store: what makes it speak, and a near miss. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { see } from "../../../../server/analysis/evidence/index.ts";
import { readings } from "../../../../server/analysis/evidence/readings.ts";
import { applyEdits } from "../../../../server/config/text/textEdits.ts";
import { loadConfig } from "../../../../server/rules/load.ts";
import type { VerdictFix } from "../../../../shared/run/verdict.ts";
import { writeCollapsedRun } from "../../../support/collapsedRun.ts";
import type { RunRecord } from "../../../../server/analysis/evidence/record.ts";
import type { JsonObject } from "../../../../shared/lib/json.ts";
import { end, evaluation, group, metrics, rollout, start, type Written } from "../../log/sample.ts";
import { newStore, write } from "../../store/support.ts";

const term = { use: "format", weight: 1 };
const usual: JsonObject = {
  name: "hand",
  tasks: [{ name: "countdown", env: "countdown" }],
  rollout: { max_tokens: 64, group: 2 },
  reward: { terms: { correct: term } },
  advantage: { baseline: { use: "group_mean" } },
  curriculum: { admission: { use: "success_band" } },
  objective: { use: "clipped", low: 0.2, high: 0.2, entropy: 0 },
  kl: [{ model: "reference", coefficient: 0.001 }],
  update: { optimizer: { use: "adamw", lr: 0.001, clip_norm: 1 }, epochs: 1 },
  evaluation: { prompts: 100, every: 10 },
  model: { base: "tiny" },
};

/** What a run of 30 steps has shown, whose metrics are `at(step)`. */
function shown(
  at: (step: number) => Record<string, number | "NaN">,
  more: {
    readonly config?: JsonObject;
    readonly records?: (step: number) => readonly Written[];
    readonly steps?: number;
  } = {},
): RunRecord {
  const { folder, store } = newStore();
  const steps = Array.from({ length: more.steps ?? 30 }, (_, step) => step);
  const begin: Written = {
    ...start(),
    run: "hand",
    file: "/hand.gradus.yaml",
    config: { ...usual, ...more.config },
  } as Written;
  write(folder, "hand", 0, [
    [[begin], -1],
    ...steps.map((step) => [[metrics(step, at(step)), ...(more.records?.(step) ?? [])], step] as const),
    [[end(steps.length - 1)], steps.length - 1],
  ]);
  store.ingest.register("hand");
  store.ingestAll("hand");
  const { record } = store.queries.fileRuns(["/hand.gradus.yaml"]);
  assert.ok(record);
  return record;
}

const said = (record: RunRecord, kind: string, level = "diagnostic"): string[] =>
  see(record, 100).sightings.flatMap((sighting) =>
    sighting.kind === kind && sighting.level === level ? [sighting.message] : [],
  );

const paid = (step: number, values: readonly (number | null)[]): Written[] =>
  values.map((value, index) => {
    const sample = rollout(step, index);
    if (sample.kind !== "rollout") throw new Error("not a rollout");
    return { ...sample, row: { ...sample.row, rewards: { correct: value } } };
  });

describe("kinds of evidence", () => {
  it("constant term: only where siblings are equal, for long enough", () => {
    const fires = shown(() => ({ "reward/correct": 0.5 }), { records: (step) => paid(step, [0.5, 0.5]) });
    assert.match(said(fires, "run-constant-term").join(), /`correct` was 0.500 for 30 steps/);
    const differ = shown(() => ({ "reward/correct": 0.5 }), { records: (step) => paid(step, [0, 1]) });
    assert.deepEqual(said(differ, "run-constant-term"), []);
    const late = shown((step) => ({ "reward/correct": step < 15 ? 0 : 1 }), {
      records: (step) => paid(step, [1, 1]),
    });
    assert.deepEqual(said(late, "run-constant-term"), []);
    const lately = shown((step) => ({ "reward/correct": step < 5 ? 0 : 1 }), {
      records: (step) => paid(step, [1, 1]),
    });
    assert.match(said(lately, "run-constant-term").join(), /was 1 for the last 25 steps/);
  });

  it("term errors: how many of how many, and the last step", () => {
    const fires = shown((step) => ({ "reward/correct/errors": step === 7 ? 2 : 0 }), {
      records: (step) => [group(step)],
    });
    assert.match(
      said(fires, "run-term-errors").join(),
      /failed on 2 of 60 rollouts in 30 steps, most recently in step 7/,
    );
    assert.deepEqual(
      said(
        shown(() => ({ "reward/correct/errors": 0 })),
        "run-term-errors",
      ),
      [],
    );
  });

  it("truncation: a mean over rollouts, from a twentieth on", () => {
    const fires = shown(() => ({ "rollout/truncated": 0.23 }));
    assert.deepEqual(said(fires, "run-truncated"), [
      "`max_tokens: 64` truncated 23 % of rollouts in 30 steps.",
    ]);
    assert.deepEqual(
      said(
        shown(() => ({ "rollout/truncated": 0.04 })),
        "run-truncated",
      ),
      [],
    );
  });

  it("arms: none solved, nearly all solved, and neither with too few rollouts", () => {
    const solved =
      (successes: number, size: number) =>
      (step: number): Written[] => [{ ...group(step), successes, size } as Written];
    const none = shown(() => ({}), { records: solved(0, 16) });
    assert.deepEqual(said(none, "run-arm"), ["Arm `countdown/3`: 0 of 480 rollouts solved in 30 steps."]);
    const all = shown(() => ({}), { records: solved(16, 16) });
    assert.match(said(all, "run-arm").join(), /480 of 480 rollouts solved in 30 steps\. It has little left/);
    assert.deepEqual(
      said(
        shown(() => ({}), { records: solved(0, 2) }),
        "run-arm",
      ),
      [],
    );
    assert.deepEqual(
      said(
        shown(() => ({}), { records: solved(5, 16) }),
        "run-arm",
      ),
      [],
    );
  });

  it("admission: a diagnostic where most is thrown away, else a note", () => {
    const rejecting =
      (every: number) =>
      (step: number): Written[] => [
        {
          ...group(step),
          admitted: step % every === 0,
          reason: step % every === 0 ? null : "success rate 0.05 is below the band 0.1 to 0.9",
        } as Written,
      ];
    assert.match(
      said(
        shown(() => ({}), { records: rejecting(10) }),
        "run-admission",
      ).join(),
      /admitted 10 % of 30 groups in 30 steps\. Left out: 90 %: success rate is below the band/,
    );
    const half = shown(() => ({}), { records: rejecting(2) });
    assert.deepEqual(said(half, "run-admission"), []);
    assert.match(said(half, "run-admission", "note").join(), /admitted 50 %/);
  });

  it("clip: a diagnostic where it never acted, and why", () => {
    const never = shown(() => ({ "update/clip_fraction": 0, "tokens/trained": 100 }));
    assert.match(
      said(never, "run-clip").join(),
      /0 of 3,000 trained tokens in 30 steps\. With one update per step/,
    );
    const once = shown((step) => ({ "update/clip_fraction": step === 3 ? 0.1 : 0 }));
    assert.deepEqual(said(once, "run-clip"), []);
    assert.deepEqual(
      said(
        shown(() => ({ "update/clip_fraction": 0 }), { steps: 10 }),
        "run-clip",
      ),
      [],
    );
  });

  it("KL: too small to hold anything, far beyond holding, and in between a note", () => {
    const small = shown(() => ({ "policy/kl/reference": 2e-5 }));
    assert.match(said(small, "run-kl").join(), /never above 2\.0e-5 nats .* adds nothing/);
    const large = shown((step) => ({ "policy/kl/reference": step === 9 ? 23 : 0.1 }));
    assert.match(said(large, "run-kl").join(), /reached 23 nats per token at step 9/);
    const fine = shown(() => ({ "policy/kl/reference": 0.05 }));
    assert.deepEqual(said(fine, "run-kl"), []);
    assert.match(said(fine, "run-kl", "note").join(), /never above 0\.050/);
  });

  it("gradient: an explosion against the steps before it, or no number", () => {
    const spike = shown((step) => ({ "update/grad_norm": step === 20 ? 41 : 1 + (step % 3) / 10 }));
    assert.match(
      said(spike, "run-gradient-norm").join(),
      /exploded at step 20: 41, after about 1\.10 before\. `clip_norm` cut it to 1/,
    );
    const lost = shown((step) => ({ "update/grad_norm": step >= 25 ? "NaN" : 1 }));
    assert.match(
      said(lost, "run-gradient-norm").join(),
      /at step 25: not a finite number\. It did so in 5 steps/,
    );
    assert.deepEqual(
      said(
        shown((step) => ({ "update/grad_norm": step === 20 ? 9 : 1 })),
        "run-gradient-norm",
      ),
      [],
    );
  });

  it("critic: one that explains nothing for long enough, and neither one that does nor one that is new", () => {
    const noisy = (level: number) => (step: number) => ({
      "value/explained_variance": level + 0.1 * Math.sin(step),
    });
    assert.match(
      said(shown(noisy(-0.1), { steps: 100 }), "run-critic").join(),
      /^After 100 steps the critic explains −0\.\d+ of the returns' variance/,
    );
    assert.deepEqual(said(shown(noisy(0.3), { steps: 100 }), "run-critic"), []);
    assert.deepEqual(said(shown(noisy(-0.1), { steps: 75 }), "run-critic"), []);
    // PPO's critic as countdown's runs show it: it begins below nothing and rises above the share only later.
    const rising = (step: number): Record<string, number> => ({
      "value/explained_variance": -0.07 + 0.001 * step + 0.02 * Math.sin(step * step),
    });
    for (const steps of [80, 90, 100]) assert.deepEqual(said(shown(rising, { steps }), "run-critic"), []);
    // It has learned by now.
    const learned = (step: number): Record<string, number> => ({
      "value/explained_variance": step < 60 ? 0 : 0.6,
    });
    assert.deepEqual(said(shown(learned, { steps: 100 }), "run-critic"), []);
  });

  it("critic: on a log, values that rise and fall, and not those that stay up, are noise, or are of fresh rollouts", () => {
    const replay = { use: "file", path: "log.jsonl" };
    const hill = (step: number): Record<string, number> => ({
      "value/mean": 1 - ((step - 40) / 40) ** 2 + 0.02 * Math.sin(7 * step),
    });
    assert.match(
      said(shown(hill, { steps: 80, config: { replay } }), "run-critic").join(),
      /rose from 0\.\d+ to 0\.9\d+ at about step (3[6-9]|4\d) and has fallen to 0\.\d+ since/,
    );
    assert.deepEqual(said(shown(hill, { steps: 80 }), "run-critic"), []);
    const up = (step: number): Record<string, number> => ({ "value/mean": 1 - 0.95 ** step });
    assert.deepEqual(said(shown(up, { steps: 80, config: { replay } }), "run-critic"), []);
    const noise = (step: number): Record<string, number> => ({ "value/mean": Math.sin(step * step) });
    assert.deepEqual(said(shown(noise, { steps: 80, config: { replay } }), "run-critic"), []);
  });

  it("entropy: a collapse, not a low beginning", () => {
    assert.match(
      said(
        shown((step) => ({ "policy/entropy": 2 * 0.8 ** step })),
        "run-entropy",
      ).join(),
      /fell from 1\.\d+ to 0\.0051 nats/,
    );
    assert.deepEqual(
      said(
        shown(() => ({ "policy/entropy": 0.04 })),
        "run-entropy",
      ),
      [],
    );
  });

  it("evaluation: what it measured, and a fall that is no chance", () => {
    const between =
      (first: number, last: number) =>
      (step: number): Written[] =>
        step === 0 || step === 29
          ? [
              {
                ...evaluation(step, step === 0 ? "first" : "last"),
                metrics: { "eval/pass@1": step === 0 ? first : last },
              } as Written,
            ]
          : [];
    const fell = shown(() => ({}), { records: between(0.6, 0.2) });
    assert.match(said(fell, "run-evaluation").join(), /made the model worse .* pass@1 60 % → 20 %/);
    const chance = shown(() => ({}), { records: between(0.6, 0.55) });
    assert.deepEqual(said(chance, "run-evaluation"), []);
    assert.match(said(chance, "run-evaluation", "note").join(), /pass@1 60 % → 55 %/);
  });

  it("until: met where the stage ended early, not met where it ran out", () => {
    const stage = (until: JsonObject): JsonObject => ({
      stages: [
        { name: "easy", kind: "rl", steps: 10, until },
        { name: "full", kind: "rl", steps: 20 },
      ],
    });
    const stages =
      (second: number) =>
      (step: number): Written[] =>
        step === 0 || step === second
          ? [
              {
                kind: "stage",
                step,
                index: step === 0 ? 0 : 1,
                name: step === 0 ? "easy" : "full",
                stage_kind: "rl",
              },
            ]
          : [];
    const until = { metric: "reward/correct", above: 0.8, window: 3 };
    const early = shown(() => ({ "reward/correct": 0.9 }), { config: stage(until), records: stages(4) });
    assert.match(said(early, "run-until", "note").join(), /held after 4 steps, at step 3/);
    const never = shown(() => ({ "reward/correct": 0.5 }), { config: stage(until), records: stages(10) });
    assert.match(
      said(never, "run-until").join(),
      /not met in 10 steps: the best mean of `reward\/correct` was 0\.500, the bound is 0\.800/,
    );
  });

  it("memory: a note, and a diagnostic where the prediction was far too small", () => {
    const as = (peak: number) => shown(() => ({ "memory/peak": peak, "memory/predicted": 1e9 }));
    assert.match(said(as(1.1e9), "run-memory", "note").join(), /1\.1 GB/);
    assert.match(
      said(as(2e9), "run-memory").join(),
      /2\.0 GB of memory at its peak; the prediction was 1\.0 GB/,
    );
  });

  it("looks back on a window only, and leaves out what a later attempt trained again", () => {
    const record = shown((step) => ({ "rollout/truncated": step < 20 ? 1 : 0 }));
    assert.deepEqual(
      see(record, 10).sightings.filter(({ kind }) => kind === "run-truncated"),
      [],
    );
    const { folder, store } = newStore();
    const from = (attempt: number, first: number, cut: number): Parameters<typeof write>[3] => [
      [
        [
          {
            ...start(attempt, attempt === 0 ? null : first, "hand"),
            file: "/again.yaml",
            config: usual,
          } as Written,
        ],
        attempt === 0 ? -1 : first - 1,
      ],
      ...Array.from(
        { length: 10 },
        (_, index) => [[metrics(first + index, { "rollout/truncated": cut })], first + index] as const,
      ),
    ];
    write(folder, "hand", 0, from(0, 0, 1));
    write(folder, "hand", 1, from(1, 0, 0));
    store.ingest.register("hand");
    store.ingestAll("hand");
    const again = store.queries.fileRuns(["/again.yaml"]).record;
    assert.ok(again);
    assert.deepEqual(said(again, "run-truncated"), []);
  });
});

describe("the verdict", () => {
  it("is a warning on the term that it is about, and its edits are quick fixes that say their effect", async () => {
    const { folder, store } = newStore();
    const file = join(folder, "..", "starter.gradus.yaml");
    const run = writeCollapsedRun(folder, file);
    store.ingest.register(run);
    store.ingestAll(run);
    const { record } = store.queries.fileRuns([file]);
    assert.equal(record?.verdict?.state, "collapsed");
    const told = { ...record, verdict: { ...record.verdict, fixes: record.verdict.fixes.map(effective) } };
    const text = readFileSync(file, "utf8");
    const { tree, source } = loadConfig(file, { text });
    const { diagnostics } = readings(
      see(told, 100),
      { text, root: source, tree, sameFile: () => true },
      file,
    );
    const found = diagnostics.find(({ rule }) => rule === "run-verdict");
    assert.equal(found?.severity, "warning");
    assert.equal(found.key, "reward.terms.brevity");
    assert.match(found.message, /^Collapsed at step \d+ together with `brevity`/);
    const [gate, out] = found.fixes;
    assert.equal(gate?.title, "Reward brevity only where correct is (as measured)");
    assert.match(applyEdits(text, gate.edits), /combine: "?product"?/);
    assert.match(applyEdits(text, out!.edits), /brevity: \{ use: \.\/brevity\.ts, weight: 0 \}/);
  });
});

const effective = (fix: VerdictFix): VerdictFix => ({ ...fix, effect: "as measured" });
