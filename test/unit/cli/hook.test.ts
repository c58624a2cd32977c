/** `gradus hook` as a person uses it: the file, a reward that it wraps, and `gradus explain` on what it recorded. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { gradus } from "../../support/cli.ts";

const folder = mkdtempSync(join(tmpdir(), "gradus-hook-"));
after(() => rmSync(folder, { recursive: true, force: true }));

test("the file records what a reward is asked, and explain reads it", async () => {
  const written = await gradus(["hook", "--json"], folder);
  assert.deepEqual([written.code, written.stdout, written.stderr], [0, '{"file":"gradus_hook.py"}\n', ""]);
  writeFileSync(
    join(folder, "reward.py"),
    `from gradus_hook import log_rollouts, set_step
@log_rollouts
def equation(completions, **kw): return [float(len(c)) for c in completions]
for step in (1, 2):
    set_step(step)
    equation(prompts=["a", "a"], completions=["x", "xx" * step])
`,
  );
  assert.equal(spawnSync("python3", ["-B", "reward.py"], { cwd: folder }).status, 0);
  writeFileSync(
    join(folder, "a.gradus.yaml"),
    "tasks: [{ env: countdown, numbers: [3] }]\nreward: { terms: { equation: { use: equation } } }\nadvantage: { baseline: group_mean, scale: none }\n",
  );
  const words = ["explain", "a.gradus.yaml", "--rollouts", "gradus-rollouts", "--json"];
  const explained = await gradus(words, folder);
  assert.equal(explained.stderr, "");
  const lines: { type: string; step: number; advantage?: number }[] = explained.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ type, step, advantage }) => [type, step, advantage]),
    [
      ["rollout", 1, -0.5],
      ["rollout", 1, 0.5],
      ["summary", 1, undefined],
      ["rollout", 2, -1.5],
      ["rollout", 2, 1.5],
      ["summary", 2, undefined],
    ],
  );
  const [file] = readdirSync(join(folder, "gradus-rollouts"));
  const one = await gradus(
    ["explain", "a.gradus.yaml", "--rollouts", join("gradus-rollouts", file!), "--step", "2", "--json"],
    folder,
  );
  assert.equal(one.stdout.trim().split("\n").length, 3);
});

test("another file of that name stays", async () => {
  writeFileSync(join(folder, "gradus_hook.py"), "mine");
  const refused = await gradus(["hook"], folder);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /gradus_hook.py: error: there is another file of that name/);
});
