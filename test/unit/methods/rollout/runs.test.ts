/** Branching in whole runs of the tiny model: what was taken over, what trains, what is compared, and that a resumed run is the same. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { RolloutRecordLog } from "../../../../shared/log/records.ts";
import { essence, ofKind, testRun, type TestRun } from "../../../support/runFolder.ts";
import { inLong } from "../../../support/thorough.ts";

const branch = "{ use: top_entropy, k: 2, children: 3 }";
const rolloutsOf = (run: TestRun): RolloutRecordLog[] =>
  ofKind(run.records(), "rollout").filter(({ step, row }) => step >= 10 && row.use === "train");

async function finished(...set: readonly string[]): Promise<TestRun> {
  const run = testRun(["checkpoint.keep=9", ...set]);
  assert.equal(await run.work(), 0, run.ending());
  return run;
}

/** The tokens of a row that were given, which are its first. */
function givenOf({ columns: { origin, tokens } }: RolloutRecordLog): number[] {
  const given = [...origin!].filter((kind) => kind === 1).length;
  assert.ok(
    origin!.subarray(0, given).every((kind) => kind === 1),
    "what was prefilled comes first",
  );
  return [...tokens!.subarray(0, given)];
}

test("of a group of 8, 2 are written first and 3 branches leave each of them", async () => {
  const run = await finished(
    `rollout={ group: 8, branch: ${branch} }`,
    "advantage.scale=group_std",
    "model.layers=2",
  );
  try {
    const rows = rolloutsOf(run);
    const at = new Map(rows.map((one) => [`${one.step}/${one.row.group}/${one.row.index}`, one]));
    const left = rows.filter(({ row }) => row.parent !== undefined);
    assert.ok(left.length > rows.length / 2, `${left.length} of ${rows.length}`);
    for (const one of left) {
      const { row, columns, step } = one;
      assert.equal(row.parent!.index, Math.floor((row.index - 2) / 3));
      const above = at.get(`${step}/${row.group}/${row.parent!.index}`)!;
      const given = givenOf(one);
      assert.equal(given.length, row.parent!.token);
      assert.deepEqual(given, [...above.columns.tokens!.subarray(0, given.length)]);
      assert.deepEqual([...columns.context!], [...above.columns.context!], "behind the same prompt");
      assert.ok(
        above.row.response!.startsWith(row.parent!.text!) && row.response!.startsWith(row.parent!.text!),
      );
      assert.deepEqual(
        [...columns.mask!],
        [...columns.origin!].map((kind) => (kind === 0 ? 1 : 0)),
        "what was taken over does not train",
      );
      // Of the tokens after the first that are more than a space, at most one is less certain.
      const words = [...above.row.response!].map((text, t) => ({ text, t }));
      const others = words.filter(({ text, t }) => t > 0 && text.trim() !== "");
      const entropies = above.columns.entropy!;
      assert.ok(others.some(({ t }) => t === given.length));
      assert.ok(others.filter(({ t }) => entropies[t]! > entropies[given.length]!).length < 2);
    }
    for (const { row, columns } of rows.filter(({ row }) => row.index < 2)) {
      assert.equal(row.parent, undefined);
      assert.ok(columns.origin!.every((kind) => kind === 0));
    }
  } finally {
    run.remove();
  }
});

