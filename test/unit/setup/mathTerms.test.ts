/** `gradus doctor` says who judges answers of mathematics, for each term `math` of a config. */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { checkMathTerms } from "../../../server/cli/doctor/mathTerms.ts";
import { temporary } from "../support.ts";

/** The machine's Python, that finds a package of this name in a folder, or none of the machine's packages at all. */
function interpreter(folder: string, name: string, more: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${more} exec python3 -S "$@"\n`);
  chmodSync(join(folder, name), 0o755);
}

test("each math term is named with the math-verify that it finds, or with what judges without it", async () => {
  const folder = temporary();
  mkdirSync(join(folder, "packages"));
  writeFileSync(join(folder, "packages", "math_verify.py"), "");
  interpreter(folder, "with", `PYTHONPATH=${join(folder, "packages")}`);
  interpreter(folder, "without", "PYTHONPATH=");
  const file = join(folder, "a.gradus.yaml");
  writeFileSync(
    file,
    `tasks: [{ env: arithmetic }]
reward:
  terms:
    found: { use: math, python: ./with }
    carried: { use: math, python: ./without }
    wanted: { use: math, by: math_verify, python: ./without }
    own: { use: math, by: compute_engine }
    nowhere: { use: math, python: ./nobody }
    other: equation
`,
  );
  try {
    const checks = await checkMathTerms(file, folder);
    assert.deepEqual(
      checks.map(({ name, status }) => [name, status]),
      [
        ["reward found", "ok"],
        ["reward carried", "optional"],
        ["reward wanted", "missing"],
        ["reward own", "ok"],
        ["reward nowhere", "missing"],
      ],
    );
    const [found, carried, wanted, own] = checks;
    assert.match(found!.detail, /^math-verify of .*with judges/);
    assert.match(carried!.detail, /the engine that comes with Gradus judges/);
    assert.equal(own!.detail.includes("math-verify"), false);
    for (const { fix } of [carried!, wanted!]) assert.match(fix!, /^pip install "math-verify/);
    const [alone, ...rest] = await checkMathTerms(undefined, folder);
    assert.equal(rest.length, 0);
    assert.equal(alone!.name, "math-verify");
    assert.notEqual(alone!.status, "missing", "nobody has asked for it");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
