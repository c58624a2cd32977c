/** The ledger of what public trainers' examples are said to be: its form, and that no error of it is false or unproven. */
import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { candidates, judge } from "../../../bench/frameworks/judge.ts";
import { isFile, parseLedger, withProofs, type Line } from "../../../bench/frameworks/ledger.ts";
import { keyRules, frameworkRules } from "../../../server/frameworks/check/index.ts";

const file = "bench/frameworks/ledger.jsonl";
const lines = parseLedger(readFileSync(file, "utf8"));
const files = lines.filter(isFile);

describe("the ledger", () => {
  it("holds seventeen trainers, each counted at one commit, in less than 500 kB", () => {
    const counts = lines.filter((line) => !isFile(line));
    assert.equal(new Set(counts.map(({ repository }) => repository)).size, 17);
    for (const { repository, commit } of lines)
      assert.ok(
        counts.some((one) => one.repository === repository && one.commit === commit),
        repository,
      );
    assert.ok(statSync(file).size < 500_000);
  });

  it("holds no error that is false or not proven", () => {
    const unproven = files.flatMap(({ repository, path, errors }) =>
      errors
        .filter(({ proof }) => proof.state !== "true")
        .map(({ rule, line }) => `${repository} ${path}:${line} ${rule}`),
    );
    assert.deepEqual(unproven, []);
    assert.ok(files.some(({ errors }) => errors.length > 0));
  });

  it("names rules that exist, and each file once", () => {
    const ids = new Set([...keyRules, ...frameworkRules].map(({ id }) => id));
    for (const { errors, warnings } of files)
      for (const rule of [...errors.map((error) => error.rule), ...Object.keys(warnings)])
        assert.ok(ids.has(rule), rule);
    assert.equal(new Set(files.map(({ repository, path }) => `${repository} ${path}`)).size, files.length);
  });
});

describe("judging a checkout", () => {
  it("looks at what may configure a run, and keeps what was found out about it", () => {
    const checkout = mkdtempSync(join(tmpdir(), "gradus-judge-"));
    try {
      mkdirSync(join(checkout, "examples/deep"), { recursive: true });
      mkdirSync(join(checkout, "tests/examples"), { recursive: true });
      cpSync("test/fixtures/frameworks/rules/keys/unknownKey.sh", join(checkout, "examples/deep/run.sh"));
      cpSync("test/fixtures/frameworks/rules/keys/unknownKey.sh", join(checkout, "tests/examples/run.sh"));
      writeFileSync(join(checkout, "examples/own.sh"), "python own_grpo.py --num_generations 8\n");
      assert.deepEqual(candidates(checkout), ["examples/deep/run.sh", "examples/own.sh"]);
      assert.equal(judge(checkout, "examples/own.sh"), undefined);
      const judged = judge(checkout, "examples/deep/run.sh");
      assert.ok(judged !== undefined && judged.errors.length > 0);
      assert.ok(judged.errors.every(({ proof }) => proof.state === "open"));
      const at = { repository: "a/b", commit: "0".repeat(40) };
      const why = "nothing in the framework refuses it";
      const proven: Line = {
        ...at,
        ...judged,
        errors: judged.errors.map((error) => ({ ...error, proof: { state: "false" as const, why } })),
      };
      assert.deepEqual(withProofs({ ...at, ...judged }, [proven]), proven);
      const changed = { ...at, ...judged, sha256: "0".repeat(64) };
      assert.deepEqual(withProofs(changed, [proven]), changed);
    } finally {
      rmSync(checkout, { recursive: true, force: true });
    }
  });
});
