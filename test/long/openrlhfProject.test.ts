/**
 * What `gradus export --to openrlhf` writes, parsed and checked by OpenRLHF itself, read by its dataset, and scored in its
 * rollouts. Nothing trains, for that wants GPUs.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { before, describe, it } from "node:test";
import { z } from "zod";
import { needs } from "../../server/config/needs.ts";
import { inProject } from "../../server/frameworks/trainers/openrlhf/project/launchText.ts";
import { openRlhfPlan } from "../../server/frameworks/trainers/openrlhf/lens/plan.ts";
import { loadConfig } from "../../server/rules/load.ts";
import { gradus } from "../support/cli.ts";
import { openRlhfConfigs } from "../support/openRlhfConfigs.ts";
import { openRlhfPython, python, scripts, start, upToVllm, wordsOf } from "../support/openRlhfPython.ts";
import { temporary } from "../unit/support.ts";

/** Runs the parser for each list of words. */
const parsing = `${upToVllm}
found = {}
for name, words in json.load(sys.stdin).items():
    sys.argv = ["train_ppo_ray", *words]
    try:
        runpy.run_module("openrlhf.cli.train_ppo_ray", run_name="__main__", alter_sys=True)
    except Stop as stopped:
        try:
            found[name] = {"args": checked(stopped.args[0]), "error": None}
        except Exception as error:
            found[name] = {"args": None, "error": "%s: %s" % (type(error).__name__, error)}
    except (Exception, SystemExit) as error:
        found[name] = {"args": None, "error": "%s: %s" % (type(error).__name__, error)}
print("\\nfound " + json.dumps(found))
`;

/** Runs train.py as launch.sh starts it, and hands the strategy to another process, as Ray does. */
const launching = `${upToVllm}
import os, subprocess
sys.argv = sys.argv[1:]
sys.path[0] = os.path.dirname(sys.argv[0])
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
except Stop as stopped:
    args, strategy = stopped.args
    print("\\nfound " + json.dumps(checked(args)), flush=True)
    done = subprocess.run([sys.executable, "-c", ORDER], input=ray.cloudpickle.dumps(strategy), cwd="/")
    sys.exit(done.returncode)
`;

/** OpenRLHF's dataset and data loader in the process of its trainer. */
const order = `${start}
import json, pickle
strategy = pickle.loads(sys.stdin.buffer.read())
from openrlhf.trainer.ppo_trainer import prepare_datasets
from openrlhf.utils.utils import get_tokenizer
tokenizer = get_tokenizer(strategy.args.actor.model_name_or_path, None, "left", strategy)
train, held, steps = prepare_datasets(strategy, tokenizer)
rows = [[sources[0], prompts[0], labels[0]] for sources, prompts, labels, _ in train]
held = [labels[0] for _, _, labels, _ in held]
# A checkpoint of the second step has the loader's place.
state = None
for at, _ in enumerate(train):
    if at == 15:
        state = train.state_dict()
        break
again, _, _ = prepare_datasets(strategy, tokenizer)
again.load_state_dict(state)
rest = [labels[0] for _, _, labels, _ in again]
print("\\norder " + json.dumps({"rows": rows, "held": held, "rest": rest, "steps": steps}))
`;

const resultSchema = z.record(
  z.string(),
  z.object({ args: z.record(z.string(), z.json()).nullable(), error: z.string().nullable() }),
);

function parsed(words: Readonly<Record<string, readonly string[]>>): z.output<typeof resultSchema> {
  const { status, stdout, stderr } = spawnSync(python, ["-c", parsing], {
    encoding: "utf8",
    input: JSON.stringify(words),
    maxBuffer: 1 << 28,
  });
  assert.equal(status, 0, stderr.slice(-3000));
  return resultSchema.parse(JSON.parse(/^found (.+)$/m.exec(stdout)?.[1] ?? ""));
}

/** Room for the longest answers. */
const rest =
  "name: there\nmodel: { base: tiny, context: 1000000 }\ntasks: [{ env: countdown }]\nreward: { terms: { correct: equation } }\nsteps: 10\n";