test("advantages are over all of a group, first rollouts and branches", async () => {
  const run = await finished(
    `rollout={ group: 8, branch: ${branch} }`,
    "advantage={ baseline: group_mean, scale: group_std }",
    "reward.terms={ correct: exact_match, brief: { use: length, shape: linear, weight: 0.1 } }",
  );
  try {
    const groups = new Map<string, RolloutRecordLog["row"][]>();
    for (const { step, row } of rolloutsOf(run))
      groups.set(`${step}/${row.group}`, [...(groups.get(`${step}/${row.group}`) ?? []), row]);
    let mixed = 0;
    for (const rows of groups.values()) {
      assert.deepEqual(
        rows.map(({ index }) => index),
        [0, 1, 2, 3, 4, 5, 6, 7],
      );
      const rewards = rows.map(({ reward }) => Number(reward));
      const mean = rewards.reduce((sum, one) => sum + one, 0) / 8;
      const deviation = Math.sqrt(rewards.reduce((sum, one) => sum + (one - mean) ** 2, 0) / 7);
      if (deviation > 0) mixed += 1;
      rows.forEach(({ advantage }, i) =>
        assert.ok(Math.abs(Number(advantage) - (rewards[i]! - mean) / (deviation + 1e-4)) < 1e-4),
      );
    }
    assert.ok(mixed > 0);
    const values = ofKind(run.records(), "metrics").at(-1)!.values;
    assert.ok(Number(values["branch/rollouts"]) > 0.5 && Number(values["branch/rollouts"]) <= 0.75);
    assert.ok(Number(values["branch/entropy"]) > 0);
    assert.ok(Number(values["branch/place"]) > 0 && Number(values["branch/place"]) < 1);
  } finally {
    run.remove();
  }
});

test("a resumed run branches where the first one did", async () => {
  const run = await finished(`rollout={ group: 4, branch: ${branch} }`);
  try {
    const whole = run.records();
    rmSync(join(run.folder, "checkpoints", "19"), { recursive: true });
    assert.equal(await run.work(1), 0, run.ending(1));
    assert.deepEqual(essence(run.records(1), 15), essence(whole, 15));
  } finally {
    run.remove();
  }
});

test("`budget: rest` leaves a branch what its parent has not used, `whole` begins again", async () => {
  const lengths = async (budget: string): Promise<number> => {
    const run = await finished(
      "tasks=[{ env: reverse_text, lengths: [6] }]",
      `rollout={ group: 4, max_tokens: 4, branch: { use: uniform, budget: ${budget} } }`,
    );
    try {
      return Math.max(...rolloutsOf(run).map(({ columns }) => columns.tokens!.length));
    } finally {
      run.remove();
    }
  };
  assert.equal(await lengths("rest"), 4);
  assert.ok((await lengths("whole")) > 4);
});

test("where no token is long enough, branches begin where their tasks do, and the run says so", async () => {
  const run = await finished(
    "model.tokenizer={ use: bpe, vocabulary: 270 }",
    "rollout={ group: 4, branch: { use: top_entropy, min_characters: 40 } }",
    "stages.practice.steps=1",
  );
  try {
    const rows = rolloutsOf(run);
    assert.ok(rows.length > 0 && rows.every(({ row }) => row.parent === undefined));
    const [event] = ofKind(run.records(), "event").filter(({ name }) => name === "no-branch");
    assert.match(event!.message, /^rollout\.branch: 12 branches found no token/);
  } finally {
    run.remove();
  }
});

test("CURE's two stages: 4 rollouts with 3 branches each, then 16 plain ones", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gradus-cure-"));
  const file = join(folder, "cure.gradus.yaml");
  writeFileSync(
    file,
    `extends: cure-two-stage
model: { base: tiny, width: 32, layers: 1, heads: 2, hidden: 64, context: 32 }
tasks: [{ env: reverse_text, lengths: [2] }]
rollout: { prompts: 2, max_tokens: 8 }
reward: { terms: { correct: exact_match, brief: { use: length, shape: linear, weight: 0.1 } } }
stages: { branching: { steps: 2 }, dapo: { steps: 1 } }
evaluation: { every: 9, prompts: 2, pass_at: [1] }
`,
  );
  const run = testRun([], file);
  try {
    assert.equal(await run.work(), 0, run.ending());
    const rows = ofKind(run.records(), "rollout").filter(({ row }) => row.use === "train");
    for (const step of [0, 1, 2]) {
      const own = rows.filter((one) => one.step === step);
      const indexes = new Map<string, number[]>();
      for (const { row } of own) indexes.set(row.group, [...(indexes.get(row.group) ?? []), row.index]);
      for (const found of indexes.values()) assert.deepEqual(found, [...Array(16).keys()]);
      const parents = own.flatMap(({ row }) =>
        row.parent === undefined ? [] : [[row.index, row.parent.index]],
      );
      if (step === 2) assert.equal(parents.length, 0);
      else
        assert.ok(
          parents.length > 0 && parents.every(([index, above]) => Math.floor((index! - 4) / 3) === above),
        );
    }
  } finally {
    run.remove();
    rmSync(folder, { recursive: true });
  }
});

