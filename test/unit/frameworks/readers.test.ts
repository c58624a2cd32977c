/** Settings of other frameworks' files, with the place of each key and value. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isFramework, read, shown, textAt } from "./support.ts";

const launch = "python3 -m verl.trainer.main_ppo";

describe("a launch script of verl", () => {
  it("has overrides with their signs, quotes left on the values", () => {
    const text = `${launch} \\\n  data.train_batch_size=64 \\\n  +trainer.note="a b" 'data.train_files=[x, y]' ~trainer.logger ++data.seed=""\n`;
    const document = read("run.sh", text);
    assert.deepEqual(shown(document), [
      { key: "data.train_batch_size", value: 64, at: ["data.train_batch_size", "64", undefined] },
      { key: "+trainer.note", value: "a b", at: ["trainer.note", '"a b"', undefined] },
      { key: "data.train_files", value: ["x", "y"], at: ["data.train_files", "[x, y]", undefined] },
      { key: "~trainer.logger", value: undefined, at: ["trainer.logger", "trainer.logger", undefined] },
      { key: "++data.seed", value: null, at: ["data.seed", '""', undefined] },
    ]);
    assert.equal(textAt(text, document.head), "verl.trainer.main_ppo");
    assert.equal(document.program, "verl.trainer.main_ppo");
  });

  it("follows variables to where they are set, through one another and through defaults", () => {
    const text = `BASE=128\nBATCH=$BASE\nN=\${N:-8}\n${launch} data.train_batch_size=$BATCH actor_rollout_ref.rollout.n="\${N}" trainer.nnodes=\${NODES:-2} data.max_response_length=$((BASE * 2)) trainer.project_name=$WHO-\${N}\n`;
    const document = read("run.sh", text);
    assert.deepEqual(
      shown(document).map(({ value, at: [, range, source] }) => [value, range, source]),
      [
        [128, "$BATCH", "128"],
        [8, '"${N}"', "8"],
        [2, "${NODES:-2}", "2"],
        [256, "$((BASE * 2))", undefined],
        [undefined, "$WHO-${N}", undefined],
      ],
    );
    assert.deepEqual(
      document.unset.map(({ name, range }) => [name, textAt(text, range)]),
      [["WHO", "$WHO"]],
    );
  });

  it("finds settings in the array, the string and the here-document that hold them", () => {
    const array = `A=(\n  # sizes\n  data.train_batch_size=32\n  actor_rollout_ref.rollout.n='4'\n)\nMORE="trainer.nnodes=2 \\\n  trainer.total_epochs=3"\n${launch} "\${A[@]}" $MORE\n`;
    assert.deepEqual(
      shown(read("run.sh", array)).map(({ key, at }) => [key, ...at.slice(0, 2)]),
      [
        ["data.train_batch_size", "data.train_batch_size", "32"],
        ["actor_rollout_ref.rollout.n", "actor_rollout_ref.rollout.n", "'4'"],
        ["trainer.nnodes", "trainer.nnodes", "2"],
        ["trainer.total_epochs", "trainer.total_epochs", "3"],
      ],
    );
    const here = `read -r -d '' ARGS <<EOF\nopenrlhf.cli.train_ppo_ray \\\n  --train.batch_size 64 \\\n  --actor.eps_clip_low_high 0.2 0.3\nEOF\ndeepspeed --num_gpus 4 --module $ARGS\n`;
    const document = read("run.sh", here);
    assert.deepEqual(
      shown(document).map(({ key, value, at }) => [key, value, ...at.slice(0, 2)]),
      [
        ["train.batch_size", 64, "train.batch_size", "64"],
        ["actor.eps_clip_low_high", [0.2, 0.3], "actor.eps_clip_low_high", "0.2 0.3"],
      ],
    );
    assert.equal(document.processes?.value, 4);
  });

  it("counts the processes of all machines, which torchrun and DeepSpeed count on each", () => {
    const processes = (launcher: string): unknown =>
      read("run.sh", `${launcher} train_grpo.py --num_generations 4 --beta 0 --reward_weights 1\n`).processes
        ?.value;
    assert.equal(processes("accelerate launch --num_processes 6 --num_machines 2"), 6);
    assert.equal(processes("torchrun --nproc_per_node=4"), 4);
    assert.equal(processes("torchrun --nnodes 2 --nproc_per_node=4"), 8);
    assert.equal(processes("deepspeed --num_nodes 2 --num_gpus 8"), 16);
    assert.equal(processes("torchrun --nnodes $NODES --nproc_per_node=4"), undefined);
  });

  it("reads what is given to another program to run", () => {
    const ray = "ray job submit --address=x -- python3 -m verl.trainer.main_ppo trainer.nnodes=2\n";
    assert.deepEqual(
      shown(read("run.sh", ray)).map(({ key }) => key),
      ["trainer.nnodes"],
    );
    const shell = `srun bash -c "cd x && ${launch} trainer.nnodes=2 data.seed=1"\n`;
    assert.deepEqual(
      shown(read("run.sh", shell)).map(({ at }) => at.slice(0, 2)),
      [
        ["trainer.nnodes", "2"],
        ["data.seed", "1"],
      ],
    );
  });

  it("keeps places with carriage returns, tabs and letters outside of ASCII", () => {
    const text = `# größer\r\nX=4 # 数\r\n${launch} \\\r\n\ttrainer.nnodes=$X \\\r\n\tdata.seed=7\r\n`;
    assert.deepEqual(
      shown(read("run.sh", text)).map(({ value, at }) => [value, ...at]),
      [
        [4, "trainer.nnodes", "$X", "4"],
        [7, "data.seed", "7", undefined],
      ],
    );
  });

  it("is incomplete where another program or another file of settings decides", () => {
    assert.equal(read("run.sh", `${launch} trainer.nnodes=2`).incomplete, false);
    assert.equal(read("run.sh", `${launch} --config-name=mine trainer.nnodes=2`).incomplete, true);
    assert.equal(read("run.sh", "python3 -m recipe.x.main_x algorithm.gamma=1").incomplete, true);
    assert.equal(
      read("run.sh", `${launch} --config-name=ppo_megatron_trainer.yaml data.seed=1`).tree,
      "ppo_megatron_trainer",
    );
  });
});

describe("YAML", () => {
  it("has dotted leaves, with anchors and interpolations followed", () => {
    const text =
      "defaults: [ppo_trainer, _self_]\ndata:\n  train_batch_size: &b 64\nactor_rollout_ref:\n  actor: {ppo_mini_batch_size: *b}\n  rollout:\n    n: 8\n    prompt_length: ${data.max_prompt_length}\n    val_kwargs:\n      n: ${..n}\n";
    assert.deepEqual(
      shown(read("x.yaml", text)).map(({ key, value, at }) => [key, value, ...at]),
      [
        ["data.train_batch_size", 64, "train_batch_size", "64", undefined],
        ["actor_rollout_ref.actor.ppo_mini_batch_size", 64, "ppo_mini_batch_size", "*b", "64"],
        ["actor_rollout_ref.rollout.n", 8, "n", "8", undefined],
        // The default of the release.
        [
          "actor_rollout_ref.rollout.prompt_length",
          512,
          "prompt_length",
          "${data.max_prompt_length}",
          undefined,
        ],
        ["actor_rollout_ref.rollout.val_kwargs.n", 8, "n", "${..n}", "8"],
      ],
    );
  });

  it("of TRL keeps maps whole, and reads flags and numbers as PyYAML does", () => {
    const text =
      "num_generations: 8\nlearning_rate: 1e-6\nbf16: yes\nmodel_init_kwargs: {a: 1}\nreward_funcs:\n  - x.y\n";
    assert.deepEqual(
      shown(read("x.yaml", text)).map(({ value }) => value),
      [8, 1e-6, true, { a: 1 }, ["x.y"]],
    );
  });

  it("is no framework's where it is another program's", () => {
    assert.equal(isFramework("x.yaml", "model_name_or_path: x\nlearning_rate: 1\noutput_dir: y\n"), false);
    assert.equal(isFramework("x.yaml", "tasks: []\nalgorithm: grpo\nnum_generations: 8\nbeta: 1"), false);
    assert.equal(
      isFramework("x.yaml", "base_model: x\nrl: grpo\nnum_generations: 8\nlearning_rate: 1"),
      false,
    );
    assert.equal(isFramework("x.sh", "echo actor_rollout_ref\n"), false);
    assert.equal(isFramework("x.sh", "torchrun -m mine.sft_trainer data.path=x # not verl.trainer\n"), false);
    assert.equal(isFramework("x.py", "class GRPOConfig(Base):\n  x: int = 1\n"), false);
  });
});

describe("GRPOConfig in Python", () => {
  it("has keywords, with names, arithmetic and spread dictionaries followed", () => {
    const text =
      'G = 4\nCOMMON = {"beta": 0.1}\n\ndef main():\n    args = trl.GRPOConfig(\n        output_dir="o",  # here\n        num_generations=2 * G,\n        learning_rate=1e-6,\n        **COMMON,\n    )\n';
    const document = read("x.py", text);
    assert.deepEqual(
      shown(document).map(({ key, value, at }) => [key, value, ...at.slice(0, 2)]),
      [
        ["beta", 0.1, "beta", "0.1"],
        ["output_dir", "o", "output_dir", '"o"'],
        ["num_generations", 8, "num_generations", "2 * G"],
        ["learning_rate", 1e-6, "learning_rate", "1e-6"],
      ],
    );
    assert.equal(document.incomplete, false);
    assert.equal(textAt(text, document.head), "GRPOConfig");
  });

  it("is partly known where something is computed", () => {
    const text =
      "args = GRPOConfig(beta=get(), run_name=f'{x}', bf16=not a, **load())\nt = GRPOTrainer(args=args)\n";
    const document = read("x.py", text);
    assert.deepEqual(
      shown(document).map(({ value }) => value),
      [undefined, undefined, undefined],
    );
    assert.equal(document.incomplete, true);
  });

  it("is read while it is written", () => {
    const text = "GRPOTrainer(\n  args=GRPOConfig(\n    num_generations=8,\n    loss_type=\n";
    assert.deepEqual(
      shown(read("x.py", text)).map(({ key, value }) => [key, value]),
      [
        ["num_generations", 8],
        ["loss_type", undefined],
      ],
    );
  });
});

describe("Python", () => {
  it("reads a script that gets its settings from its command line, and takes none of them for known", () => {
    const script = (rest: string): string =>
      `from trl import GRPOConfig, GRPOTrainer, ModelConfig, ScriptArguments, TrlParser
parser = TrlParser((ScriptArguments, GRPOConfig, ModelConfig))
script_args, training_args, model_args = parser.parse_args_and_config()
${rest}`;
    const trains = "trainer = GRPOTrainer(model=model_args.model_name_or_path, args=training_args)\n";
    const found = read("train.py", script(trains));
    assert.deepEqual(
      [found?.tree, found?.settings.length, found?.commanded, found?.incomplete],
      ["grpo", 0, true, true],
    );
    assert.equal(isFramework("train.py", script("")), false, "it trains nothing");
    assert.equal(
      isFramework("train.py", script(trains).replaceAll("GRPOConfig", "SFTConfig").replaceAll("GRPO", "SFT")),
      false,
      "it has no reward",
    );
  });

  it("takes no class for TRL's that the file has from elsewhere or makes itself", () => {
    const call = "args = GRPOConfig(beta=0.1, benchmarks=[])\n";
    assert.equal(isFramework("train.py", `from trl import GRPOConfig, GRPOTrainer\n${call}`), true);
    assert.equal(isFramework("train.py", `from trl.trainer.grpo_config import GRPOConfig\n${call}`), true);
    for (const own of [
      "from recipes.configs import GRPOConfig",
      "from recipes.configs import (\n  ScriptArguments,\n  Mine as GRPOConfig,\n)",
      "from .configs import GRPOConfig as GRPOConfig",
      "import trl\nclass GRPOConfig(trl.GRPOConfig):\n  benchmarks: list = ()",
    ])
      assert.equal(isFramework("train.py", `from trl import TrlParser\n${own}\n${call}`), false, own);
  });
});
