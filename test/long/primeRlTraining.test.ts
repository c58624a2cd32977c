/**
 * What prime-rl asks and trains of an exported project: its own dispatcher, curriculum, train sink, loss and scheduler, with rollouts
 * that are given. Wants the Python of primeRlProject.test.ts in GRADUS_PEER_PYTHON.
 */
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { z } from "zod";
import { rateAt } from "../../server/core/blocks/learningRate.ts";
import { primeRlPlan } from "../../server/frameworks/trainers/primeRl/lens/plan.ts";
import { tomlText, treeOf } from "../../server/frameworks/trainers/primeRl/project/toml.ts";
import { randomStream } from "../../server/lib/random.ts";
import { gradus } from "../support/cli.ts";
import { primeConfigs } from "../support/primeConfigs.ts";
import { drawnIn, primeProject, said, saidAll, withPrime } from "../support/primePeer.ts";
import { tinyRun } from "../support/replayedRun.ts";
import { ofKind, testRun } from "../support/runFolder.ts";
import { configOf, temporary } from "../unit/support.ts";

const drivesSchema = z.object({
  steps: z.array(z.tuple([z.number(), z.string()])),
  states: z.array(z.unknown()),
  metrics: z.array(z.record(z.string(), z.number())),
  batches: z.array(
    z.array(z.tuple([z.array(z.number()), z.array(z.number()).nullable(), z.array(z.boolean())])),
  ),
  dropped: z.number(),
  loss: z
    .object({
      loss: z.number(),
      gradients: z.array(z.tuple([z.array(z.number()), z.array(z.number())])),
    })
    .optional(),
});
type Drives = z.output<typeof drivesSchema>;

interface Rollout {
  readonly response: string;
  readonly rewards: Readonly<Record<string, number | null>>;
  readonly weights?: Readonly<Record<string, number>>;
  readonly logp: readonly number[];
  readonly ok?: boolean;
}

/** By the step, the tasks that were asked in it. */
function byStep({ steps }: Drives): string[][] {
  const found: string[][] = [];
  for (const [step, id] of steps) (found[step - 1] ??= []).push(id);
  return found;
}

const group = (rewards: readonly number[], ok: readonly boolean[] = []): Rollout[] =>
  rewards.map((reward, at) => ({
    ...{ response: "", rewards: { given: reward }, logp: [-1 - at], ok: ok[at] ?? true },
  }));

describe("a curriculum under prime-rl's dispatcher", withPrime, () => {
  it("hands out the tasks of a step as they were drawn, and waits for its outcomes", async () => {
    const out = await primeProject(primeConfigs["dppo"]!.replace("filter: { keep: nonzero }", ""));
    const found = said("drives", { folder: out, batches: 3 }, drivesSchema);
    const drawn = drawnIn(out);
    assert.deepEqual(byStep(found), [drawn.slice(0, 4), drawn.slice(4, 8), drawn.slice(8, 12)]);
    assert.equal(found.dropped, 0);
    // From the state that the checkpoint of the second step has.
    const again = { folder: out, batches: 1, step: 3, state: found.states[1] };
    const resumed = said("drives", again, drivesSchema);
    assert.deepEqual(
      resumed.steps.map(([, id]) => id),
      drawn.slice(8, 12),
    );
  });

  it("asks further tasks in the place of groups that are rejected, and of rollouts that fail", async () => {
    const out = await primeProject(primeConfigs["dapo"]!);
    const mixed = group([1, 0, 0, 1]);
    const steps = [
      [group([1, 1, 1, 1]), mixed, group([0.7, 0.7, 0.7, 0.7]), mixed, mixed, mixed],
      [mixed, mixed, mixed, group([1, 0, 0, 1], [false, true, true, true]), mixed],
    ];
    const found = said("drives", { folder: out, batches: 2, steps }, drivesSchema);
    const drawn = drawnIn(out);
    assert.deepEqual(byStep(found), [drawn.slice(0, 6), drawn.slice(6, 11)]);
    for (const batch of found.batches) assert.equal(batch.length, 16);
  });

  it("begins a batch anew where none of its rollouts has an advantage", async () => {
    const out = await primeProject(primeConfigs["dppo"]!);
    const [same, mixed] = [group([1, 1, 1, 1]), group([1, 0, 1, 1])];
    const steps = [[same, same, same, same, mixed, mixed, same, mixed]];
    const found = said("drives", { folder: out, batches: 1, steps }, drivesSchema);
    assert.equal(byStep(found)[0]!.length, 8);
    assert.equal(found.batches[0]!.length, 12, "prime-rl takes those without one out of the full batch");
  });
});

