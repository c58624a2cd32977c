/**
 * What `gradus export --to trl` writes, trained by TRL itself on the CPU, and its settings, read by TRL's own classes. Wants a
 * Python with torch, trl and datasets in GRADUS_PEER_PYTHON.
 */
import assert from "node:assert/strict";
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it, test } from "node:test";
import { z } from "zod";
import { UserError } from "../../shared/lib/errors.ts";
import { trlPlan } from "../../server/frameworks/trainers/trl/lens/plan.ts";
import { tableRows } from "../../server/lib/datasets/tables.ts";
import { loadConfig } from "../../server/rules/load.ts";
import { gradus } from "../support/cli.ts";
import { until } from "../support/until.ts";
import { temporary } from "../unit/support.ts";

const python = process.env["GRADUS_PEER_PYTHON"];
const has = python !== undefined && spawnSync(python, ["-c", "import torch, trl, datasets"]).status === 0;
const options = { skip: has ? false : "GRADUS_PEER_PYTHON names no Python with torch, trl and datasets" };

const config = `
name: sums
model: { base: tiny, width: 32, layers: 2, heads: 2, hidden: 64, context: 64 }
tasks:
  - { env: countdown, numbers: [3] }
  - { name: rows, dataset: rows.jsonl, prompt: "{question}", answer: "{answer}" }
rollout: { prompts: 4, group: 4, max_tokens: 8 }
reward:
  terms:
    sum: { use: equation, tasks: [countdown] }
    same: { use: exact_match, tasks: [rows] }
    short: { use: length, weight: 0.1 }
    digits: { use: ./rewards/digits.py:digits, weight: 0.2 }
objective: { use: clipped, aggregate: token_mean }
update: { optimizer: { lr: 1.0e-3, warmup: 2 }, mini_batch: 8 }
steps: 4
checkpoint: { every: 1, keep: 9 }
`;

function project(text = config): string {
  const folder = temporary();
  mkdirSync(join(folder, "rewards"));
  writeFileSync(
    join(folder, "rewards", "digits.py"),
    "def digits(completions, **kwargs):\n    return [sum(one.isdigit() for one in text) / 10 for text in completions]\n",
  );
  const rows = Array.from({ length: 20 }, (_, n) =>
    JSON.stringify({ question: `${n}+1=`, answer: `${n + 1}` }),
  );
  writeFileSync(join(folder, "rows.jsonl"), rows.join("\n"));
  writeFileSync(join(folder, "sums.gradus.yaml"), text);
  return folder;
}

const children = new Set<ChildProcess>();
after(() => {
  for (const child of children) child.kill("SIGKILL");
});

interface Training {
  readonly ended: Promise<{ readonly code: number | null; readonly log: string }>;
}