describe("projects for OpenRLHF", openRlhfPython, () => {
  const projects = new Map<string, string>();
  before(async () => {
    const folder = temporary();
    for (const [name, text] of Object.entries(openRlhfConfigs)) {
      writeFileSync(join(folder, `${name}.gradus.yaml`), text);
      const { code, stderr } = await gradus(
        ["export", `${name}.gradus.yaml`, "--to", "openrlhf", "--out", `the ${name}`],
        folder,
      );
      assert.equal(code, 0, stderr);
      projects.set(name, join(folder, `the ${name}`));
    }
  });

  it("are accepted by OpenRLHF's parser and its checks", () => {
    const words = Object.fromEntries(
      [...projects].map(([name, folder]) => {
        const { stdout } = spawnSync("sh", [join(folder, "launch.sh")], {
          encoding: "utf8",
          env: { ...process.env, GRADUS_PYTHON: "printf %s\\0" },
        });
        return [name, stdout.split("\0").slice(3, -1)];
      }),
    );
    const found = parsed(words);
    for (const name of projects.keys()) {
      assert.equal(found[name]?.error, null, `${name}: ${String(found[name]?.error)}`);
      const { algo, critic, reward } = Object(found[name].args);
      assert.equal(critic.model_name_or_path !== null, name === "ppo", name);
      assert.equal(algo.kl.init_coef > 0, name === "ppo" || name === "dapo", name);
      assert.deepEqual(reward.remote_url, ["agent"]);
    }
    const { algo } = Object(found["flash"]?.args);
    assert.deepEqual(algo.advantage.is_correction_threshold, [0, 0.001]);
  });

  it("are refused where a flag is wrong", () => {
    const found = parsed({
      one: ["--actor.loss_agg_mode", "mean"],
      other: ["--algo.advantage.estimator", "rloo", "--train.agent_func_path", "agent.py"],
    });
    assert.match(found["one"]?.error ?? "", /SystemExit: 2/);
    assert.match(found["other"]?.error ?? "", /n_samples_per_prompt > 1/);
  });

  it("keep the prompts' order, where train.py runs OpenRLHF as launch.sh starts it", () => {
    const folder = projects.get("grpo")!;
    const script = join(scripts, "launching.py");
    writeFileSync(script, `ORDER = ${JSON.stringify(order)}\n${launching}`);
    const { status, stdout, stderr } = spawnSync("sh", [join(folder, "launch.sh"), "--resume"], {
      cwd: "/",
      encoding: "utf8",
      env: { ...process.env, GRADUS_PYTHON: `${python} ${script}` },
      maxBuffer: 1 << 28,
    });
    assert.equal(status, 0, stderr.slice(-3000));
    const { ckpt, train, data } = JSON.parse(/^found (.+)$/m.exec(stdout)?.[1] ?? "");
    assert.equal(ckpt.load_enable, true);
    assert.equal(train.batch_size, 16);
    assert.equal(data.prompt_dataset, join(folder, "train.parquet"));
    const found = JSON.parse(/^order (.+)$/m.exec(stdout)?.[1] ?? "");
    const labels = found.rows.map(([, , label]: string[]) => JSON.parse(label ?? ""));
    assert.deepEqual(
      labels.map(({ index }: { index: number }) => index),
      Array.from({ length: 24 }, (_, at) => at),
    );
    assert.deepEqual(found.rows[0].slice(0, 2), ["countdown", labels[0].prompt]);
    assert.deepEqual(new Set(found.held.map((label: string) => JSON.parse(label).split)), new Set(["val"]));
    // 3 steps of 8 × 4 rollouts, 16 an update, twice.
    assert.equal(found.steps, 12);
    // After a resume the third step's prompts are next.
    assert.deepEqual(
      found.rest.map((label: string) => JSON.parse(label).index),
      [16, 17, 18, 19, 20, 21, 22, 23],
    );
  });

  it("are scored in OpenRLHF's rollouts by the response's own tokens, and recorded", () => {
    const folder = projects.get("dapo")!;
    const place = temporary();
    const { status, stdout, stderr } = spawnSync(python, ["-c", rollout, folder], {
      cwd: "/",
      encoding: "utf8",
      env: { ...process.env, GRADUS_ROLLOUTS: place },
    });
    assert.equal(status, 0, stderr.slice(-3000));
    const { label, first, last } = JSON.parse(/^found (.+)$/m.exec(stdout)?.[1] ?? "");
    // The tokens of the text and the one that ends it, of at most 20.
    assert.equal(first.extra_logs["reward/short"], 1 - first.tokens / 20);
    assert.equal(first.extra_logs["reward/correct"], 1);
    assert.equal(first.reward, 1 + 0.1 * first.extra_logs["reward/short"]);
    assert.deepEqual([first.scores, last.scores], [1, 0]);
    const lines = readdirSync(place).flatMap((name) =>
      readFileSync(join(place, name), "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    );
    assert.deepEqual(
      lines.map(({ step, use, response, rewards }) => [step, use, response, Object.keys(rewards)[0]]),
      [
        [1, "train", first.said, "correct"],
        [1, "train", first.said, "short"],
        [3, "train", "no <sum>", "correct"],
        [3, "train", "no <sum>", "short"],
      ],
    );
    assert.equal(lines[0].prompt, JSON.parse(label).prompt);
  });

  it("are accepted of every preset that trains by rewards", () => {
    const folder = temporary();
    const listed = readFileSync("test/fixtures/frameworks/notInOpenRlhf.txt", "utf8").split("\n");
    const others = new Set(listed.map((line) => `${line.split(":")[0]}.yaml`));
    const names = readdirSync("presets").filter((name) => name.endsWith(".yaml"));
    const words = new Map<string, string[]>();
    for (const file of names) {
      const name = basename(file, ".yaml");
      const { config } = loadConfig(join(folder, `${name}.gradus.yaml`), {
        text: `extends: ${name}\n${rest}`,
        recorded: true,
        needs: needs.written,
        set: ["engine.use=openrlhf"],
      });
      const isBack = !others.has(file);
      if (config?.stages.some(({ kind }) => kind === "rl") !== true) {
        assert.ok(!isBack, name);
        continue;
      }
      const { settings } = openRlhfPlan(config);
      words.set(
        name,
        wordsOf({
          "actor.model_name_or_path": inProject("model"),
          "data.prompt_dataset": inProject("train.parquet"),
          "train.agent_func_path": inProject("agent.py"),
          ...settings,
        }),
      );
    }
    // Also of those that do not come back.
    assert.ok(words.size > 200);
    const found = parsed(Object.fromEntries(words));
    assert.deepEqual(
      Object.entries(found).flatMap(([name, { error }]) => (error === null ? [] : [`${name}: ${error}`])),
      [],
    );
  });
});

/** A right and a wrong response through the executor that vLLM's actors load from agent.py. */
const rollout = `${start}
import asyncio, itertools, json, os
import pyarrow.parquet as parquet
from types import SimpleNamespace
from transformers import AutoTokenizer
from openrlhf.trainer.ray.vllm_engine import _load_agent_executor
from vllm import SamplingParams

folder = sys.argv[1]
executor = _load_agent_executor(os.path.join(folder, "agent.py"))
tokenizer = AutoTokenizer.from_pretrained(os.path.join(folder, "model"))
rows = parquet.read_table(os.path.join(folder, "train.parquet")).to_pylist()

def solution(numbers, target):
    for order in itertools.permutations(numbers):
        for signs in itertools.product("+-*", repeat=len(order) - 1):
            text = str(order[0]) + "".join(sign + str(number) for sign, number in zip(signs, order[1:]))
            if eval(text) == target:
                return text

class Engine:
    def __init__(self, text):
        self.ids = tokenizer(text, add_special_tokens=False)["input_ids"] + [tokenizer.eos_token_id]

    async def generate(self, ids, params, multi_modal_data=None):
        self.asked = ids
        return SimpleNamespace(outputs=[SimpleNamespace(token_ids=self.ids, finish_reason="stop", logprobs=None)])

def answered(row, text):
    engine = Engine(text)
    params = SamplingParams(max_tokens=20, logprobs=None)
    output = asyncio.run(executor.execute(row["prompt"], row["gradus"], params, 64, tokenizer, engine))
    assert tokenizer.decode(engine.asked) == row["prompt"]
    named = {name: output[name] for name in ("reward", "scores", "extra_logs")}
    return {**named, "tokens": len(engine.ids), "said": text}

solved = [(row, solution(**json.loads(row["gradus"])["data"])) for row in rows[:8]]
row, text = next(one for one in solved if one[1] is not None)
found = {"label": row["gradus"], "first": answered(row, text), "last": answered(rows[-1], "no <sum>")}
print("\\nfound " + json.dumps(found))
`;