const lengths = "tasks: [{ env: reverse_text, lengths: [2, 3, 4] }]\n";
const two = "tasks: [{ env: reverse_text, lengths: [2, 3] }, { name: sums, env: arithmetic }]\n";
const curricula: Readonly<Record<string, string>> = {
  boltzmann: `${lengths}steps: 6\ncurriculum: { estimator: { use: ema, alpha: 0.5 }, sampler: { use: boltzmann, temperature: 0.05 } }\n`,
  thompson: `${two}steps: 6\ncurriculum: { signal: success_rate, estimator: beta, sampler: thompson }\n`,
  "prioritized prompts": `${lengths}steps: 6\ncurriculum: { arms: { use: prompt, pool: 12 }, signal: failure_ratio, estimator: last, sampler: { use: proportional } }\n`,
};

interface Embedded {
  readonly out: string;
  readonly steps: readonly (readonly { readonly id: string; readonly rollouts: readonly Rollout[] }[])[];
}

/** A run of the engine of Gradus, and the same config as a project. */
async function embedded(text: string): Promise<Embedded> {
  const folder = temporary();
  const config = `${tinyRun}${text}`;
  const file = join(folder, "a.gradus.yaml");
  writeFileSync(file, config);
  const run = testRun([], file);
  try {
    assert.equal(await run.work(), 0, run.ending());
    return { steps: groupsOf(run), out: await primeProject(config, folder) };
  } finally {
    run.remove();
  }
}

describe("a curriculum that observes, under prime-rl's dispatcher", withPrime, () => {
  const runs = new Map<string, Embedded & { readonly found: Drives }>();
  before(async () => {
    const all: Embedded[] = [];
    for (const text of Object.values(curricula)) all.push(await embedded(text));
    const found = saidAll(
      "drives",
      all.map(({ out, steps }) => ({
        folder: out,
        batches: steps.length,
        steps: steps.map((groups) => groups.map(({ rollouts }) => rollouts)),
      })),
      drivesSchema,
    );
    Object.keys(curricula).forEach((name, at) => runs.set(name, { ...all[at]!, found: found[at]! }));
  });

  for (const name of Object.keys(curricula))
    it(`${name}: the same outcomes, the same draws as an embedded run`, () => {
      const { out, steps, found } = runs.get(name)!;
      assert.deepEqual(
        byStep(found),
        steps.map((groups) => groups.map(({ id }) => id)),
      );
      assert.ok(Object.keys(found.metrics[1]!).some((metric) => /^curriculum\/.+\/share$/.test(metric)));
      const decisions = readFileSync(join(out, "out", "curriculum", "decisions.jsonl"), "utf8");
      assert.deepEqual(
        decisions
          .trim()
          .split("\n")
          .map((line) => {
            const { trainer_step, drawn_after, missing } = JSON.parse(line);
            return [trainer_step, drawn_after, missing];
          }),
        steps.map((_, at) => [at + 1, at - 1, []]),
      );
    });
});

/** By the step, the run's groups in the order in which they were drawn. */
function groupsOf(run: ReturnType<typeof testRun>): { id: string; rollouts: Rollout[] }[][] {
  const rows = ofKind(run.records(), "rollout").filter(({ row }) => (row.use ?? "train") === "train");
  const steps = [...new Set(rows.map(({ step }) => step))];
  return steps.map((step) => {
    const own = rows.filter((one) => one.step === step);
    return [...new Set(own.map(({ row }) => row.group))].map((id) => ({
      id,
      rollouts: own
        .filter(({ row }) => row.group === id)
        .map(({ row, columns }) => ({
          response: row.response ?? "",
          rewards: { right: Number(row.rewards?.["right"]) },
          logp: Array.from(columns["tokens"] ?? [0], () => -1),
        })),
    }));
  });
}

interface Trained {
  readonly ask: object;
  readonly rows: readonly { readonly logp_old: readonly number[] }[];
  /** Gradients by each token's log-prob, as Gradus explains them. */
  readonly wanted: readonly (readonly number[])[];
}

