/**
 * verl's own V1 trainer, on CPU, trains on the curriculum of an exported project: its loop, data loader, checkpoints, TransferQueue, agent
 * loop, replay buffer and reward workers, all but vLLM's server and the workers that hold a model. The answers are those of an embedded run,
 * so that its draws must come. Wants a Python with verl and what it imports in GRADUS_PEER_PYTHON.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { before, describe, it } from "node:test";
import { gradus } from "../support/cli.ts";
import {
  admittedOf,
  curriculumMetrics,
  groupsOf,
  rounded,
  type RunGroup,
} from "../support/embeddedGroups.ts";
import { tinyRun } from "../support/replayedRun.ts";
import { rewardHost } from "../support/rewardHost.ts";
import { testRun } from "../support/runFolder.ts";
import { decisionsOf, type Reply } from "../support/service.ts";
import { until } from "../support/until.ts";
import { temporary } from "../unit/support.ts";

const python = process.env["GRADUS_PEER_PYTHON"] ?? "";
const has =
  python !== "" && spawnSync(python, ["-c", "import transfer_queue, verl.trainer.ppo.v1"]).status === 0;
const options = { skip: has ? false : "GRADUS_PEER_PYTHON names no Python with verl and what it imports" };

const steps = 6;
/** verl saves after every second update, and is killed in the fifth. */
const [saved, killed] = [4, 5];

const lengths = `tasks: [{ env: reverse_text, lengths: [2, 3, 4] }]\nsteps: ${steps}\n`;
const two = `tasks: [{ env: reverse_text, lengths: [2, 3] }, { name: sums, env: arithmetic }]\nsteps: ${steps}\n`;
const curricula: Readonly<Record<string, string>> = {
  // Its reward is TypeScript, and one of its terms is for one of the sources alone.
  "own reward": `${tinyRun.replace("{ right:", "{ reversed: { use: exact_match, weight: 0.5, tasks: [reverse_text] }, right:").replace(/\{ use: format, [^}]*\}/, "./right.ts")}${two}curriculum: { signal: mean_abs_advantage, estimator: ema, sampler: { use: boltzmann, temperature: 0.1 } }\nseed: 5\n`,
  "success band": `${tinyRun}${lengths}curriculum: { admission: { use: success_band, low: 0.2, high: 0.8 }, sampler: boltzmann }\n`,
  thompson: `${tinyRun}${two}curriculum: { signal: success_rate, estimator: beta, sampler: thompson }\n`,
};

interface Update {
  readonly step: number;
  /** Of each rollout the step of its draw, its task, prompt and advantage. */
  readonly rows: readonly (readonly [number, string, string, number])[];
}

interface Trained {
  readonly status: number | null;
  readonly updates: readonly Update[];
  readonly said: string;
}

/** Each prompt's answers, in the order of the steps. */
function answersOf(groups: readonly (readonly RunGroup[])[]): Record<string, string[]> {
  const answers: Record<string, string[]> = {};
  for (const { rows } of groups.flat())
    for (const { row } of rows) (answers[row.prompt ?? ""] ??= []).push(row.response ?? "");
  return answers;
}

function train(project: string, answers: Record<string, string[]>, crash = ""): Trained {
  const place = temporary();
  const [script, out] = [join(place, "script.json"), join(place, "updates.jsonl")];
  writeFileSync(script, JSON.stringify(answers));
  const words = ["trainer.save_freq=2", "trainer.test_freq=3", "trainer.resume_mode=auto"];
  const { status, stderr } = spawnSync(
    python,
    ["-B", resolve("test/support/verl/train.py"), project, script, out, ...words],
    {
      encoding: "utf8",
      maxBuffer: 1 << 28,
      timeout: 500_000,
      cwd: place,
      env: {
        ...process.env,
        CUDA_VISIBLE_DEVICES: "",
        RAY_AUTH_MODE: "disabled",
        GRADUS_ROLLOUTS: join(project, "out", "gradus-rollouts"),
        CRASH: crash,
      },
    },
  );
  const lines = existsSync(out) ? readFileSync(out, "utf8").trim().split("\n") : [];
  return { status, updates: lines.map((line): Update => JSON.parse(line)), said: stderr.slice(-4000) };
}

/** Ray kills what its workers have started, which leaves the file. */
async function ended(project: string): Promise<void> {
  const ready = join(project, "out", "curriculum", "service.json");
  await until(() => !existsSync(ready) || isGone(ready), "the service's end");
}

function isGone(ready: string): boolean {
  const { pid }: { pid: number } = JSON.parse(readFileSync(ready, "utf8"));
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true; // nobody has this number
  }
}

