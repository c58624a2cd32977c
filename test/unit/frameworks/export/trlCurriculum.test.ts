/** TRL's own GRPOTrainer, on CPU, trains on the tasks that the service draws; skipped where TRL is not installed. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { pythonWith, rewardPackages } from "../../../support/pythonPackages.ts";
import { decisionsOf, projectOf, serviceProgram, type Reply } from "../../../support/service.ts";

const found = pythonWith("torch, trl, datasets", rewardPackages, false);
const skip = found.kind === "none" ? found.why : false;

const config = `tasks: [{ env: reverse_text, lengths: [2, 3, 5] }]
curriculum: { signal: success_rate, sampler: { use: boltzmann, temperature: 0.1 }, admission: { use: success_band, low: 0.05, high: 0.95 } }
rollout: { prompts: 3, group: 4, max_tokens: 4 }
reward: { terms: { right: { use: format, pattern: "[a-m].*" }, brief: { use: length, shape: linear, weight: 0 } } }
`;
const made: string[] = [];
after(() => made.forEach((folder) => rmSync(folder, { recursive: true, force: true })));
async function project(): Promise<string> {
  const folder = projectOf(config);
  made.push(folder);
  copyFileSync(await serviceProgram(), join(folder, "service", "service.mjs"));
  const client = "gradus_curriculum.py";
  copyFileSync(resolve("server/frameworks/carried/service", client), join(folder, "service", client));
  return folder;
}

interface Trained {
  /** By generation, of each rollout: step, name of the task, prompt. */
  readonly asked: readonly (readonly (readonly [number, string, string])[])[];
  /** By batch, rollouts without an advantage. */
  readonly zeros: readonly number[];
}

function train(
  folder: string,
  out: string,
  steps: number,
  env = {},
  checkpoint: readonly string[] = [],
): Trained {
  assert.ok(found.kind === "python");
  const { status, stdout, stderr } = spawnSync(
    found.path,
    ["-B", resolve("test/optional/trlCurriculum.py"), folder, out, String(steps), ...checkpoint],
    {
      encoding: "utf8",
      timeout: 300_000,
      env: { ...process.env, CUDA_VISIBLE_DEVICES: "", HF_HUB_OFFLINE: "1", ...env },
    },
  );
  assert.equal(status, 0, stderr.slice(-3000));
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
}
function output(): string {
  const out = mkdtempSync(join(tmpdir(), "gradus-trl-"));
  made.push(out);
  return out;
}

test(
  "what TRL generates is what was drawn and decided, rejected groups train nothing, and estimates move",
  { skip },
  async () => {
    const folder = await project();
    const out = output();
    const { asked, zeros } = train(folder, out, 6);
    const decisions = decisionsOf(folder);
    assert.equal(decisions.length, 6);
    for (const [step, decision] of decisions.entries()) {
      const rows = asked[step]!;
      // Each prompt as often as its group has rollouts, one group after the other.
      const names = rows.filter((_, i) => i % 4 === 0).map(([, id]) => id);
      assert.deepEqual(
        rows.map(([of, id]) => [of, id]),
        names.flatMap((id) => Array.from({ length: 4 }, () => [step, id])),
      );
      const rejected = (decision["rejected"] as Reply[]).map(({ task }) => task);
      assert.deepEqual(new Set([...(decision["admitted"] as string[]), ...rejected]), new Set(names));
      assert.ok(zeros[step]! >= 4 * rejected.length);
      assert.deepEqual(
        [decision["trainer_step"], decision["drawn_after"]],
        [step + 1, Math.max(-1, step - 2)],
      );
      const metrics = decision["metrics"] as Readonly<Record<string, number>>;
      const twos = rows.filter(([, , prompt]) => prompt.length === 3).length / rows.length;
      assert.equal(metrics["curriculum/reverse_text/2/share"], twos);
    }
    assert.notDeepEqual(decisions[0]?.["estimates"], decisions[5]?.["estimates"]);
    // From a checkpoint it goes on as it went on then.
    const again = train(folder, out, 6, {}, [join(out, "checkpoint-4")]);
    assert.deepEqual(again.asked[0], asked[4]);
    const resumed = decisionsOf(folder).slice(6);
    assert.deepEqual(
      resumed.map(({ step }) => step),
      [3, 4, 5],
    );
    assert.deepEqual(resumed[0], decisions[3]);
  },
);

for (const [accumulation, iterations, late] of [
  [2, 1, 2],
  [2, 2, 1],
  [1, 2, 1],
] as const)
  test(
    `draws know all outcomes but those of ${late - 1} steps: accumulation ${accumulation}, iterations ${iterations}`,
    { skip },
    async () => {
      const folder = await project();
      const env = { GA: String(accumulation), ITERS: String(iterations) };
      train(folder, output(), 4 * iterations, env);
      const decisions = decisionsOf(folder);
      assert.equal(decisions.length, 4);
      assert.deepEqual(
        decisions.map((one) => one["drawn_after"]),
        decisions.map((_, step) => Math.max(-1, step - late)),
      );
    },
  );
