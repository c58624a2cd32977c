/** The vectors made again: by a Python that has TRL, verl, OpenRLHF or SkyRL, named in GRADUS_PEER_PYTHON (PYTHONPATH counts). */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { z } from "zod";

const python = process.env["GRADUS_PEER_PYTHON"];
const folder = "test/fixtures/peers";
const numbers = z.array(z.array(z.number()));
const vectors = z.object({
  versions: z.record(z.string(), z.string()),
  cases: z.array(
    z.object({
      name: z.string(),
      config: z.string(),
      advantages: numbers,
      loss: z.number(),
      grad_logp: numbers,
    }),
  ),
});

/** As the script prints them; undefined where the package is not there. */
function made(script: string, words: readonly string[]): unknown {
  const { status, stdout, stderr } = spawnSync(python!, ["-B", script, ...words], {
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  if (status !== 0 && /ModuleNotFoundError: No module named '(verl|trl|openrlhf|skyrl)'/.test(stderr))
    return undefined;
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout.slice(stdout.indexOf("{")));
}

const skip = python === undefined ? "GRADUS_PEER_PYTHON names no Python with the frameworks" : false;

it("the rollouts are those that the script makes", { skip }, () => {
  const file = readFileSync(join(folder, "rollouts.json"), "utf8");
  assert.deepEqual(made(join(folder, "make.py"), ["rollouts", "--print"]), JSON.parse(file));
});

for (const peer of ["trl", "trl_dpo", "verl", "openrlhf", "skyrl"])
  it(`the vectors are those that ${peer} makes`, { skip }, (context) => {
    const again = made(join(folder, "make.py"), [peer, "--print"]);
    if (again === undefined) {
      context.skip(`that Python has no ${peer}`);
      return;
    }
    const { versions, cases } = vectors.parse(again);
    const file = join(folder, `${peer}-${versions[peer]}.json`);
    if (!existsSync(file)) {
      context.skip(`no vectors are kept of ${peer} ${versions[peer]}`);
      return;
    }
    const kept = vectors.parse(JSON.parse(readFileSync(file, "utf8")));
    assert.deepEqual(
      cases.map(({ name, config }) => [name, config]),
      kept.cases.map(({ name, config }) => [name, config]),
    );
    cases.forEach((one, i) => {
      const before = kept.cases[i]!;
      const near = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(b));
      assert.ok(near(one.loss, before.loss), one.name);
      const [now, then] = [
        [...one.advantages, ...one.grad_logp].flat(),
        [...before.advantages, ...before.grad_logp].flat(),
      ];
      assert.ok(
        now.every((value, t) => near(value, then[t]!)),
        one.name,
      );
    });
  });