test("a searched group is a tree: rollouts leave earlier ones after a step, and theirs in turn", async () => {
  const search = "{ use: tree_search, width: 2, stride: 2, c: 0.5, parallel: 2 }";
  const run = await finished(
    "tasks=[{ env: reverse_text, lengths: [6] }]",
    `rollout={ group: 8, max_tokens: 8, branch: ${search} }`,
    "advantage={ baseline: tree_siblings, scale: none }",
  );
  try {
    const rows = rolloutsOf(run);
    const at = new Map(rows.map((one) => [`${one.step}/${one.row.group}/${one.row.index}`, one]));
    const left = rows.filter(({ row }) => row.parent !== undefined);
    assert.ok(left.length > rows.length / 2, `${left.length} of ${rows.length}`);
    let nested = 0;
    for (const one of left) {
      const { row, columns, step } = one;
      assert.ok(row.parent!.index < row.index, "an earlier one");
      const above = at.get(`${step}/${row.group}/${row.parent!.index}`)!;
      if (above.row.parent !== undefined) nested += 1;
      const given = givenOf(one);
      assert.equal(given.length, row.parent!.token);
      assert.equal(given.length % 2, 0, "after a step");
      assert.deepEqual(given, [...above.columns.tokens!.subarray(0, given.length)]);
      assert.ok(columns.tokens!.length <= 8, "a branch has what is left of the response");
      assert.deepEqual(
        [...columns.mask!],
        [...columns.origin!].map((kind) => (kind === 0 ? 1 : 0)),
      );
    }
    assert.ok(nested > 0, "a search has more than one level");
    for (const group of new Set(rows.map(({ step, row }) => `${step}/${row.group}`)))
      assert.deepEqual(
        rows.filter(({ step, row }) => `${step}/${row.group}` === group).map(({ row }) => row.index),
        [0, 1, 2, 3, 4, 5, 6, 7],
      );
  } finally {
    run.remove();
  }
});

inLong(
  "a process reward model that learns the tree's values guides the search, the same again when it resumes",
  async () => {
    const run = await finished(
      "rollout={ group: 6, steps: { regex: '.' }, branch: { use: tree_search, by: process } }",
      "models.prm={ base: tiny, layers: 1, trains: true, value_heads: [reward], optimizer: { use: adamw, lr: 1.0e-3 } }",
      "reward.terms.vowel={ use: format, pattern: '[^aeiou]*[aeiou].*', weight: 0 }",
      "reward.terms.labels={ use: tree_value, of: vowel, weight: 0 }",
      "reward.terms.process={ use: process, model: prm, update: online, from: labels, weight: 0 }",
    );
    try {
      const whole = run.records();
      const labels = rolloutsOf(run).flatMap(({ row }) => {
        const given = row.rewards?.["labels"];
        return typeof given === "object" && given !== null ? given.values : [];
      });
      assert.ok(labels.length > 0 && labels.every((one) => Number(one) >= 0 && Number(one) <= 1));
      rmSync(join(run.folder, "checkpoints", "19"), { recursive: true });
      assert.equal(await run.work(1), 0, run.ending(1));
      assert.deepEqual(essence(run.records(1), 15), essence(whole, 15));
    } finally {
      run.remove();
    }
  },
);
