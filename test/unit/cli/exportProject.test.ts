/** `gradus export --to trl`: whole projects, without a Python that trains them. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { openBase, readWeights } from "../../../server/engine/formats/index.ts";
import { configNear } from "../../../server/frameworks/use/asConfig/configNear.ts";
import { tableRows } from "../../../server/lib/datasets/tables.ts";
import { gradus } from "../../support/cli.ts";
import { initialWeights } from "../../support/initialWeights.ts";
import { temporary } from "../support.ts";

const tiny = `
name: sums
model: { base: tiny, width: 32, layers: 2, heads: 2, hidden: 64, context: 64 }
tasks: [{ env: countdown, numbers: [3, 4] }]
rollout: { prompts: 4, group: 4, max_tokens: 20 }
reward: { terms: { correct: equation, own: ./rewards/own.py:score } }
steps: 3
seed: 7
`;

const hub = `
name: gsm
model: Qwen/Qwen2.5-0.5B-Instruct
tasks: [{ name: gsm, dataset: rows.jsonl, prompt: "Q: {question}", answer: "{final}" }]
rollout: { prompts: 2, group: 4, max_tokens: 200, system: "Think." }
reward: { terms: { right: { use: math, by: math_verify } } }
objective: { use: clipped, low: 0.2, high: 0.28, aggregate: token_mean }
engine: { use: trl, args: { use_vllm: true, learning_rate: 2.0e-6 } }
steps: 2
`;

function workspace(text: string): string {
  const folder = temporary();
  writeFileSync(join(folder, "config.gradus.yaml"), text);
  mkdirSync(join(folder, "rewards"));
  writeFileSync(
    join(folder, "rewards", "own.py"),
    "import shared\ndef score(response, task):\n    return shared.one\n",
  );
  writeFileSync(join(folder, "rewards", "shared.py"), "one = 1\n");
  const rows = Array.from({ length: 10 }, (_, n) =>
    JSON.stringify({ question: `${n}+1?`, answer: `is #### ${n + 1}`, final: `${n + 1}` }),
  );
  writeFileSync(join(folder, "rows.jsonl"), rows.join("\n"));
  return folder;
}

const read = (...path: string[]): string => readFileSync(join(...path), "utf8");

describe("gradus export", () => {
  it("writes a project with the model that a run would begin with", async () => {
    const folder = workspace(tiny);
    const { code, stdout, stderr } = await gradus(["export", "config.gradus.yaml", "--to", "trl"], folder);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^\.gradus\/export\/sums: \d+ files for TRL 1\.16: config\.yaml, train\.py, /);
    const out = join(folder, ".gradus", "export", "sums");
    const head = openBase(join(out, "model"));
    assert.deepEqual(readWeights(head), initialWeights(head.shape, 7));
    const rows = [...tableRows(join(out, "train.parquet"))];
    assert.equal(rows.length, 12);
    assert.deepEqual(Object.keys(rows[0] ?? {}), [
      "prompt",
      "numbers",
      "target",
      "gradus_source",
      "gradus_arm",
    ]);
    assert.match(read(out, "launch.sh"), /\$\{GRADUS_PYTHON:-python3\}\} train\.py/);
    assert.match(read(out, "MISSING.md"), /^The algorithm is the config's own\.$/m);
    assert.ok(existsSync(join(out, "own", "rewards", "own.py")));
    assert.ok(existsSync(join(out, "own", "rewards", "shared.py")));
    assert.equal(read(out, "config.gradus.yaml"), tiny);
    const check = JSON.parse(read(out, "check.json"));
    assert.deepEqual([check.model, check.gpus, check.packages], [null, 0, { trl: ">=1.16,<2" }]);
    assert.deepEqual(check.divides[0], {
      ...{ whole: "generation_batch_size", part: "num_generations", of: 16, by: 4 },
    });
  });

  it("leaves a model of the Hub where it is, and writes the trainer's own settings over the config's", async () => {
    const folder = workspace(hub);
    const words = ["export", "config.gradus.yaml", "--out", "p", "--launch", "accelerate launch", "--json"];
    const { code, stdout, stderr } = await gradus([...words, "--python", "/opt/py"], folder);
    assert.equal(code, 0, stderr);
    const { engine, needs, missing, files } = JSON.parse(stdout);
    assert.deepEqual([engine, needs.model, needs.gpus], ["trl", "Qwen/Qwen2.5-0.5B-Instruct", 1]);
    assert.deepEqual(Object.keys(needs.packages), ["trl", "vllm", "math-verify"]);
    assert.deepEqual(
      missing.map(({ key, changes }: Record<string, string>) => [key, changes]),
      [["evaluation", "nothing-trained"]],
    );
    assert.ok(!files.includes("model"));
    const settings = parse(read(folder, "p", "config.yaml"));
    assert.equal(settings.model_name_or_path, "Qwen/Qwen2.5-0.5B-Instruct");
    assert.deepEqual([settings.learning_rate, settings.use_vllm, settings.loss_type], [2e-6, true, "dapo"]);
    assert.deepEqual([settings.epsilon, settings.epsilon_high], [undefined, 0.28]);
    // Where vLLM generates, TRL would correct by itself.
    assert.equal(settings.vllm_importance_sampling_correction, false);
    assert.match(read(folder, "p", "train.py"), /^SYSTEM = "Think\."$/m);
    assert.match(read(folder, "p", "launch.sh"), /GRADUS_LAUNCH:-accelerate launch\}/);
    assert.match(read(folder, "p", "launch.sh"), /GRADUS_PYTHON:-\/opt\/py\}/);
    const [row] = [...tableRows(join(folder, "p", "train.parquet"))];
    assert.match(String(row?.["prompt"]), /^Q: \d\+1\?$/);
    assert.match(String(row?.["answer"]), /^is ####/);
    assert.match(String(row?.["gradus_answer"]), /^\d+$/);
  });

  it("replaces an earlier export, and nothing else", async () => {
    const folder = workspace(tiny);
    const words = ["export", "config.gradus.yaml", "--to", "trl", "--out", "p"];
    assert.equal((await gradus(words, folder)).code, 0);
    assert.equal((await gradus(words, folder)).code, 0);
    writeFileSync(join(folder, "p", "notes.txt"), "mine");
    const refused = await gradus(words, folder);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /files that no export wrote, such as notes\.txt \[export-folder\]/);
    assert.equal(read(folder, "p", "notes.txt"), "mine");
  });

  it("an import of its output finds the config", async () => {
    const folder = workspace(tiny);
    assert.equal(
      (await gradus(["export", "config.gradus.yaml", "--to", "trl", "--out", "p"], folder)).code,
      0,
    );
    const out = join(folder, "p", "out");
    mkdirSync(out);
    const own = join(folder, "config.gradus.yaml");
    assert.deepEqual(configNear(out, ["trl"]), { kind: "one", file: own });
    // What was changed since is another config.
    writeFileSync(own, `${tiny}\n`);
    assert.deepEqual(configNear(out, ["trl"]), {
      kind: "one",
      file: join(folder, "p", "config.gradus.yaml"),
    });
    rmSync(own);
    assert.deepEqual(configNear(out, ["trl"]), {
      kind: "one",
      file: join(folder, "p", "config.gradus.yaml"),
    });
  });

  it("exports a script of TRL's without a file of one name in the way of the other", async () => {
    const folder = workspace(tiny);
    writeFileSync(
      join(folder, "config.yaml"),
      "model_name_or_path: Qwen/Qwen2.5-0.5B-Instruct\nnum_generations: 4\nper_device_train_batch_size: 8\nmax_completion_length: 64\nepsilon_high: 0.28\nmax_steps: 2\ndataset_name: rows.jsonl\nreward_funcs: [rewards.own.score]\n",
    );
    const words = ["export", "config.yaml", "--to", "trl", "--out", "p"];
    const { code, stderr } = await gradus(words, folder);
    assert.equal(code, 0, stderr);
    const settings = parse(read(folder, "p", "config.yaml"));
    assert.deepEqual([settings.loss_type, settings.epsilon_high, settings.max_steps], ["dapo", 0.28, 2]);
    assert.match(read(folder, "p", "source", "config.yaml"), /^dataset_name: rows\.jsonl$/m);
  });

  it("says what to name where the config does not", async () => {
    const folder = workspace(tiny);
    const { code, stderr } = await gradus(["export", "config.gradus.yaml"], folder);
    assert.equal(code, 2);
    assert.match(stderr, /the config does not say who trains \[usage\]\n {2}Name a trainer: --to trl/);
    const alone = workspace(
      tiny
        .replace("group: 4", "group: 1")
        .replace("reward:", "advantage: { baseline: none, scale: none }\nreward:"),
    );
    const refused = await gradus(["export", "config.gradus.yaml", "--to", "trl"], alone);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /compares at least two completions of a prompt \[export-group\]/);
    assert.equal(existsSync(join(alone, ".gradus", "export", "sums", "train.py")), false);
  });
});
