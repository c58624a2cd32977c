/** What the side bar and the status bar say of a folder with another trainer's launches. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { barText, cardOf, partsOf } from "../../../extension/features/trainers/card.ts";
import type { Finding, FolderSum } from "../../../shared/editor/folderSum.ts";

const file = "scripts/train.sh";
const none: FolderSum = {
  findings: [],
  projects: [file],
  logs: [],
  unchecked: [],
  trainers: [{ trainer: "verl", version: "0.9.1", assumed: false, files: [file] }],
  outputs: [],
  checkouts: [],
  rewards: [],
  left: [],
};
const finding = (severity: Finding["severity"], at = file): Finding => ({
  ...{ file: at, line: 3, by: "validate", message: "Wrong." },
  severity,
});
const outputs = [{ folder: "outputs", steps: 60, config: file }];
const line = (sum: FolderSum): string | undefined => {
  const card = cardOf("/p", sum);
  return card && `${card.title} · ${card.said}`;
};

test("one launch is named, with its findings and what it left", () => {
  const findings = [finding("error"), finding("warning"), finding("info")];
  assert.equal(
    line({ ...none, findings, outputs }),
    "verl 0.9.1 · scripts/train.sh · 2 findings · outputs: 60 steps",
  );
  assert.equal(
    line({ ...none, findings: [finding("warning")] }),
    "verl 0.9.1 · scripts/train.sh · 1 finding",
  );
  assert.equal(line({ ...none, findings: [finding("info")] }), "verl 0.9.1 · scripts/train.sh · no findings");
  const many = Array.from({ length: 1_234 }, () => finding("error"));
  assert.equal(line({ ...none, findings: many }), "verl 0.9.1 · scripts/train.sh · 1,234 findings");
});

test("a release that nothing names is not said, and the tooltip says which was taken", () => {
  const trainers = [{ trainer: "TRL", version: "1.16.0", assumed: true, files: ["train.py"] }];
  const card = cardOf("/p", { ...none, trainers })!;
  assert.equal(card.title, "TRL");
  assert.match(card.tooltip, /checked as 1\.16\.0, the newest known/);
});

test("several launches are counted, and several trainers named", () => {
  const trainers = [
    { trainer: "verl", version: "0.9.1", assumed: false, files: ["a.sh", "b.sh"] },
    { trainer: "TRL", version: "1.2", assumed: false, files: ["c.py"] },
  ];
  const sum = { ...none, trainers, findings: [finding("error", "b.sh")], outputs };
  assert.equal(line(sum), "verl 0.9.1, TRL 1.2 · 3 files · 1 finding · outputs: 60 steps");
});

test("a checkout of a trainer is one line about the person's own files", () => {
  for (const trainer of ["verl", "TRL", "OpenRLHF"]) {
    const yours = ["my/a.sh", "my/b.sh", "examples/c.sh"];
    const sum = {
      ...none,
      trainers: [{ trainer, version: "0.8.0.dev", assumed: false, files: yours }],
      findings: [finding("error", "my/a.sh")],
      checkouts: [{ trainer, version: "0.8.0.dev", folder: ".", yours }],
    };
    assert.equal(line(sum), `${trainer} checkout · 3 files of yours`);
    assert.equal(barText([cardOf("/p", sum)!]), `${trainer} checkout: 3 files of yours`);
    const clean = { ...sum, trainers: [], checkouts: [{ ...sum.checkouts[0]!, yours: [] }] };
    assert.equal(cardOf("/p", clean), undefined);
  }
});

test("where nothing is a trainer's there is no card", () => {
  assert.equal(cardOf("/p", { ...none, trainers: [], logs: ["a.log"] }), undefined);
});

test("its rows are the launches, what is wrong elsewhere, what they left, and, where the folder is trusted, their rewards", () => {
  const findings = [
    finding("error"),
    { ...finding("error", "slurm-1.out"), by: "log" as const, message: "Collapsed at step 9." },
    finding("info", "notes.yaml"),
  ];
  const logs = ["old.log", "slurm-1.out"];
  const card = cardOf("/p", { ...none, findings, outputs, logs, rewards: [file] })!;
  const kinds = (trusted: boolean): readonly string[] => partsOf(card, trusted).map(({ kind }) => kind);
  assert.deepEqual(kinds(true), ["file", "output", "log", "log", "reward"]);
  assert.deepEqual(kinds(false), ["file", "output", "log", "log"]);
  assert.deepEqual(
    [...card.files, ...card.logs].map(({ label, said, starts, worst }) => [label, said, starts, worst]),
    [
      ["train.sh", "scripts · 1 finding", true, "error"],
      ["slurm-1.out", "1 finding", false, "error"],
      ["old.log", "", false, undefined],
    ],
  );
  assert.equal(card.files[0]?.tooltip, "scripts/train.sh\nline 3: Wrong.");
});

test("a finding in a cell of a notebook is no line of its file", () => {
  const trainers = [{ trainer: "TRL", version: "1.16.0", assumed: true, files: ["a.ipynb"] }];
  const findings = [{ ...finding("warning", "a.ipynb"), cell: 4 }];
  const [line] = cardOf("/p", { ...none, trainers, findings })!.files;
  assert.deepEqual([line?.line, line?.cell], [undefined, 4]);
  assert.match(line?.tooltip ?? "", /^cell 4, line 3: Wrong\.$/m);
});

test("the status bar has the shortest of it", () => {
  const card = cardOf("/p", { ...none, outputs })!;
  assert.equal(barText([]), undefined);
  assert.equal(barText([card]), "verl 0.9.1 · no findings · 60 steps");
  assert.equal(barText([card, card, card]), "verl 0.9.1 · no findings · 60 steps · 2 more folders");
});
