/** What looks wrong and is taken: lists whose length only a run knows, names that nothing reads. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { checkFrameworkDocument, readFrameworkDocument } from "../../../server/frameworks/check/index.ts";
import { briefly, isFramework, read } from "./support.ts";

const heard = (name: string, text: string): string[] =>
  checkFrameworkDocument(read(name, text))
    .filter(({ severity }) => severity !== "info")
    .map(({ severity, rule }) => `${severity} ${rule}`);

const trainer = (
  before: string,
  rewards: string,
  weights = "[0.5, 0.3, 0.2]",
): string => `from trl import GRPOConfig, GRPOTrainer

def short(completions, **kwargs):
    return [0.0 for _ in completions]

def plain(completions, **kwargs):
    return [0.0 for _ in completions]

def kind(completions, **kwargs):
    return [0.0 for _ in completions]

${before}
args = GRPOConfig(output_dir="out", reward_weights=${weights})
trainer = GRPOTrainer(model="a/b", reward_funcs=${rewards}, args=args, train_dataset=prompts)
trainer.train()
`;

describe("a list that is made while the program runs has no known length", () => {
  for (const [name, before, rewards, weights] of [
    ["a comprehension", "", "[make(w) for w in (1, 2, 3)]"],
    ["a comprehension with a test", "", "[make(w) for w in range(9) if w % 3]"],
    ["a comprehension under a name", "rewards = [make(w) for w in (1, 2, 3)]", "rewards"],
    ["weights by a comprehension", "", "[short, plain]", "[1 / (i + 1) for i in range(2)]"],
    [
      "a list that grows by append",
      "rewards = [short]\nfor w in (1, 2):\n    rewards.append(make(w))",
      "rewards",
    ],
    ["a list that grows by +=", "rewards = [short]\nrewards += [plain, kind]", "rewards"],
    ["weights that grow", "weights = [0.5]\nweights.extend([0.3, 0.2])", "[short, plain, kind]", "weights"],
    ["a repeated list", "", "[short] * 3"],
  ] as const)
    it(name, () => assert.deepEqual(heard("train.py", trainer(before, rewards, weights)), []));

  it("and one that is written out has", () => {
    assert.deepEqual(heard("train.py", trainer("", "[short, plain]")), ["error trl-reward-weights"]);
    const nested = "[short, [x for x in y][0]]";
    assert.deepEqual(heard("train.py", trainer("", nested)), ["error trl-reward-weights"]);
  });
});

const verl = (...overrides: readonly string[]): string[] =>
  briefly(
    "run.sh",
    `python3 -m verl.trainer.main_ppo \\\n  data.train_files=train.parquet data.val_files=val.parquet \\\n  actor_rollout_ref.rollout.name=vllm ${overrides.join(" ")}\n`,
  ).filter((line) => line.includes("foreign-value"));

describe("a name that nothing reads is taken", () => {
  const value = "foreign-value: ";
  it("by verl, while the term that reads it is off", () => {
    assert.deepEqual(verl("algorithm.kl_penalty=klx"), [`warning ${value}klx`]);
    assert.deepEqual(verl("algorithm.kl_penalty=klx", "algorithm.use_kl_in_reward=True"), [
      `error ${value}klx`,
    ]);
    assert.deepEqual(verl("actor_rollout_ref.actor.kl_loss_type=klx"), [`warning ${value}klx`]);
    assert.deepEqual(
      verl("actor_rollout_ref.actor.kl_loss_type=klx", "actor_rollout_ref.actor.use_kl_loss=True"),
      [`error ${value}klx`],
    );
    assert.deepEqual(verl("trainer.v1.trainer_mode=never", "trainer.use_v1=False"), [
      `warning ${value}never`,
    ]);
    assert.deepEqual(verl("trainer.v1.trainer_mode=never"), [`error ${value}never`]);
  });

  const trl = (more: string): string[] =>
    briefly("grpo.yaml", `model_name_or_path: a/b\nnum_generations: 8\n${more}`).filter((line) =>
      line.includes("foreign-value"),
    );
  it("by TRL, while vLLM is off", () => {
    assert.deepEqual(trl("vllm_mode: elsewhere\n"), [`warning ${value}elsewhere`]);
    assert.deepEqual(trl("vllm_mode: elsewhere\nuse_vllm: true\n"), [`error ${value}elsewhere`]);
    assert.deepEqual(trl("loss_type: unknown_loss\n"), [`error ${value}unknown_loss`]);
    assert.deepEqual(trl("lr_scheduler_type: sideways\n"), [`error ${value}sideways`]);
  });
});

describe("a configuration of TRL whose own comment starts it", () => {
  const body = "model_name_or_path: a/b\nnum_generations: 8\nmax_completion_length: 64\nmy_own_key: 3\n";
  const unknown = (head: string): string[] =>
    briefly("mine.yaml", `${head}${body}`).filter((line) => line.includes("unknown-key"));
  it("has no keys of a script's own", () => {
    assert.deepEqual(unknown(""), ["warning foreign-unknown-key: my_own_key"]);
    for (const head of [
      "# trl grpo --config mine.yaml\n",
      "# Usage:\n#   accelerate launch trl/scripts/grpo.py --config configs/mine.yaml\n",
      "# CUDA_VISIBLE_DEVICES=0 trl grpo --config=./mine.yaml --num_processes 4\n",
      "# python -m trl.scripts.grpo --config mine.yaml\n",
    ])
      assert.deepEqual(unknown(head), ["error foreign-unknown-key: my_own_key"], head);
  });
  it("and one that names a script of its own may have them", () => {
    assert.deepEqual(unknown("# python train.py --config mine.yaml\n"), [
      "warning foreign-unknown-key: my_own_key",
    ]);
  });
});

describe("a YAML file that no longer parses", () => {
  const broken = (head: string, body: string, name = "mine.yaml"): string[] =>
    isFramework(name, `${head}${body}`)
      ? briefly(name, `${head}${body}`)
          .filter((line) => line.includes("foreign-syntax"))
          .map((line) => line.split(":")[0]!)
      : ["unknown"];
  const start = "# trl grpo --config mine.yaml\n";
  it("is refused where its keys or its own comment say whose it is", () => {
    const error = ["error foreign-syntax"];
    assert.deepEqual(broken(start, "model_name_or_path: a/b\nnum_generations: [8\n"), error);
    assert.deepEqual(broken(start, "model_name_or_path: a/b\n\tnum_generations: 8\n"), error);
    assert.deepEqual(broken(start, '"model_name_or_path: a/b\n'), error);
    assert.deepEqual(broken(start, "- a: {b\n"), error);
    assert.deepEqual(
      broken("", "actor_rollout_ref:\n  rollout: {n: 8\nalgorithm:\n  adv_estimator: grpo\n"),
      error,
    );
  });
  it("is no framework's otherwise, and one that parses is no error", () => {
    assert.deepEqual(broken("", '"model_name_or_path: a/b\n'), ["unknown"]);
    assert.deepEqual(broken(start, "model_name_or_path: a/b\nnum_generations: 8\n"), []);
  });
});

/** Of all rules, in a folder with these files. */
function inFolder(name: string, text: string, files: Readonly<Record<string, string>> = {}): string[] {
  const folder = mkdtempSync(join(tmpdir(), "gradus-not-wrong-"));
  for (const [path, content] of Object.entries({ ...files, [name]: text })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  const document = readFrameworkDocument(join(folder, name), text, { environment: "" });
  assert.ok(document);
  const found = checkFrameworkDocument(document).map(
    ({ severity, rule, key }) => `${severity} ${rule} ${key}`,
  );
  rmSync(folder, { recursive: true });
  return found;
}

const launch = (...words: readonly string[]): string =>
  `python3 -m verl.trainer.main_ppo ${words.join(" ")} actor_rollout_ref.rollout.name=vllm\n`;
const about = (found: readonly string[], key: string): string[] => found.filter((one) => one.includes(key));

describe("what a launch brings itself", () => {
  it("is a file of a group, where its folders are searched", () => {
    const group = "actor@actor_rollout_ref.actor=own_actor";
    assert.equal(about(inFolder("run.sh", launch(group)), "foreign-value").length, 1);
    const searched = launch("'hydra.searchpath=[pkg://mine.config]'", group);
    assert.deepEqual(about(inFolder("run.sh", searched), "foreign-value"), []);
  });

  it("is a class of its own for a section", () => {
    const recipe = (target: string): string =>
      `defaults:\n  - ppo_trainer\n  - _self_\nactor_rollout_ref:\n  actor:\n${target}    my_beta: 1\n    strategy: fsdp\nalgorithm:\n  adv_estimator: grpo\n`;
    const own = "    _target_: recipe.mine.actor.MyActorConfig\n";
    assert.deepEqual(about(inFolder("mine.yaml", recipe("")), "my_beta").length, 1);
    assert.deepEqual(about(inFolder("mine.yaml", recipe(own)), "my_beta"), []);
    const program = { "main.py": '@hydra.main(config_path="config", config_name="mine")\n' };
    assert.deepEqual(about(inFolder("config/mine.yaml", recipe(""), program), "my_beta"), []);
  });

  it("is a logger, where another program trains", () => {
    const logger =
      "'trainer.logger=[console,json_mine]' algorithm.adv_estimator=grpo actor_rollout_ref.rollout.n=4";
    assert.equal(about(inFolder("run.sh", launch(logger)), "trainer.logger").length, 1);
    const other = `python3 -m recipe.mine.main_mine ${logger}\n`;
    assert.deepEqual(about(inFolder("run.sh", other), "trainer.logger"), []);
  });

  it("is a file that the script writes", () => {
    const reward = "reward.custom_reward_function.path";
    const gone = launch(`${reward}=mine.py`);
    assert.equal(about(inFolder("run.sh", gone), reward).length, 1);
    assert.deepEqual(about(inFolder("run.sh", `cat > mine.py <<'PY'\nx = 1\nPY\n${gone}`), reward), []);
    const named = `F=mine.py\ncp /opt/mine.py "$F"\n${launch(`${reward}=$F`)}`;
    assert.deepEqual(about(inFolder("run.sh", named), reward), []);
  });

  it("is data of the machine that it is for, which is a warning", () => {
    const data = (path: string): string[] =>
      about(
        inFolder("run.sh", launch(`data.train_files=${path}`), { "data/sums.jsonl": "{}\n" }),
        "missing-data",
      );
    assert.deepEqual(data("data/train.parquet"), ["warning verl-missing-data data.train_files"]);
    assert.deepEqual(data("data/sumz.jsonl"), ["error verl-missing-data data.train_files"]);
  });
});

describe("a share above 1", () => {
  it("is refused by vLLM, and taken by Transformers", () => {
    const trl = (more: string): string[] =>
      briefly("grpo.yaml", `model_name_or_path: a/b\nnum_generations: 8\ntop_p: 1.2\n${more}`);
    assert.deepEqual(trl(""), []);
    assert.deepEqual(trl("use_vllm: true\n"), ["error foreign-value: 1.2"]);
  });
});

describe("a flag of RLOO before it was written anew", () => {
  const messages = (program: string): string[] =>
    checkFrameworkDocument(
      read("run.sh", `${program} --output_dir out --rloo_k 4 --kl_coef 0.03 --stop_token eos --beta 0.1\n`),
    )
      .filter(({ rule }) => rule === "foreign-moved-key")
      .map(({ severity, message }) => `${severity}: ${message}`);

  it("has its new name, and what the run has instead where the program passes over it", () => {
    const [k = "", kl = "", stop = ""] = messages("accelerate launch -m trl.scripts.rloo");
    assert.match(
      k,
      /^warning: `--rloo_k` is `--num_generations` since TRL 0\.25\.\d\. It is ignored here: the run has `num_generations` 2\.$/,
    );
    assert.match(kl, /is `--beta` since TRL \S+ It is ignored here\.$/);
    assert.match(stop, /dropped `--stop_token`\. Generation ends .* It is ignored here\.$/);
  });

  it("is refused by the command", () => {
    assert.match(messages("trl rloo")[0] ?? "", /^error: `--rloo_k` is `--num_generations` since TRL \S+$/);
  });
});
