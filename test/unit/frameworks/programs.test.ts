/** Programs other than those that train by GRPO and PPO: recognised, and each checked by its own keys. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { geometryOf, DocumentModel, readFrameworkDocument } from "../../../server/frameworks/check/index.ts";
import { briefly, check, isFramework, mended, read } from "./support.ts";

const tree = (name: string, text: string): string | undefined => read(name, text).tree;

describe("TRL's trainers", () => {
  it("are recognised by keys that others lack, by comments and by the file's name", () => {
    const general = "model_name_or_path: a/b\ndataset_name: c/d\noutput_dir: out\n";
    const cases: [name: string, text: string, wanted: string][] = [
      ["x.yaml", `${general}packing: true\n`, "sft"],
      ["x.yaml", `${general}desirable_weight: 2\n`, "kto"],
      ["x.yaml", `${general}f_divergence_type: js_divergence\n`, "dpo"],
      ["x.yaml", `${general}center_rewards_coefficient: 0.01\n`, "reward"],
      ["x.yaml", `${general}normalize_advantages: true\nnum_generations: 4\n`, "rloo"],
      ["x.yaml", `${general}num_generations: 4\n`, "grpo"],
      ["rloo-run.yaml", `${general}num_generations: 4\n`, "rloo"],
      ["x.yaml", `# trl kto --config x.yaml\n${general}`, "kto"],
      ["dpo.yaml", `${general}max_length: 512\n`, "dpo"],
    ];
    for (const [name, text, wanted] of cases) assert.equal(tree(name, text), wanted, text);
    assert.equal(isFramework("x.yaml", `${general}max_length: 512\n`), false);
    assert.equal(isFramework("sft.yaml", `${general}stage: sft\npacking: true\n`), false);
  });

  it("are recognised by the program that a script starts", () => {
    for (const name of ["grpo", "rloo", "dpo", "sft", "kto", "reward"])
      assert.equal(tree("x.sh", `trl ${name} --model_name_or_path a/b --dataset_name c/d\n`), name);
    assert.equal(tree("x.sh", "accelerate launch trl/scripts/reward.py --learning_rate 1e-5\n"), "reward");
    const flags = "--model_name_or_path a/b --dataset_name c/d --precompute_ref_log_probs --bf16";
    assert.equal(tree("x.sh", `python my_dpo.py ${flags}\n`), "dpo");
    assert.equal(isFramework("x.sh", "python my_dpo.py --model_name_or_path a/b\n"), false);
    assert.equal(isFramework("x.sh", "python sft.py --data here\n"), false);
    assert.equal(isFramework("x.sh", "trl env\n"), false);
  });

  it("are started by scripts that import TRL, where these can be read", () => {
    const folder = mkdtempSync(join(tmpdir(), "gradus-program-"));
    try {
      mkdirSync(join(folder, "scripts"));
      const launch =
        "accelerate launch src/train_grpo.py --num_generations 8 --reward_weights 1 --beta 0 --loss_type grpo\n";
      const frameworkOf = (): string | undefined =>
        readFrameworkDocument(join(folder, "scripts/run.sh"), launch, { environment: "" })?.framework;
      assert.equal(frameworkOf(), "trl");
      mkdirSync(join(folder, "src"));
      writeFileSync(join(folder, "src/train_grpo.py"), "from lab import GRPOTrainer\n");
      assert.equal(frameworkOf(), undefined);
      writeFileSync(join(folder, "src/train_grpo.py"), "from trl import GRPOTrainer, TrlParser\n");
      assert.equal(frameworkOf(), "trl");
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("have arguments of their own", () => {
    const text = "trl sft --model_name_or_path a/b --dataset_name c/d --packing --num_generations 4\n";
    assert.deepEqual(briefly("x.sh", text), ["error foreign-unknown-key: num_generations"]);
    assert.match(check("x.sh", text)[0]?.message ?? "", /has no `--num_generations`: `trl sft` refuses it/);
    const loss = "trl dpo --model_name_or_path a/b --dataset_name c/d --loss_type sigmod\n";
    assert.deepEqual(briefly("x.sh", loss), ["error foreign-value: sigmod"]);
    assert.equal(mended("x.sh", loss), loss.replace("sigmod", "sigmoid"));
    // The release decides when a trainer lost a key.
    const length = "trl dpo --model_name_or_path a/b --dataset_name c/d --max_prompt_length 128\n";
    assert.deepEqual(briefly("x.sh", `# TRL 0.28.0\n${length}`), []);
    assert.match(check("x.sh", length)[0]?.message ?? "", /^TRL (0\.29|1)\.\d+(\.\d+)? dropped/);
  });

  it("in Python are those whose arguments the trainer is given", () => {
    const text =
      'from trl import DPOConfig, DPOTrainer, SFTConfig\nargs = DPOConfig(output_dir="o", beat=0.1)\nother = SFTConfig(output_dir="p")\nDPOTrainer("a/b", args=args, train_dataset=d)\n';
    assert.equal(tree("x.py", text), "dpo");
    assert.deepEqual(briefly("x.py", text), ["error foreign-unknown-key: beat"]);
    assert.match(check("x.py", text)[0]?.message ?? "", /`DPOConfig` refuses it\. Did you mean `beta`\?/);
    // Other libraries have classes of these names.
    assert.equal(isFramework("x.py", "from gym import RewardConfig\nRewardConfig(scale=1)\n"), false);
  });

  it("have their numbers: pairs are two sequences", () => {
    const text = "loss_weights: [1]\nper_device_train_batch_size: 4\ngradient_accumulation_steps: 8\n";
    assert.deepEqual(
      geometryOf(new DocumentModel(read("x.yaml", text))).map(({ value }) => value),
      [32, 64, 32, 8],
    );
  });
});

describe("OpenRLHF's programs", () => {
  it("have flags of their own", () => {
    const sft = "deepspeed --module openrlhf.cli.train_sft --data.dataset a/b --train.batch_size 8\n";
    assert.equal(tree("x.sh", sft), "train_sft");
    assert.deepEqual(briefly("x.sh", sft), []);
    const wrong = sft.replace("--train.batch_size 8", "--rollout.n_samples_per_prompt 8");
    assert.deepEqual(briefly("x.sh", wrong), ["error foreign-unknown-key: rollout.n_samples_per_prompt"]);
    const old =
      "# OpenRLHF 0.9.4\ndeepspeed --module openrlhf.cli.train_prm --pretrain a/b --lerning_rate 1e-6\n";
    assert.equal(tree("x.sh", old), "train_prm");
    assert.equal(mended("x.sh", old), old.replace("lerning_rate", "learning_rate"));
  });

  it("that a release lacks are not checked", () => {
    const kd = "openrlhf.cli.train_kd --pretrain a/b --teacher_model c/d\n";
    assert.equal(read("x.sh", `python -m ${kd}`).incomplete, true);
  });
});

describe("verl's programs", () => {
  const sft = (overrides: string): string => `torchrun -m verl.trainer.sft_trainer ${overrides}\n`;

  it("have trees of their own, by engine", () => {
    assert.equal(tree("x.sh", sft("data.train_batch_size=8")), "sft_trainer_engine");
    assert.deepEqual(briefly("x.sh", sft("model.path=a/b optim.lr=1e-5 engine.strategy=fsdp2")), []);
    assert.deepEqual(briefly("x.sh", sft("model.pth=a/b")), ["error foreign-unknown-key: model.pth"]);
    const parallel = "engine.tensor_model_parallel_size=2";
    assert.equal(briefly("x.sh", sft(parallel)).length, 1);
    assert.deepEqual(briefly("x.sh", sft(`engine=megatron optim=megatron ${parallel}`)), []);
    assert.equal(
      tree("x.sh", `# verl 0.5.0\npython -m verl.trainer.fsdp_sft_trainer data.max_length=8\n`),
      "sft_trainer",
    );
    assert.equal(tree("x.sh", "python -m verl.trainer.main_eval data.path=a.parquet\n"), "evaluation");
  });

  it("of the package's experiments have verl's tree and their own keys", () => {
    const main = "python -m verl.experimental.fully_async_policy.fully_async_main";
    const text = `${main} data.seed=1 async_training.require_batches=4 async_training.staleness_treshold=0.1\n`;
    assert.deepEqual(briefly("x.sh", text), ["error foreign-unknown-key: async_training.staleness_treshold"]);
    assert.equal(mended("x.sh", text), text.replace("treshold", "threshold"));
    assert.equal(
      tree("x.sh", `${main} --config-name=fully_async_ppo_megatron_trainer data.seed=1\n`),
      "fully_async_ppo_megatron_trainer",
    );
  });

  it("that are recipes outside of the package are checked for nothing but slips", () => {
    const recipe = "python -m recipe.dapo.main_dapo reward.mine=1 actor_rollout_ref.rollout.n=8\n";
    assert.deepEqual(briefly("x.sh", recipe), []);
    assert.equal(read("x.sh", recipe).incomplete, true);
  });

  it("made of known classes take no key that the class lacks, with `+` or without", () => {
    const launch = "python3 -m verl.trainer.main_ppo model_engine=megatron";
    const key = "actor_rollout_ref.actor.megatron.grad_offload";
    for (const sign of ["", "+"]) {
      const [found, ...others] = check("x.sh", `${launch} ${sign}${key}=True\n`);
      assert.deepEqual(
        { severity: found?.severity, rule: found?.rule, othersLength: others.length },
        { severity: "error", rule: "foreign-moved-key", othersLength: 0 },
      );
      assert.match(found?.message ?? "", /^verl 0\.9\.1 dropped .*`param_offload` releases/);
    }
    assert.deepEqual(briefly("x.sh", `# verl 0.9.0\n${launch} ${key}=True\n`), []);
    assert.equal(briefly("x.sh", `${launch} +${key.replace("grad", "grid")}=True\n`).length, 1);
  });
});