/** A batch of a config, with what Gradus makes of it. */
async function trained(name: string): Promise<Trained> {
  const text = primeConfigs[name]!;
  const folder = temporary();
  writeFileSync(join(folder, "a.gradus.yaml"), text);
  const out = await primeProject(text, folder);
  const groups = batchOf(name);
  const rows = groups.flatMap((members, at) =>
    members.map(({ response, rewards, logp, now }, index) => ({
      ...{ step: 0, group: `g${at}`, index, prompt: "", response, rewards, tokens: logp.map(() => 1) },
      ...{ logp_old: logp, logp_sampled: logp, logp_new: now },
      task: { env: "countdown", arm: "countdown/3", data: {} },
    })),
  );
  writeFileSync(join(folder, "rollouts.jsonl"), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const words = ["explain", "a.gradus.yaml", "--rollouts", "rollouts.jsonl", "--json"];
  const { code, stdout, stderr } = await gradus(words, folder);
  assert.equal(code, 0, stderr);
  const explained = stdout.trim().split("\n");
  const now = groups.flat().map((one) => ({ logp: one.logp, now: one.now }));
  return {
    ask: { folder: out, batches: 1, steps: [groups], now },
    rows,
    wanted: rows.map((_, at) => z.array(z.number()).parse(JSON.parse(explained[at]!).grad_logp)),
  };
}

/** Four groups of four rollouts of several lengths, in each of which some are right and some are not. */
function batchOf(name: string) {
  const random = randomStream(3, name);
  const between = (from: number, to: number): number => from + (to - from) * random.next();
  return Array.from({ length: 4 }, () =>
    Array.from({ length: 4 }, (_, at) => {
      const logp = Array.from({ length: 1 + Math.floor(between(0, 9)) }, () => float(between(-3, -0.01)));
      const correct = at === 0 ? 1 : at === 1 ? 0 : Math.round(between(0, 1));
      return {
        response: "a",
        rewards: { correct, short: float(between(0, 1)) },
        weights: { correct: 1, short: float(0.1) },
        logp,
        now: logp.map((one) => float(Math.min(-0.005, one + between(-0.4, 0.4)))),
      };
    }),
  );
}

describe("what prime-rl trains of a project", withPrime, () => {
  const names = Object.keys(primeConfigs).filter((one) => one !== "lora");
  const batches = new Map<string, Trained & { readonly found: Drives }>();
  before(async () => {
    const all = await Promise.all(names.map(trained));
    const found = saidAll(
      "drives",
      all.map(({ ask }) => ask),
      drivesSchema,
    );
    names.forEach((name, at) => batches.set(name, { ...all[at]!, found: found[at]! }));
  });

  for (const name of names)
    it(`${name}: the advantages, the loss and its gradients are those of the config`, () => {
      const { rows, wanted, found } = batches.get(name)!;
      const gradients = new Map(found.loss!.gradients.map(([row, own]) => [rounded(row), own]));
      for (const [at, { logp_old: logp }] of rows.entries())
        near(gradients.get(rounded(logp)) ?? logp.map(() => 0), wanted[at]!, `${name} ${at}`);
      assert.ok(wanted.flat().some((one) => one !== 0));
    });

  it("has the learning rates of the config", () => {
    const folder = temporary();
    const folders = new Map<string, string>();
    for (const [name, text] of Object.entries(primeConfigs)) {
      const out = join(folder, name);
      mkdirSync(out);
      const { settings } = primeRlPlan(configOf(text, folder));
      const own = {
        ...settings,
        "orchestrator.renderer.name": "default",
        "orchestrator.train.source.env.taskset.id": "gradus_tasks",
        "orchestrator.eval.source.env.taskset.id": "gradus_tasks",
      };
      writeFileSync(join(out, "rl.toml"), tomlText(treeOf(own), name));
      cpSync("server/frameworks/trainers/primeRl/project/gradus_tasks.py", join(out, "gradus_tasks.py"));
      folders.set(name, out);
    }
    const found = said(
      "rates",
      { folders: [...folders.values()] },
      z.record(z.string(), z.array(z.number())),
    );
    for (const [name, out] of folders) {
      const { schedule, optimizer } = configOf(primeConfigs[name]!, folder).stages[0]!.body.update;
      const { lr, warmup = 0 } = z
        .looseObject({ lr: z.number(), warmup: z.number().optional() })
        .parse(optimizer.params);
      const wanted = Array.from({ length: 6 }, (_, step) => {
        const warm = step < warmup ? step / warmup : 1;
        return (lr * warm * rateAt(schedule, { step, stageStep: step })) / lr;
      });
      near(
        found[out]!.map((one) => one / lr),
        wanted,
        name,
      );
    }
  });

  it("is changed by the names that the orchestrator reads", () => {
    const found = said("seams", {}, z.object({ called: z.array(z.string()), read: z.array(z.string()) }));
    assert.deepEqual(found, { called: ["TrainSink", "TrainSource"], read: ["TARGET_LAG"] });
  });
});

/** As prime-rl keeps a number. */
const float = Math.fround;
const rounded = (values: readonly number[]): string => values.map((one) => one.toPrecision(6)).join(" ");

function near(found: readonly number[], wanted: readonly number[], message: string): void {
  assert.equal(found.length, wanted.length, message);
  found.forEach((one, at) =>
    assert.ok(
      Math.abs(one - wanted[at]!) <= 1e-6 + 1e-4 * Math.abs(wanted[at]!),
      `${message}: ${one} instead of ${wanted[at]} at ${at}`,
    ),
  );
}
