import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { recordedScores } from "../../../../server/analysis/judge/ask.ts";
import { judgeReport } from "../../../../server/analysis/judge/report.ts";
import { judgeHeadline, judgeLines } from "../../../../shared/rollouts/judgeText.ts";
import {
  appendLabel,
  labelsFileOf,
  readLabels,
  type LabelledRollout,
  type LabelValue,
} from "../../../../shared/rollouts/labels.ts";

const labelled = (
  index: number,
  value: LabelValue,
  score: number | null,
  response = "an answer",
): LabelledRollout => ({
  row: { run: "r", step: 1, group: "0", index, response },
  label: { term: "tone", value, score, weight: 1 },
});
/** 15 of 20 right. */
const fair = Array.from({ length: 20 }, (_, i) =>
  labelled(i, i % 2 === 0 ? "good" : "bad", (i % 2 === 0) === (i % 4 !== 3 || i > 11) ? 0.9 : 0.1),
);

test("twenty labels: what they say and what they leave open", () => {
  const labels = Array.from({ length: 20 }, (_, i) =>
    labelled(i, i < 10 ? "good" : "bad", i < 7 || i > 17 ? 1 : 0),
  );
  const report = judgeReport("tone", labels, recordedScores(labels));
  assert.equal(
    judgeHeadline(report),
    "20 labels: `tone` agrees with 75 % (53 to 89 %) of them, better than a coin that passes as many (50 %).",
  );
  assert.deepEqual(
    judgeLines(report).map(({ text }) => text),
    [
      "Cohen's κ 0.50 (0.06 to 0.78); 0 is a coin.",
      "Of the 9 that it passes (scores from 0.5), 78 % (45 to 94 %) are good.",
      "Of the 11 that it fails (scores below), 27 % (10 to 57 %) are good after all.",
      "Length: no sign of a bias, for at the same label scores or lengths do not differ.",
      "Position: not measured, for the scores are those recorded with the rollouts. Ask the judge again to measure it.",
      "To know the agreement to ± 10 points, label about 80.",
    ],
  );
  assert.deepEqual(
    report.disagreements.map(({ index, good }) => [index, good]),
    [
      [7, true],
      [8, true],
      [9, true],
      [18, false],
      [19, false],
    ],
  );
});

test("what cannot be told is said so", () => {
  const coin = fair.map((one, i) => labelled(i, i % 3 === 0 ? "good" : "bad", one.label.score));
  assert.match(
    judgeHeadline(judgeReport("tone", coin, recordedScores(coin))),
    /do not distinguish it from a coin/,
  );
  const good = Array.from({ length: 5 }, (_, i) => labelled(i, "good", 1));
  assert.match(
    judgeHeadline(judgeReport("tone", good, recordedScores(good))),
    /100 % \(57 to 100 %\) of them; all are good, so they do not show whether it tells good from bad\./,
  );
  const none = [labelled(0, "skip", 1), labelled(1, "bad", null)];
  const report = judgeReport("tone", none, recordedScores(none));
  assert.equal(judgeHeadline(report), "No label can be compared with a score of `tone` yet.");
  assert.deepEqual(
    judgeLines(report).map(({ text }) => text),
    ["1 rollout skipped.", "1 labelled rollout without a score: no score was recorded with the rollout."],
  );
});

test("a judge that pays for length, and one that changes its mind", () => {
  const long = Array.from({ length: 20 }, (_, i) =>
    labelled(i, i % 2 === 0 ? "good" : "bad", i / 20, "x".repeat(5 + 3 * i)),
  );
  const scores = long.map(({ label }) => label.score!);
  const again = scores.map((score, i) => (i === 9 || i === 11 ? 1 - score : score));
  const report = judgeReport("tone", long, { scores, again, from: "asked" });
  const said = judgeLines(report).map(({ text }) => text);
  assert.ok(report.length!.low > 0.9);
  assert.ok(
    said.includes(
      "A good answer scores higher than a bad one in 45 % (24 to 69 %) of pairs (AUROC); 50 % is a coin.",
    ),
  );
  assert.ok(
    said.some((text) => text.startsWith("Length: longer answers score more than their label explains")),
  );
  assert.ok(
    said.includes("Position: asked again in the reverse order, it changes 10 % (3 to 30 %) of its verdicts."),
    said.join("\n"),
  );
  assert.equal(judgeReport("tone", long, { scores, from: "asked", threshold: 0.2 }).passed.labels, 16);
});

test("labels are appended, the last about a rollout holds, and a half-written line is named", () => {
  const folder = mkdtempSync(join(tmpdir(), "gradus-labels-"));
  try {
    const file = labelsFileOf(join(folder, "sums.gradus.yaml"));
    assert.equal(file, join(folder, "sums.labels.jsonl"));
    assert.deepEqual(readLabels(file), []);
    appendLabel(file, labelled(0, "good", 1));
    appendLabel(file, labelled(1, "bad", 0));
    appendLabel(file, labelled(0, "bad", 1));
    assert.deepEqual(
      readLabels(file).map(({ row, label }) => [row.index, label.value]),
      [
        [0, "bad"],
        [1, "bad"],
      ],
    );
    assert.equal(readFileSync(file, "utf8").split("\n").length, 4);
    appendFileSync(
      file,
      '{"step":1,"group":"0","index":3,"response":"x","label":{"term":"tone","value":"fine"}}',
    );
    assert.throws(() => readLabels(file), /label\.value/);
    // What is appended begins a line of its own.
    appendLabel(file, labelled(4, "good", 1));
    assert.equal(readFileSync(file, "utf8").trim().split("\n").length, 5);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
