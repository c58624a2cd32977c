/** What entries of `kl` show of a group in a whole run: right and wrong siblings, never the rollout itself, never one twice. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ofKind, testRun } from "../../support/runFolder.ts";

const hint = (what: string, nth: number): string =>
  `{ model: teacher, shown: { what: ${what}, nth: ${nth}, template: '{help}|{prompt}' }, coefficient: 0 }`;

test("as many different siblings of each kind as there are, up to what entries ask for", async () => {
  const run = testRun([
    "steps=2",
    "stages=[]",
    "model.context=64",
    "rollout.group=6",
    "reward={ terms: { brief: { use: length, shape: linear } }, success: { terms: [brief], at_least: 0.5 } }",
    "models={ teacher: { polyak: { of: policy, tau: 1, every: 10 } } }",
    `kl=[${[hint("sibling", 1), hint("wrong_sibling", 1), hint("wrong_sibling", 2), hint("wrong_sibling", 3)].join(", ")}]`,
    "advantage={ token_weights: [{ use: contrast, model: teacher, wrong: [wrong_sibling, wrong_sibling-2, wrong_sibling-3] }] }",
    "objective.aggregate=token_mean",
  ]);
  try {
    assert.equal(await run.work(), 0, run.ending());
    const rows = ofKind(run.records(), "rollout").filter(
      ({ row }) => row.use === "train" && row.admitted !== false,
    );
    const succeeded = ({ row }: (typeof rows)[number]): boolean => Number(row.rewards?.["brief"]) >= 0.5;
    let most = 0;
    for (const one of rows) {
      const others = rows.filter(
        (other) => other !== one && other.step === one.step && other.row.group === one.row.group,
      );
      const [right, wrong] = [others.filter(succeeded), others.filter((other) => !succeeded(other))];
      const { sibling, ...rest } = one.row.shown ?? {};
      assert.equal(sibling !== undefined, right.length > 0);
      if (sibling !== undefined) assert.ok(right.some(({ row }) => row.response === sibling));
      const names = ["wrong_sibling", "wrong_sibling-2", "wrong_sibling-3"].slice(0, wrong.length);
      assert.deepEqual(Object.keys(rest), names);
      // Each is another one: taken away, the next is among those that are left.
      const left = wrong.map(({ row }) => row.response);
      for (const text of Object.values(rest)) {
        assert.ok(left.includes(text), text);
        left.splice(left.indexOf(text), 1);
      }
      most = Math.max(most, names.length);
    }
    assert.equal(most, 3);
  } finally {
    run.remove();
  }
});
