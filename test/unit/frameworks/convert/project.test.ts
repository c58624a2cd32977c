/** Projects as people have them: their rewards and their data come along, and what can't is said. */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { UserError } from "../../../../shared/lib/errors.ts";
import { needs } from "../../../../server/config/needs.ts";
import type { TaskSource } from "../../../../server/core/slots/tasks.ts";
import { asConfig } from "../../../../server/frameworks/use/asConfig/convertFile.ts";
import { loadFile } from "../../../../server/frameworks/use/asConfig/load.ts";
import { convert } from "../../../../server/frameworks/trainers/convert.ts";
import { dataset } from "../../../../server/methods/tasks/dataset.ts";
import { context, temporary } from "../../support.ts";

const projects = resolve("test/fixtures/projects");
const gsm = join(projects, "gsm");

/** What is written of it, and why what is not is not. */
interface Made {
  readonly tree: Record<string, never>;
  readonly reasons: Readonly<Record<string, string>>;
}

function made(file: string, text = readFileSync(file, "utf8")): Made {
  const { config, unmapped } = convert(file, text);
  return {
    tree: parse(config),
    reasons: Object.fromEntries(
      unmapped.map(({ key, value, reason }) => [`${key} ${String(value)}`, reason]),
    ),
  };
}

/** A script in a folder of its own, with the files that are given. */
function laid(name: string, text: string, files: Readonly<Record<string, string | Buffer>> = {}): string {
  const folder = temporary();
  for (const [path, content] of Object.entries({ ...files, [name]: text })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return join(folder, name);
}

const verl = (...settings: string[]): string =>
  `python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo actor_rollout_ref.rollout.n=4 ${settings.join(" ")}\n`;
const rows = readFileSync(join(gsm, "data", "train.parquet"));

describe("a verl project", () => {
  it("keeps its reward function with what it is called with", () => {
    const { tree } = made(join(gsm, "run.sh"));
    assert.deepEqual(tree["reward"], {
      terms: { score: { use: "./reward.py:compute_score", args: { format_score: 0.1 } } },
    });
  });

  it("has tasks of its messages, with the reference answer and the whole row", () => {
    const { tree } = made(join(gsm, "run.sh"));
    const { dataset: path, prompt, answer } = tree["tasks"]![0]!;
    const source: TaskSource = dataset.create(
      dataset.params.parse({ dataset: path, prompt, answer, shuffle: false }),
      { ...context, folder: gsm },
    );
    const task = source.draw("train", undefined, context.random)!;
    assert.match(task.prompt, /^Mia has 3 apples .* after "####"\.$/);
    assert.equal(task.answer, "20");
    assert.deepEqual(Object.keys(task.data as object), [
      "data_source",
      "prompt",
      "ability",
      "reward_model",
      "extra_info",
    ]);
    assert.equal(source.pool!(0, context.random).size + heldOut(source), 50);
  });

  it("without a reward of its own says how verl scores its data, and names verl's file where that is installed", () => {
    const settings = verl("data.train_files=train.parquet");
    const without = laid("run.sh", settings, { "train.parquet": rows });
    const key = "reward.custom_reward_function.path null";
    assert.match(
      made(without).reasons[key]!,
      /`openai\/gsm8k` with its own gsm8k\.py, which compares the last `#### NUMBER`/,
    );
    assert.deepEqual(made(without).tree["reward"]!["terms"], { score: { use: "exact_match" } });

    const packages = ".venv/lib/python3.12/site-packages";
    const scorer = `${packages}/verl/utils/reward_score/gsm8k.py`;
    const installed = laid("run.sh", settings, {
      "train.parquet": rows,
      [`${packages}/verl-0.9.1.dist-info/METADATA`]: "Name: verl\nVersion: 0.9.1\n",
      [scorer]: "def compute_score(solution_str, ground_truth): return 0\n",
    });
    assert.deepEqual(made(installed).tree["reward"]!["terms"], {
      score: { use: `${join(dirname(installed), scorer)}:compute_score` },
    });

    const unknown = laid("run.sh", verl("data.train_files=train.jsonl"), {
      "train.jsonl": '{"prompt":"p","data_source":"mine"}\n{"prompt":"p","data_source":"yours"}\n',
    });
    assert.match(made(unknown).reasons[key]!, /here mine, yours.*placeholder/);
    assert.match(made(unknown).reasons["data.train_files train.jsonl"]!, /no `reward_model\.ground_truth`/);
    assert.equal(made(unknown).tree["tasks"]![0]!["answer"], undefined);
  });

  it("has the reward that its release trains on, and says in one line which key that passes over", () => {
    const old =
      "data.train_files=train.parquet custom_reward_function.path=own.py reward_model.reward_kwargs.overlong_buffer_cfg.len=16";
    const files = { "train.parquet": rows, "own.py": "def compute_score(): return 0\n" };
    const script = (release: string, ...settings: string[]): Made =>
      made(laid("run.sh", `# verl==${release}\n${verl(old, ...settings)}`, files));
    const now = script("0.9.1");
    assert.deepEqual(now.tree["reward"], { terms: { score: { use: "exact_match" } } });
    assert.match(
      now.reasons["custom_reward_function.path own.py"]!,
      /^left out, because verl 0\.9\.1 never reads it: verl scores `openai\/gsm8k` with its own gsm8k\.py/,
    );
    assert.equal(
      now.reasons["reward_model.reward_kwargs.overlong_buffer_cfg.len 16"],
      "verl 0.9.1 never reads it: use `reward.reward_kwargs.overlong_buffer_cfg.len`",
    );
    assert.deepEqual(
      Object.keys(now.reasons).filter((key) => key.includes("custom_reward_function")),
      ["custom_reward_function.path own.py"],
    );

    const both = script("0.9.1", "reward.custom_reward_function.path=new.py");
    assert.deepEqual(both.tree["reward"], { terms: { score: { use: "./new.py:compute_score" } } });
    assert.match(
      both.reasons["custom_reward_function.path own.py"]!,
      /never reads it: the run trains on new\.py\./,
    );
    // Before 0.9 the old section wins where both are set.
    const before = script("0.8.0", "reward.custom_reward_function.path=new.py");
    assert.deepEqual(before.tree["reward"], {
      terms: {
        score: { use: "./own.py:compute_score" },
        overlong: { use: "length", shape: "soft_overlong", limit: 512, cache: 16, weight: 1 },
      },
    });
    // Nothing names a release, or the program is another than verl's own, which moves the old keys itself.
    const { tree } = made(laid("run.sh", verl(old), files));
    assert.equal(tree["reward"]!["terms"]!["score"]!["use"], "./own.py:compute_score");
    const asynchronous = `# verl==0.9.1\n${verl(old).replace("verl.trainer.main_ppo", "verl.experimental.fully_async_policy.fully_async_main")}`;
    const other = made(laid("run.sh", asynchronous, files));
    assert.equal(other.tree["reward"]!["terms"]!["score"]!["use"], "./own.py:compute_score");
  });

  it("finds files from its folder, from a folder above that it was started in, and from HOME", () => {
    const script = laid(
      "recipe/run.sh",
      verl(`data.train_files="['data/a.jsonl','$HOME/b.jsonl']" custom_reward_function.path=rewards/own.py`),
      { "data/a.jsonl": '{"prompt":"p"}\n', "rewards/own.py": "def compute_score(): return 0\n" },
    );
    const { tree } = made(script);
    const tasks: readonly { readonly dataset: string }[] = tree["tasks"]!;
    assert.deepEqual(
      tasks.map(({ dataset: path }) => path),
      ["../data/a.jsonl", join(process.env["HOME"] ?? "", "b.jsonl")],
    );
    assert.deepEqual(tree["reward"]!["terms"], { score: { use: "../rewards/own.py:compute_score" } });
  });
});

describe("a TRL script", () => {
  it("whose rows are not those of its file says which call changes them", () => {
    const changedBy = (...lines: string[]): string | undefined => {
      const text = [
        "from datasets import Dataset, load_dataset",
        "from trl import GRPOConfig, GRPOTrainer",
        "def right(completions, **kwargs): return [0.0 for _ in completions]",
        'data = load_dataset("json", data_files="rows.jsonl", split="train")',
        ...lines,
        'GRPOTrainer(model="m", reward_funcs=right, args=GRPOConfig(max_steps=2), train_dataset=data)',
        "",
      ].join("\n");
      const file = laid("train.py", text, { "rows.jsonl": '{"prompt":"p","answer":"a"}\n' });
      return convert(file, text).rowsBuilder?.call;
    };
    assert.equal(changedBy(), undefined);
    assert.equal(changedBy('data = data.shuffle(seed=1).with_format("torch")'), undefined);
    const template = "[{'role': 'user', 'content': row['prompt']}]";
    const cases = {
      ".map": `data = data.map(lambda row: {"prompt": tokenizer.apply_chat_template(${template}, tokenize=False)})`,
      ".remove_columns": 'data = data.remove_columns(["answer"])',
      ".select": "data = data.select(range(64))",
      ".filter": 'data = data.filter(lambda row: len(row["prompt"]) < 99)',
      ".set_transform": "data.set_transform(lambda row: row)",
      ".from_list": 'data = Dataset.from_list([{"prompt": row["prompt"]} for row in data])',
      prepare: "data = prepare(data)",
    };
    for (const [call, line] of Object.entries(cases)) assert.equal(changedBy(line), call, line);
  });

  it("that sets a chat template says that the prompts are written otherwise, and keeps its rows", () => {
    const text = readFileSync(join(projects, "trl", "train.py"), "utf8");
    const { unmapped, rowsBuilder } = convert(
      join(projects, "trl", "train.py"),
      `${text}\ntokenizer.chat_template = "{{ messages }}"\n`,
    );
    assert.match(
      unmapped.find(({ key }) => key === "processing_class")?.reason ?? "",
      /^the script sets a chat template/,
    );
    assert.equal(rowsBuilder, undefined);
  });

  it("keeps its rewards with their weights; one of TRL's own is the term that scores the same", () => {
    const { tree, reasons } = made(join(projects, "trl", "train.py"));
    assert.deepEqual(tree["reward"]!["terms"], {
      correct: { use: "./train.py:correct", weight: 1 },
      brief: { use: "./train.py:brief", weight: 0.2 },
      think_format_reward: { use: "format", pattern: "<think>(?!.*<think>).*</think>.*", weight: 0.1 },
    });
    assert.match(reasons["reward_funcs think_format_reward"]!, /built-in `format` scores the same/);
    assert.deepEqual(tree["tasks"], [
      { dataset: "data/train.parquet", prompt: "{prompt}", answer: "{solution}" },
    ]);
    assert.equal(tree["model"]!["base"], "Qwen/Qwen2.5-0.5B-Instruct");
  });

  it("has rewards as partials, by module, from TRL, and some that nothing can name", () => {
    const { tree, reasons } = made(laid("train.py", many, { "rewards.py": "def other(completions): ...\n" }));
    assert.deepEqual(tree["reward"]!["terms"], {
      scaled: { use: "./train.py:scaled", weight: 1 },
      scaled_2: { use: "./train.py:scaled", args: { scale: 2 }, weight: 2 },
      accuracy_reward: { use: "./train.py:accuracy_reward", weight: 3 },
      soft: { use: "length", shape: "soft_overlong", limit: 512, cache: 128, weight: 4 },
      other: { use: "./rewards.py:other", weight: 5 },
    });
    assert.match(reasons["reward_funcs accuracy_reward"]!, /no built-in term does exactly that/);
    assert.match(reasons["reward_funcs judge"]!, /left out: a reward model/);
    assert.match(reasons["reward_funcs inner"]!, /left out: train\.py has no `inner` at its top/);
    assert.equal(tree["tasks"]![0]!["dataset"], "hf://datasets/openai/gsm8k/main");
  });

  it("that a launch script starts brings its rewards and data, where no flag says otherwise", () => {
    const launch =
      "accelerate launch --num_processes 2 src/train_grpo.py --num_generations 4 --per_device_train_batch_size 8 --max_completion_length 64 --model_name_or_path m/x\n";
    const trainer = `
from trl import GRPOTrainer, TrlParser, GRPOConfig
import rewards
def right(completions, **kwargs): return [0.0]
GRPOTrainer(model=model_args.model_name_or_path, reward_funcs=[right, rewards.other], args=training_args, train_dataset=load_dataset("json", data_files="d/train.jsonl"))
`;
    const { tree } = made(
      laid("run.sh", launch, {
        "src/train_grpo.py": trainer,
        "src/rewards.py": "def other(completions, **kwargs): return [0.0]\n",
        "d/train.jsonl": '{"prompt":"q","answer":"a"}\n',
      }),
    );
    assert.deepEqual(tree["reward"]!["terms"], {
      right: { use: "./src/train_grpo.py:right" },
      other: { use: "./src/rewards.py:other" },
    });
    assert.equal(tree["tasks"]![0]!["dataset"], "d/train.jsonl");
    assert.equal(tree["model"]!["base"], "m/x");
  });

  it("takes rows from what load_dataset is given, whichever way it is written", () => {
    const of = (load: string): unknown =>
      made(laid("train.py", script(load), { "d/train.jsonl": '{"question":"q","answer":"a"}\n' })).tree[
        "tasks"
      ];
    const found = [{ dataset: "d/train.jsonl", prompt: "{question}", answer: "{answer}" }];
    for (const load of [
      'load_dataset("json", data_files="d/train.jsonl")["train"]',
      'load_dataset("json", data_files={"test": "d/no.jsonl", "train": ["d/train.jsonl"]}, split="train").shuffle(1)',
      'Dataset.from_json("d/train.jsonl")',
      'load_dataset("d", split="train")',
    ])
      assert.deepEqual(of(load), found, load);
  });
});

it("OpenRLHF's reward file is called by the name that OpenRLHF looks for", () => {
  const text =
    "python3 -m openrlhf.cli.train_ppo_ray --prompt_data d.jsonl --label_key gold --remote_rm_url ./reward_func.py\n";
  const { tree } = made(laid("run.sh", text));
  assert.deepEqual(tree["reward"]!["terms"], { score: { use: "./reward_func.py:reward_func" } });
  assert.equal(tree["tasks"]![0]!["answer"], "{gold}");
});

it("another trainer's YAML is refused by its name, and OpenRLHF's is made of no other", () => {
  const nemo =
    "grpo: { seed: 1 }\nloss_fn: { ratio_clip_min: 0.2 }\npolicy: { model_name: m }\nenv: { math: {} }\n";
  for (const asked of [undefined, "openrlhf"] as const)
    assert.throws(
      () => convert("grpo.yaml", nemo, asked),
      (error) => error instanceof UserError && error.message.includes("NeMo RL"),
    );
  assert.throws(() => asConfig("/p/grpo.yaml", nemo), /NeMo RL/);
  // Words of OpenRLHF's flags that others use too.
  const words = "logger: { wandb: { key: a } }\ntrain: { batch_size: 1, seed: 1 }\nactor: { lr: 1 }\n";
  assert.throws(
    () => convert("a.yaml", words),
    /not a configuration of verl, TRL, OpenRLHF, SkyRL or prime-rl/,
  );
});

describe("a converted file that is loaded", () => {
  it("says what is wrong at the script's own line", () => {
    const script = laid(
      "gsm/run.sh",
      verl("\\\n  data.train_files=gone.parquet", "actor_rollout_ref.model.path=no/model"),
    );
    const { diagnostics, config } = loadFile(script);
    const found = diagnostics.find(({ rule }) => rule === "dataset-file")!;
    assert.deepEqual([found.severity, found.range.start.line, found.file], ["error", 1, script]);
    assert.match(found.message, /`gone\.parquet`.*\(converted from run\.sh\)$/);
    assert.equal(config, undefined);
    const without = loadFile(script, {}, { needs: needs.written });
    assert.equal(without.config?.name, "gsm");
    assert.deepEqual(
      without.diagnostics.filter(({ rule }) => /-file$/.test(rule)).map(({ severity }) => severity),
      ["warning", "warning"],
    );
  });

  it("names the line that wrote each value", () => {
    const { origins } = loadFile(join(gsm, "run.sh"));
    const line = readFileSync(join(gsm, "run.sh"), "utf8")
      .split("\n")
      .findIndex((text) => text.includes("rollout.n=4"));
    assert.equal(origins["rollout.group"]!.line, line + 1);
    assert.deepEqual(origins["rollout.temperature"], { file: "converted from run.sh", line: 0, via: [] });
  });

  it("rehearses with a tiny model that has room for the prompts' letters", () => {
    const text = verl(
      "data.max_prompt_length=100",
      "data.max_response_length=20",
      "actor_rollout_ref.model.path=no/model",
    );
    const { model, tasks } = parse(asConfig("/p/run.sh", text, ["model.base=tiny"])!.config);
    assert.deepEqual(model, { base: "tiny", context: 420 });
    assert.deepEqual([tasks[0].max_prompt, tasks[0].overlong], [400, "filter"]);
  });
});

function heldOut(source: TaskSource): number {
  const ids = new Set<string>();
  for (let i = 0; i < 50; i++) ids.add(source.draw("evaluate", undefined, context.random)!.id);
  return ids.size;
}

const script = (load: string): string => `
from datasets import load_dataset, Dataset
from trl import GRPOConfig, GRPOTrainer
def right(completions, **kwargs): return [0.0]
data = ${load}
GRPOTrainer("m/x", right, GRPOConfig(num_generations=4), data)
`;

const many = `
from functools import partial
from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer
from trl.rewards import accuracy_reward, get_soft_overlong_punishment
import rewards

def scaled(completions, scale=1.0, **kwargs):
    return [scale for _ in completions]

soft = get_soft_overlong_punishment(max_completion_len=512, soft_punish_cache=128)

def main():
    def inner(completions): return []
    config = GRPOConfig(num_generations=8, reward_weights=[1, 2, 3, 4, 5, 6, 7])
    GRPOTrainer(
        "Qwen/Qwen2.5-0.5B",
        [scaled, partial(scaled, scale=2), accuracy_reward, soft, rewards.other, "org/judge", inner],
        args=config,
        train_dataset=load_dataset("openai/gsm8k", "main", split="train"),
    )

main()
`;

describe("a model that a script makes", () => {
  const script = (...model: string[]): Made =>
    made(
      laid(
        "train.py",
        [
          "from trl import GRPOConfig, GRPOTrainer",
          ...model,
          "def right(completions, **kwargs):\n    return [0.0 for _ in completions]",
          "GRPOTrainer(model=model, reward_funcs=right, args=GRPOConfig(num_generations=8), train_dataset=None)",
          "",
        ].join("\n"),
      ),
    );
  const ofModel = ({ reasons }: Made): string[] =>
    Object.entries(reasons).flatMap(([key, reason]) => (key.startsWith("model ") ? [reason] : []));

  const forms: readonly [what: string, lines: readonly string[], model: object][] = [
    [
      "loads with its tokenizer, and gives an adapter",
      [
        "rank = 32",
        'model, tokenizer = FastLanguageModel.from_pretrained(model_name = "a/b", load_in_4bit = True)',
        "model = FastLanguageModel.get_peft_model(model, r = rank, lora_alpha = 64)",
      ],
      { base: "a/b", adapter: { use: "lora", rank: 32, alpha: 64, dropout: 0 } },
    ],
    [
      "gives peft's adapter",
      [
        'base = AutoModelForCausalLM.from_pretrained("a/b")',
        "model = base",
        'model = AutoModelForCausalLM.from_pretrained("a/b")',
        "model = get_peft_model(model, LoraConfig(r=4, lora_dropout=0.1))",
      ],
      { base: "a/b", adapter: { use: "lora", rank: 4, alpha: 8, dropout: 0.1 } },
    ],
  ];
  for (const [what, lines, model] of forms)
    it(`is converted where the script ${what}`, () => {
      const found = script(...lines);
      assert.deepEqual(found.tree["model"], model);
      assert.deepEqual(ofModel(found), []);
    });

  it("has a line for the adapter that it goes on with, and for what only running it shows", () => {
    const continued = script(
      'base = AutoModelForCausalLM.from_pretrained("a/b")',
      'model = PeftModel.from_pretrained(base, "out/sft")',
    );
    assert.deepEqual(continued.tree["model"], { base: "a/b" });
    assert.match(ofModel(continued)[0] ?? "", /goes on with the adapter `out\/sft`.*KL reference/);
    assert.match(ofModel(script("model = build(7)"))[0] ?? "", /makes the model by code \(`build`\)/);
    const made = script(
      'model = AutoModelForCausalLM.from_pretrained("a/b")',
      "model = get_peft_model(model, own())",
    );
    assert.match(ofModel(made)[0] ?? "", /an adapter by code \(`get_peft_model`\); write `model\.adapter`/);
  });
});