/** The groups of an update, by name: a task that comes twice in a step has two. */
const trainedIn = ({ rows }: Update): string[] =>
  [...new Set(rows.map(([step, id]) => `${step} ${id}`))].sort();

describe("verl trains on an exported curriculum", options, () => {
  before(() => rewardHost());
  for (const [name, text] of Object.entries(curricula))
    it(`${name}: draws and estimates of the embedded run, and again from a checkpoint`, async () => {
      const folder = temporary();
      const file = join(folder, "a.gradus.yaml");
      writeFileSync(file, text);
      writeFileSync(join(folder, "right.ts"), own);
      const run = testRun([], file);
      assert.equal(await run.work(), 0, run.ending());
      const records = run.records();
      const groups = groupsOf(records);
      run.remove();
      assert.equal(groups.length, steps);
      for (const some of groups)
        assert.equal(new Set(some.map(({ task }) => task)).size, some.length, "a task comes twice in a step");
      const project = join(folder, "the project");
      const exported = await gradus(["export", file, "--to", "verl", "--out", project], folder);
      assert.equal(exported.code, 0, exported.stderr);

      const first = train(project, answersOf(groups), String(killed));
      assert.notEqual(first.status, 0);
      assert.deepEqual(
        first.updates.map(({ step }) => step),
        [1, 2, 3, 4, 5],
        first.said,
      );
      const second = train(project, answersOf(groups.slice(saved)));
      assert.equal(second.status, 0, second.said);
      assert.deepEqual(
        second.updates.map(({ step }) => step),
        [5, 6],
      );
      const decisions = decisionsOf(project);
      assert.deepEqual(
        decisions.map(({ step }) => step),
        // A restore writes the step again that it goes back to.
        [0, 1, 2, 3, 4, 3, 4, 5],
      );
      for (const decision of decisions) checkDecision(decision, groups, records);
      for (const update of [...first.updates, ...second.updates]) {
        const drawn = update.step - 1;
        const own = groups[drawn]!;
        const admitted = admittedOf(own);
        const names = (some: readonly string[]): string[] => some.map((id) => `${drawn} ${id}`).sort();
        if (admitted.length > 0) assert.deepEqual(trainedIn(update), names(admitted));
        // An update of nothing is one group without an advantage.
        else assert.ok(update.rows.length > 0 && update.rows.every(([, , , advantage]) => advantage === 0));
      }
      await ended(project);
    });

  it("is told of the groups that verl's own filter throws away, and draws others in their place", async () => {
    const folder = temporary();
    const file = join(folder, "a.gradus.yaml");
    const text = curricula["success band"]!.replace(
      /\{ use: success_band[^}]*\}/,
      "{ use: nonzero_variance, refill: adaptive }",
    );
    writeFileSync(file, text.replace(`steps: ${steps}`, "steps: 2"));
    const project = join(folder, "the project");
    assert.equal((await gradus(["export", file, "--to", "verl", "--out", project], folder)).code, 0);
    // Of seven answers in turn one is right: most groups of four have it, some do not.
    const { status, updates, said } = train(project, { "*": ["a", ..."zzzzzz"] });
    assert.equal(status, 0, said);
    const decisions = decisionsOf(project);
    assert.equal(decisions.length, 2);
    for (const [step, decision] of decisions.entries()) {
      const admitted = (decision["admitted"] as string[]).map((id) => `${step} ${id}`);
      assert.ok(trainedIn(updates[step]!).every((name) => admitted.includes(name)));
      assert.equal(trainedIn(updates[step]!).length, 3);
      assert.deepEqual(decision["missing"], []);
    }
    assert.ok(decisions.some(({ rejected }) => (rejected as unknown[]).length > 0));
    await ended(project);
  });
});

function checkDecision(
  decision: Reply,
  groups: readonly (readonly RunGroup[])[],
  records: Parameters<typeof curriculumMetrics>[0],
): void {
  const step = Number(decision["step"]);
  assert.deepEqual(
    [decision["trainer_step"], decision["drawn_after"], decision["missing"]],
    [step + 1, step - 1, []],
  );
  assert.deepEqual(decision["admitted"], admittedOf(groups[step]!), `step ${step}`);
  const logged = curriculumMetrics(records, step);
  assert.deepEqual(rounded(decision["metrics"] as object), rounded(logged), `step ${step}`);
}

/** What `right` of the other configs gives. */
const own = `export const score = ({ response }: { readonly response: string }): number => (/^[a-m].*$/s.test(response) ? 1 : 0);
`;
