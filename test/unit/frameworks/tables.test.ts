/** What the tables say, against facts of the frameworks' sources. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import {
  checkFrameworkDocument,
  DocumentModel,
  readFrameworkDocument,
} from "../../../server/frameworks/check/index.ts";
import { historyOf, keyTable, tableOf } from "../../../server/frameworks/releases/load.ts";
import { tabulated } from "../../../server/frameworks/releases/tables/table.ts";
import { read } from "./support.ts";

const fact = (
  name: "verl" | "trl" | "openrlhf" | "transformers",
  version: string,
  key: string,
  tree?: string,
) => keyTable(name, version, tree).get(key);

describe("tables", () => {
  it("are small enough to ship", () => {
    const names = ["verl", "trl", "openrlhf", "transformers"];
    const bytes = names.map((name) => statSync(`server/frameworks/releases/tables/${name}.json`).size);
    assert.ok(bytes.reduce((a, b) => a + b) < 700_000, String(bytes));
  });

  it("know verl's keys by release and tree", () => {
    assert.equal(fact("verl", "0.5.0", "data.train_batch_size")?.default, 1024);
    assert.equal(fact("verl", "0.8.0", "trainer.use_v1"), undefined);
    assert.equal(fact("verl", "0.9.1", "trainer.use_v1")?.default, true);
    assert.match(fact("verl", "0.9.1", "trainer.resume_mode")?.help ?? "", /resume_path/);
    assert.equal(fact("verl", "0.7.1", "data.sampler.class_path")?.default, null);
    assert.equal(fact("verl", "0.8.0", "data.sampler.class_path"), undefined);
    const parallel = "actor_rollout_ref.actor.megatron.tensor_model_parallel_size";
    assert.equal(fact("verl", "0.9.1", parallel, "ppo_trainer"), undefined);
    assert.equal(fact("verl", "0.9.1", parallel, "ppo_megatron_trainer")?.default, 1);
    assert.equal(fact("verl", "0.9.1", "algorithm.gamma")?.type, "float");
  });

  it("know TRL's and Transformers' arguments", () => {
    assert.equal(fact("trl", "0.20.0", "loss_type")?.default, "bnpo");
    assert.equal(fact("trl", "1.16.0", "loss_type")?.default, "dapo");
    assert.equal(fact("trl", "0.25.1", "max_prompt_length")?.default, 512);
    assert.equal(fact("trl", "0.28.0", "max_prompt_length"), undefined);
    assert.equal(fact("trl", "1.16.0", "vespo_k_pos")?.default, 2);
    assert.equal(fact("trl", "1.16.0", "reward_funcs")?.owner, "script");
    assert.equal(fact("transformers", "5.23.0", "per_device_train_batch_size")?.default, 8);
    assert.ok(fact("transformers", "4.57.6", "eval_strategy")?.choices?.includes("steps"));
    assert.equal(fact("transformers", "5.0.0", "overwrite_output_dir"), undefined);
  });

  it("know OpenRLHF's flags before and after they had dots", () => {
    assert.equal(fact("openrlhf", "0.10.1", "actor_learning_rate")?.default, 1e-6);
    assert.equal(fact("openrlhf", "0.10.2", "actor.adam.lr")?.default, 1e-6);
    assert.equal(fact("openrlhf", "0.11.2", "critic.adam.lr")?.default, 9e-6);
    assert.ok(fact("openrlhf", "0.11.2", "algo.advantage.estimator")?.choices?.includes("flash_reinforce"));
    assert.equal(fact("openrlhf", "0.11.2", "rollout.n_samples_per_prompt")?.default, 1);
    assert.equal(fact("openrlhf", "0.11.2", "data.max_samples")?.default, 1e8);
    assert.deepEqual(fact("openrlhf", "0.11.1", "reward.clip_range")?.default, [-10, 10]);
  });

  it("join releases that agree", () => {
    const { keys, texts } = tabulated(
      ["1", "2", "3"],
      [
        { a: { x: { type: "int", default: 1, help: "old" } } },
        {
          a: { x: { type: "int", default: 1, help: "new" } },
          b: { x: { type: "int", default: 1, help: "new" } },
        },
        { a: { x: { type: "int", default: 2 } }, b: {} },
      ],
    );
    assert.deepEqual(keys["x"], [
      { type: "int", default: 1, help: 0, from: 0, to: 1 },
      // Trees by their place, as bits.
      { type: "int", default: 2, from: 2, to: 2, trees: 1 },
    ]);
    assert.deepEqual(texts, ["new"]);
    assert.ok(historyOf("trl", "loss_type").length > 1);
  });
});

describe("the release that a file is checked against", () => {
  const text = "num_generations: 8\nreward_weights: [1]\nbeta: 0.1\n";

  it("is named in it, else the newest", () => {
    assert.deepEqual(read("x.yaml", text).version, {
      text: tableOf("trl").versions.at(-1),
      from: "newest",
      table: tableOf("trl").versions.at(-1),
    });
    assert.deepEqual(read("x.yaml", `# for TRL 0.22\n${text}`).version, {
      text: "0.22",
      from: "file",
      table: "0.22.2",
    });
    assert.equal(
      read("x.sh", "pip install verl==0.7.0\npython3 -m verl.trainer.main_ppo data.seed=1").version.table,
      "0.7.0",
    );
  });

  it("is that of an environment next to it, read from its sources where the tables lack it", () => {
    const folder = mkdtempSync(join(tmpdir(), "gradus-frameworks-"));
    const packages = join(folder, ".venv/lib/python3.12/site-packages");
    mkdirSync(join(packages, "trl-1.99.0.dist-info"), { recursive: true });
    mkdirSync(join(packages, "trl/trainer"), { recursive: true });
    writeFileSync(
      join(packages, "trl/trainer/grpo_config.py"),
      'class GRPOConfig(TrainingArguments):\n    beta: float = field(default=0.5, metadata={"help": "x"})\n    brand_new: int | None = None\n    num_generations: int = 4\n    reward_weights: list[float] | None = None\n',
    );
    const file = join(folder, "conf/grpo.yaml");
    const document = readFrameworkDocument(file, `${text}brand_new: 3\nloss_type: grpo\n`, {
      environment: "",
    });
    assert.ok(document);
    assert.deepEqual(
      { text: document.version.text, from: document.version.from },
      { text: "1.99.0", from: "installed" },
    );
    const found = checkFrameworkDocument(document).map(({ message }) => message);
    assert.equal(found.length, 1);
    assert.match(found[0] ?? "", /TRL 1\.99\.0 has no `loss_type`/);
  });

  it("is that of the requirements", () => {
    const folder = mkdtempSync(join(tmpdir(), "gradus-frameworks-"));
    writeFileSync(join(folder, "requirements.txt"), "torch\ntrl[vllm]==0.24.0\n");
    const document = readFrameworkDocument(join(folder, "a.yaml"), text, { environment: "" });
    assert.deepEqual(document?.version, { text: "0.24.0", from: "file", table: "0.24.0" });
  });

  it("is that which a recipe requires of verl", () => {
    const folder = mkdtempSync(join(tmpdir(), "gradus-frameworks-"));
    const address = "git+https://example.org/verl-project/verl.git";
    writeFileSync(join(folder, "REQUIRED_VERL.txt"), `PIP_INSTALL=pip install verl@${address}@v0.8.0\n`);
    const launch = "python3 -m verl.trainer.main_ppo trainer.nnodes=1\n";
    const document = readFrameworkDocument(join(folder, "run.sh"), launch, { environment: "" });
    assert.deepEqual([document?.version.text, document?.version.from], ["0.8.0", "file"]);
  });

  it("comes with the Transformers that the script or its requirements name", () => {
    const script = (head: string): string[] =>
      checkFrameworkDocument(
        read(
          "train.py",
          `${head}from trl import GRPOConfig\nGRPOConfig(output_dir="out", warmup_ratio=0.1)\n`,
        ),
      ).map(({ message }) => message);
    assert.match(script("")[0] ?? "", /Transformers \S+ no longer has `warmup_ratio`/);
    const header = '# /// script\n# dependencies = [\n#   "transformers==5.5.0",\n# ]\n# ///\n';
    assert.deepEqual(script(header), []);
    assert.deepEqual(script("# pip install transformers==5.5.0\n"), []);
  });
});

describe("the model", () => {
  it("has defaults after what is written, with what they refer to", () => {
    const model = new DocumentModel(
      read("x.sh", "python3 -m verl.trainer.main_ppo data.max_response_length=99"),
    );
    assert.equal(model.number("actor_rollout_ref.rollout.response_length"), 99);
    assert.equal(model.number("actor_rollout_ref.rollout.prompt_length"), 512);
    assert.equal(model.flag("trainer.balance_batch"), true);
    assert.equal(model.written("actor_rollout_ref.rollout.n"), undefined);
    assert.equal(model.since("0.9.0"), true);
  });

  it("assumes none where something could not be read", () => {
    const model = new DocumentModel(
      read("x.sh", "python3 -m verl.trainer.main_ppo --config-name=mine data.seed=1"),
    );
    assert.equal(model.number("data.seed"), 1);
    assert.equal(model.value("data.train_batch_size"), undefined);
  });

  it("has what other files of the workspace set in between", () => {
    const folder = mkdtempSync(join(tmpdir(), "gradus-frameworks-"));
    writeFileSync(join(folder, "base.yaml"), "num_generations: 4\nbeta: 0.2\nreward_funcs: [a.b]\n");
    const script = readFrameworkDocument(join(folder, "run.sh"), "trl grpo --config base.yaml --beta 0.3\n", {
      environment: "",
    });
    assert.ok(script);
    const model = new DocumentModel(script);
    assert.deepEqual(
      [model.number("num_generations"), model.number("beta"), model.number("epsilon")],
      [4, 0.3, 0.2],
    );
  });
});