function launch(folder: string, ...words: string[]): Training {
  const child = spawn("sh", ["launch.sh", ...words], {
    cwd: folder,
    env: { ...process.env, GRADUS_PYTHON: python, HF_HUB_OFFLINE: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.add(child);
  let log = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (log += text));
  return {
    ended: new Promise((done) =>
      child.on("close", (code) => {
        children.delete(child);
        done({ code, log });
      }),
    ),
  };
}

const rolloutSchema = z.looseObject({
  step: z.number(),
  reward: z.number().nullable(),
  task: z.looseObject({ arm: z.string() }),
  rewards: z.record(z.string(), z.number().nullable()),
});

const numbered = (name: string): number[] => {
  const [, step] = /^checkpoint-(\d+)$/.exec(name) ?? [];
  return step === undefined ? [] : [Number(step)];
};

/** Their steps. */
const checkpoints = (folder: string): number[] =>
  readdirSync(join(folder, "out", "checkpoints"))
    .flatMap(numbered)
    .sort((a, b) => a - b);

/** Of the optimiser, as metrics of the callback count. */
function stepsMeasured(folder: string): number[] {
  const place = join(folder, "out", "gradus-rollouts");
  if (!existsSync(place)) return [];
  return readdirSync(place)
    .filter((name) => name.startsWith("metrics-"))
    .sort()
    .flatMap((name) => readFileSync(join(place, name), "utf8").trim().split("\n"))
    .flatMap((line) =>
      line === "" ? [] : [z.looseObject({ step: z.number() }).parse(JSON.parse(line)).step],
    );
}

describe("a project for TRL", options, () => {
  let folder = "";
  let out = "";
  before(async () => {
    folder = project();
    const { code, stderr } = await gradus(["export", "sums.gradus.yaml", "--to", "trl"], folder);
    assert.equal(code, 0, stderr);
    out = join(folder, ".gradus", "export", "sums");
  });

  // The commands that read the store start one.
  after(async () => void (await gradus(["daemon", "stop"], folder)));

  it("trains, and its output is a run with what each term gave", async () => {
    const { code, log } = await launch(out).ended;
    assert.equal(code, 0, log.slice(-3000));
    // Four steps of sixteen rollouts, eight an update.
    assert.deepEqual(checkpoints(out), [2, 4, 6, 8]);
    const imported = await gradus(["runs", "import", join(out, "out"), "--json"], folder);
    assert.equal(imported.code, 0, imported.stderr);
    const { run } = z.looseObject({ run: z.string() }).parse(JSON.parse(imported.stdout));
    const listed = await gradus(["rollouts", run, "--limit", "1000", "--json"], folder);
    assert.equal(listed.code, 0, listed.stderr);
    const rollouts = listed.stdout
      .trim()
      .split("\n")
      .map((line) => rolloutSchema.parse(JSON.parse(line)));
    assert.equal(rollouts.length, 64);
    const terms = new Set(rollouts.flatMap(({ rewards: own }) => Object.keys(own)));
    assert.deepEqual([...terms].sort(), ["digits", "same", "short", "sum"]);
    for (const { rewards: own } of rollouts)
      assert.ok(
        (own["sum"] ?? null) === null || (own["same"] ?? null) === null,
        "one of the two is for its task",
      );
    assert.deepEqual(new Set(rollouts.map(({ task }) => task.arm)), new Set(["countdown/3", "rows"]));
    assert.ok(rollouts.some(({ rewards: own }) => (own["digits"] ?? 0) > 0));
  });

  it("refuses to begin again in its output", async () => {
    const { code, log } = await launch(out).ended;
    assert.notEqual(code, 0);
    assert.match(log, /out\/ has checkpoints of an earlier start: add --resume/);
  });

  it("a project that trained is not overwritten", async () => {
    const { code, stderr } = await gradus(["export", "sums.gradus.yaml", "--to", "trl"], folder);
    assert.equal(code, 1);
    assert.match(stderr, /has files that no export wrote, such as out\//);
  });
});

test("the prompts are those that a run of the same config draws", async () => {
  const folder = project(
    config
      .replace("./rewards/digits.py:digits", "exact_match")
      .replace("weight: 0.2", "weight: 0, tasks: [rows]"),
  );
  const written = await gradus(["export", "sums.gradus.yaml", "--to", "trl", "--out", "p"], folder);
  assert.equal(written.code, 0, written.stderr);
  const ran = await gradus(["run", "sums.gradus.yaml"], folder);
  assert.equal(ran.code, 0, ran.stderr);
  const listed = await gradus(["rollouts", "last", "--limit", "1000", "--json"], folder);
  const drawn = new Map<string, string>();
  for (const line of listed.stdout.trim().split("\n")) {
    const { use, step, group, prompt } = z
      .looseObject({ use: z.string(), step: z.number(), group: z.string(), prompt: z.string() })
      .parse(JSON.parse(line));
    if (use === "train") drawn.set(`${step} ${group}`, prompt);
  }
  await gradus(["daemon", "stop"], folder);
  const rows = [...tableRows(join(folder, "p", "train.parquet"))];
  assert.equal(rows.length, 16);
  assert.deepEqual(
    rows.map((row) => row["prompt"]),
    [...drawn.values()],
  );
});

test("out/stop saves and ends, and --resume goes on from there", options, async () => {
  const folder = project(config.replace("steps: 4", "steps: 12"));
  const { code, stderr } = await gradus(["export", "sums.gradus.yaml", "--to", "trl", "--out", "p"], folder);
  assert.equal(code, 0, stderr);
  const out = join(folder, "p");
  const training = launch(out);
  await until(() => stepsMeasured(out).length > 1, "two steps");
  writeFileSync(join(out, "out", "stop"), "");
  const stopped = await training.ended;
  assert.equal(stopped.code, 0, stopped.log.slice(-3000));
  const last = Math.max(...checkpoints(out));
  assert.ok(last < 24, `it ended after ${last} of 24 updates`);
  // A checkpoint that was being written counts for nothing.
  mkdirSync(join(out, "out", "checkpoints", "checkpoint-23"));
  const before = stepsMeasured(out).length;
  const resumed = await launch(out, "--resume").ended;
  assert.equal(resumed.code, 0, resumed.log.slice(-3000));
  const after = stepsMeasured(out).slice(before);
  assert.ok(after[0] !== undefined && after[0] > last, `it went on at ${after[0]} after ${last}`);
  assert.ok(checkpoints(out).includes(24));
});

test("a chat template makes the prompts messages, and the rewards read the texts", options, async () => {
  const folder = project(config.replace("steps: 4", "steps: 1"));
  const words = ["export", "sums.gradus.yaml", "--to", "trl", "--out"];
  assert.equal((await gradus([...words, "made"], folder)).code, 0);
  // A model on the disk, as Transformers writes one.
  const settings = join(folder, "made", "model", "tokenizer_config.json");
  const template =
    "{% for one in messages %}[{{ one['role'] }}]{{ one['content'] }}{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}";
  writeFileSync(
    settings,
    JSON.stringify({ ...JSON.parse(readFileSync(settings, "utf8")), chat_template: template }),
  );
  const text = readFileSync(join(folder, "sums.gradus.yaml"), "utf8");
  writeFileSync(
    join(folder, "sums.gradus.yaml"),
    text
      .replace(/^model: .*$/m, "model: ./made/model")
      .replace("max_tokens: 8", 'max_tokens: 8, system: "Add."')
      .concat("engine: { use: trl, args: { bf16: false } }\n"),
  );
  const { code, stderr } = await gradus([...words, "p"], folder);
  assert.equal(code, 0, stderr);
  assert.equal(existsSync(join(folder, "p", "model")), false);
  const { code: ended, log } = await launch(join(folder, "p")).ended;
  assert.equal(ended, 0, log.slice(-2000));
  const place = join(folder, "p", "out", "gradus-rollouts");
  const name = readdirSync(place).find((one) => one.startsWith("rollouts-")) ?? "";
  const [first = ""] = readFileSync(join(place, name), "utf8").split("\n");
  assert.match(first, /"prompt":"system: Add\.\\n\\nuser: /);
  assert.doesNotMatch(log, /^reward \w+: /m);
});

test("a reward in TypeScript is asked of the service that train.py starts", options, async () => {
  const folder = project(
    config.replace("./rewards/digits.py:digits", "./rewards/digits.ts").replace("steps: 4", "steps: 1"),
  );
  writeFileSync(
    join(folder, "rewards", "digits.ts"),
    "export const score = ({ task }: { task: { data: { target?: number } } }): number => task.data.target ?? 0;\n",
  );
  const { code, stderr } = await gradus(["export", "sums.gradus.yaml", "--to", "trl", "--out", "p"], folder);
  assert.equal(code, 0, stderr);
  assert.match(
    stderr,
    /service = Node 20 or newer: train\.py starts service\/, which does `reward\.terms\.digits`/,
  );
  rmSync(join(folder, "p", "out"), { recursive: true, force: true });
  const { code: ended, log } = await launch(join(folder, "p")).ended;
  assert.equal(ended, 0, log.slice(-2000));
  assert.doesNotMatch(log, /^reward \w+: /m);
  const place = join(folder, "p", "out", "gradus-rollouts");
  const name = readdirSync(place).find((one) => one.startsWith("rollouts-")) ?? "";
  const rows = readFileSync(join(place, name), "utf8").trim().split("\n");
  assert.ok(
    rows.some((row) => /"rewards":\{"digits":-?\d/.test(row)),
    rows[0],
  );
});

const accepting = `
import json, sys
from transformers import HfArgumentParser
from trl import GRPOConfig, ModelConfig
parser = HfArgumentParser((GRPOConfig, ModelConfig))
found = {}
for name, settings in json.load(sys.stdin).items():
    try:
        args, model = parser.parse_dict({**settings, "output_dir": "out", "bf16": False})
        found[name] = None if args.loss_type == settings["loss_type"] else "another loss"
    except Exception as error:
        found[name] = "%s: %s" % (type(error).__name__, error)
print(json.dumps(found))
`;

test("TRL's own classes take the settings of every preset", options, () => {
  const folder = temporary();
  const all: Record<string, unknown> = {};
  for (const file of readdirSync("presets").filter((name) => name.endsWith(".yaml"))) {
    const name = file.replace(".yaml", "");
    const text = `extends: ${name}\nname: there\nmodel: { base: tiny, context: 1000000 }\ntasks: [{ env: countdown }]\nreward: { terms: { correct: equation } }\nsteps: 10\n`;
    const { config: read } = loadConfig(join(folder, `${name}.gradus.yaml`), { text, recorded: true });
    if (read === undefined) continue;
    try {
      all[name] = trlPlan(read).settings;
    } catch (error) {
      // A group of one: TRL has no such training.
      if (!(error instanceof UserError) || error.detail.code !== "export-group") throw error;
    }
  }
  assert.ok(Object.keys(all).length > 200);
  const { stdout, stderr, status } = spawnSync(python!, ["-c", accepting], {
    input: JSON.stringify(all),
    encoding: "utf8",
    cwd: folder,
  });
  assert.equal(status, 0, stderr.slice(-3000));
  const found: Record<string, string | null> = JSON.parse(stdout.trim().split("\n").at(-1) ?? "{}");
  assert.deepEqual(
    Object.entries(found).filter(([, why]) => why !== null),
    [],
  );
});
