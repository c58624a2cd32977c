/** Whole configurations of other frameworks: what comes out, what is reported to be lost, and that it loads and validates. */
import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { parse } from "yaml";
import { allDiagnostics, loadConfig } from "../../../../server/rules/load.ts";
import type { StageBody } from "../../../../server/core/config/resolved.ts";
import { convert, type Converted } from "../../../../server/frameworks/trainers/convert.ts";
import type { Framework } from "../../../../server/frameworks/check/index.ts";
import { UserError } from "../../../../shared/lib/errors.ts";

const fixtures = "test/fixtures/convert";
const folder = mkdtempSync(join(tmpdir(), "gradus-convert-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** The files that the fixtures name. */
function lay(): void {
  for (const name of ["a", "b"]) mkdirSync(join(folder, "data", name), { recursive: true });
  mkdirSync(join(folder, "rewards"), { recursive: true });
  mkdirSync(join(folder, "models"), { recursive: true });
  const row = { prompt: "p", question: "p", answer: "a", solution: "a", reward_model: { ground_truth: "a" } };
  for (const name of ["a", "b"])
    writeFileSync(join(folder, "data", name, "train.jsonl"), `${JSON.stringify(row)}\n`);
  const reward =
    "def score(solution_str, ground_truth):\n  return 0\ndef reward_func(queries, prompts, labels):\n  return [0 for _ in queries]\n";
  for (const file of ["rewards/score.py", "rewards.py"]) writeFileSync(join(folder, file), reward);
  cpSync("test/fixtures/architectures/llama", join(folder, "models", "tiny"), { recursive: true });
}
lay();

const converted = (file: string): Converted => convert(file, readFileSync(join(fixtures, file), "utf8"));
function body({ config }: Converted): StageBody {
  const path = join(folder, "converted.gradus.yaml");
  writeFileSync(path, config);
  const loaded = loadConfig(path, { recorded: true });
  assert.deepEqual(
    loaded.diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message),
    [],
  );
  return loaded.config!.top;
}
const of = (text: string, file = "run.sh", asked?: Framework): Converted => convert(file, text, asked);
const tree = ({ config }: Converted): Record<string, Record<string, unknown>> => parse(config);
const reason = ({ unmapped }: Converted, key: string): string | undefined =>
  unmapped.find((entry) => entry.key === key)?.reason;

describe("converted configurations", () => {
  for (const [file, peer] of [
    ["verl.sh", "verl"],
    ["verl.yaml", "verl"],
    ["trl.yaml", "trl"],
    ["openrlhf.sh", "openrlhf"],
  ] as const)
    it(`${file} is recognised as ${peer}'s, and its conversion validates where the files exist`, () => {
      const result = converted(file);
      assert.equal(result.framework, peer);
      const path = join(folder, `${peer}.gradus.yaml`);
      writeFileSync(path, result.config);
      const findings = allDiagnostics(path, {}).filter(({ severity }) => severity === "error");
      assert.deepEqual(
        findings.map(({ rule, message }) => [rule, message]),
        [],
      );
    });

  it("counts verl's prompts as rollouts, and says so", () => {
    const { rollout, update } = body(converted("verl.sh"));
    assert.deepEqual(
      { prompts: rollout.prompts, group: rollout.group, max_tokens: rollout.max_tokens },
      { prompts: 16, group: 4, max_tokens: 32 },
    );
    assert.equal(update.mini_batch, 32);
    assert.match(
      converted("verl.sh").config,
      /verl counts prompts: ppo_mini_batch_size 8 × rollout\.n 4 = 32 rollouts/,
    );
  });

  it("counts TRL's completions, and its optimiser steps", () => {
    const result = converted("trl.yaml");
    const { rollout, update } = body(result);
    assert.deepEqual(
      {
        prompts: rollout.prompts,
        group: rollout.group,
        mini_batch: update.mini_batch,
        steps: tree(result)["steps"],
      },
      { prompts: 8, group: 4, mini_batch: 16, steps: 20 },
    );
    assert.match(
      result.config,
      /TRL counts completions: 8 a device × 1 process × 4 steps per generation = 32/,
    );
  });

  it("states the frameworks' defaults that are not written", () => {
    const verl = tree(of("python -m verl.trainer.main_ppo algorithm.adv_estimator=grpo"));
    assert.deepEqual(verl["objective"], {
      use: "clipped",
      low: 0.2,
      high: 0.2,
      dual: 3,
      clamp_log_ratio: 20,
      aggregate: "token_mean",
    });
    assert.equal(verl["rollout"]!["prompts"], 1024);
    const trl = tree(of("num_generations: 8\nuse_vllm: true\n", "grpo.yaml"));
    assert.deepEqual(trl["objective"], {
      use: "clipped",
      low: 0.2,
      high: 0.2,
      correction: [{ use: "mask", level: "sequence", low: null, high: 3 }],
      aggregate: "token_mean",
    });
    assert.deepEqual(
      { kl: trl["kl"], scale: trl["advantage"]!["scale"] },
      { kl: [], scale: { use: "group_std", epsilon: 1e-4 } },
    );
    const openrlhf = tree(of("python3 -m openrlhf.cli.train_ppo_ray --train.seed 3"));
    assert.deepEqual(openrlhf["kl"], [
      { model: "reference", estimator: { use: "k1", clamp: 10 }, place: "reward", coefficient: 0.01 },
    ]);
    assert.equal(openrlhf["seed"], 3);
  });

  it("takes the script's own arguments for no value of the last flag", () => {
    const { update, seed } = tree(
      of('python3 -m openrlhf.cli.train_ppo_ray --train.seed 3 --actor.adam.lr 2e-6 "$@"\n'),
    );
    assert.equal(seed, 3);
    assert.equal((update!["optimizer"] as Record<string, unknown>)["lr"], 2e-6);
  });
  it("takes flags of OpenRLHF by their old names and by the new ones alike", () => {
    const old =
      "--advantage_estimator group_norm --init_kl_coef 1e-3 --use_kl_loss --eps_clip 0.1 --max_len 99";
    const now =
      "--algo.advantage.estimator group_norm --algo.kl.init_coef 1e-3 --algo.kl.use_loss --actor.eps_clip 0.1 --data.max_len 99";
    const program = "python3 -m openrlhf.cli.train_ppo_ray";
    assert.equal(of(`${program} ${old}`).config, of(`${program} ${now}`).config);
    assert.equal(
      of(`ray job submit --address=x -- ${program} ${now}`).unmapped.length,
      of(`${program} ${now}`).unmapped.length,
    );
  });

  it("follows interpolations of a Hydra file", () => {
    const { rollout, update } = body(converted("verl.yaml"));
    assert.deepEqual(
      { prompts: rollout.prompts, max_tokens: rollout.max_tokens, mini_batch: update.mini_batch },
      { prompts: 16, max_tokens: 32, mini_batch: 128 },
    );
  });

  it("reads the file that a launch script builds on, and says when it is not there", () => {
    mkdirSync(join(folder, "conf"), { recursive: true });
    writeFileSync(
      join(folder, "conf", "base.yaml"),
      "actor_rollout_ref:\n  rollout: { n: 16 }\ndata: { train_batch_size: 2 }\n",
    );
    const script =
      "python -m verl.trainer.main_ppo --config-path=conf --config-name=base algorithm.adv_estimator=rloo data.train_batch_size=4";
    const found = convert(join(folder, "run.sh"), script);
    assert.deepEqual(
      { group: tree(found)["rollout"]!["group"], prompts: tree(found)["rollout"]!["prompts"] },
      { group: 16, prompts: 4 },
    );
    assert.match(reason(of(script), "--config-name") ?? "", /not found/);
  });

  it("lists every written key that has no counterpart, each with a reason", () => {
    const result = converted("verl.sh");
    assert.match(reason(result, "actor_rollout_ref.rollout.name") ?? "", /engine/);
    assert.match(reason(result, "trainer.n_gpus_per_node") ?? "", /one machine/);
    assert.match(reason(result, "$GPUS") ?? "", /does not set/);
    assert.ok(result.unmapped.every((entry) => entry.reason.length > 0));
    assert.equal(reason(result, "actor_rollout_ref.actor.clip_ratio_high"), undefined);
  });

  it("says that verl itself ignores clip_ratio next to its two sides", () => {
    const script =
      "python -m verl.trainer.main_ppo algorithm.adv_estimator=grpo actor_rollout_ref.actor.clip_ratio=0.3";
    assert.match(reason(of(script), "actor_rollout_ref.actor.clip_ratio") ?? "", /0\.2 unless written/);
    assert.equal(tree(of(script))["objective"]!["high"], 0.2);
    const nulls = `${script} actor_rollout_ref.actor.clip_ratio_low=null actor_rollout_ref.actor.clip_ratio_high=null`;
    assert.equal(tree(of(nulls))["objective"]!["high"], 0.3);
    assert.equal(reason(of(nulls), "actor_rollout_ref.actor.clip_ratio"), undefined);
  });

  it("says what replaces what is unknown", () => {
    const estimator = of("python -m verl.trainer.main_ppo algorithm.adv_estimator=mine");
    assert.match(reason(estimator, "algorithm.adv_estimator") ?? "", /is used instead/);
    const loss = of("num_generations: 8\nloss_type: mine\n", "grpo.yaml");
    assert.match(reason(loss, "loss_type") ?? "", /is used instead/);
    body(estimator);
    body(loss);
  });

  it("refuses what is no configuration of the three", () => {
    for (const [file, text] of [
      ["a.yaml", "hello: world\n"],
      ["a.sh", "ls -l\n"],
      ["a.yaml", "a: [1\n"],
      ["a.gradus.yaml", ""],
    ] as const)
      assert.throws(
        () => convert(file, text),
        (error) => error instanceof UserError && error.detail.action !== undefined,
      );
  });

  it("reads settings that are alone, on lines of their own", () => {
    const overrides = of("algorithm.adv_estimator=rloo\nactor_rollout_ref.rollout.n=6\n", "overrides.txt");
    assert.deepEqual(
      { framework: overrides.framework, group: tree(overrides)["rollout"]!["group"] },
      { framework: "verl", group: 6 },
    );
    const flags = of("--algo.advantage.estimator rloo\n--rollout.n_samples_per_prompt 6\n", "flags.txt");
    assert.deepEqual(
      { framework: flags.framework, group: tree(flags)["rollout"]!["group"] },
      { framework: "openrlhf", group: 6 },
    );
  });

  it("is chosen by --from where the keys do not say whose it is", () => {
    assert.equal(of("learning_rate: 1e-5\n", "x.yaml", "trl").framework, "trl");
    assert.equal(of("optim.lr=1", "x.sh", "verl").framework, "verl");
  });
});

describe("TRL's preference pairs", () => {
  const converted = (text: string): ReturnType<typeof convert> => convert("dpo.yaml", text);
  it("several losses are side by side, each with its weight", () => {
    const { config } = converted("loss_type: [sigmoid, bco_pair, sft]\nloss_weights: [0.8, 0.2, 1.0]\n");
    assert.match(config, /use: dpo\n {2}beta: 0\.1\n {2}factor: 0\.8/);
    assert.match(config, /use: bco, beta: 0\.1, factor: 0\.2/);
    assert.match(config, /use: filtered_likelihood, keep: best, factor: 1/);
  });
  it("says what has no counterpart", () => {
    const { unmapped } = converted(
      "loss_type: sigmoid\nld_alpha: 0.5\nuse_weighting: true\ndataset_name: pairs\n",
    );
    for (const key of ["ld_alpha", "use_weighting", "dataset_name", "reward_funcs"])
      assert.ok(
        unmapped.some((one) => one.key === key),
        key,
      );
  });
  it("counts pairs", () => {
    const { config } = converted(
      "loss_type: ipo\nper_device_train_batch_size: 4\ngradient_accumulation_steps: 2\n",
    );
    assert.match(config, /prompts: 8, group: 2/);
    assert.match(config, /mini_batch: 16/);
  });
  it("GRPO's own losses stay GRPO's", () => {
    assert.match(convert("grpo.yaml", "loss_type: dapo\nnum_generations: 4\n").config, /use: clipped/);
  });
});

describe("PPO's critic", () => {
  const learner = { use: "learner", model: "critic", rollouts: "step", each: "token" };
  it("of verl has its own path, optimiser, clip and mini-batches; what it leaves open is the actor's", () => {
    const flags =
      "algorithm.adv_estimator=gae algorithm.lam=0.9 data.train_batch_size=64 actor_rollout_ref.rollout.n=2 actor_rollout_ref.actor.ppo_mini_batch_size=32 actor_rollout_ref.model.path=/m/actor";
    const { models, advantage, auxiliary } = tree(
      of(
        `python3 -m verl.trainer.main_ppo ${flags} critic.optim.lr=2e-5 critic.cliprange_value=0.4 critic.ppo_epochs=3\n`,
      ),
    );
    assert.deepEqual(advantage!["baseline"], { use: "critic", model: "critic", lambda: 0.9 });
    assert.deepEqual(models!["critic"], {
      base: "/m/actor",
      value_heads: ["value"],
      trains: true,
      optimizer: { use: "adamw", lr: 2e-5, betas: [0.9, 0.999], weight_decay: 0.01, clip_norm: 1 },
    });
    const objective = { use: "value_clipped", clip: 0.4 };
    assert.deepEqual(auxiliary, [{ ...learner, objective, rows: 64, updates: 3 }]);
  });
  it("of OpenRLHF begins as the reward model where it is not named", () => {
    const flags =
      "--actor.model_name_or_path /m/actor --reward.model_name_or_path /m/judge --train.batch_size 16";
    const { models, auxiliary } = tree(
      of(`python3 -m openrlhf.cli.train_ppo_ray ${flags} --algo.advantage.estimator gae\n`),
    );
    assert.equal((models!["critic"] as Record<string, unknown>)["base"], "/m/judge");
    const objective = { use: "value_clipped", clip: 0.5 };
    assert.deepEqual(auxiliary, [{ ...learner, objective, rows: 16, updates: 1 }]);
  });
  it("of OpenRLHF warms up by its own ratio of all updates; a rate that falls is lost", () => {
    const flags =
      "--actor.model_name_or_path /m/actor --train.agent_func_path agent.py --data.max_samples 100 --rollout.n_samples_per_prompt 3 --train.batch_size 16 --train.max_epochs 2";
    const critic = (more: string) =>
      of(`python3 -m openrlhf.cli.train_ppo_ray ${flags} --algo.advantage.estimator gae ${more}\n`);
    // ⌊100 · 3 / 16⌋ updates in each of 2 rounds.
    const steady = critic("--critic.lr_scheduler constant_with_warmup --critic.lr_warmup_ratio 0.1");
    const { optimizer } = tree(steady).models!["critic"] as { optimizer: Record<string, unknown> };
    assert.equal(optimizer["warmup"], 4);
    assert.equal(reason(steady, "critic.lr_scheduler"), undefined);
    assert.match(reason(critic(""), "critic.lr_scheduler") ?? "", /stays constant/);
  });
  it("of OpenRLHF learns from rewards that no range bounds, unless it is a narrower one than the usual", () => {
    const range = (words: string) =>
      reason(
        of(
          `python3 -m openrlhf.cli.train_ppo_ray --algo.advantage.estimator gae --reward.clip_range ${words}\n`,
        ),
        "reward.clip_range",
      );
    assert.equal(range("-1000000000 1000000000"), undefined);
    assert.match(range("-1 1") ?? "", /does not bound the reward/);
  });
});

describe("what is read", () => {
  it("is GRPOConfig(…) of a Python script, too; what only the running script knows is lost", () => {
    const result = of(
      "from trl import GRPOConfig\nargs = GRPOConfig(learning_rate=2e-6, num_generations=4, beta=pick())\n",
      "train.py",
    );
    assert.equal(tree(result)["rollout"]!["group"], 4);
    assert.equal(reason(result, "beta"), "computed while the script runs");
  });
  it("is what the editor reads: a launcher's processes, flags with dashes, commands inside of others", () => {
    const flags = "--per-device-train-batch-size 8 --num-generations 8 --model_name_or_path m";
    const trl = of(`accelerate launch --num_processes 4 -m trl.scripts.grpo ${flags}\n`);
    assert.match(trl.config, /8 a device × 4 processes × 1 step per generation = 32/);
    assert.equal(tree(trl)["rollout"]!["group"], 8);
    const verl =
      "python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo actor_rollout_ref.rollout.n=6";
    assert.equal(tree(of(`srun bash -c "${verl}"\n`))["rollout"]!["group"], 6);
  });
  it("keeps what the script knows of a value, and names the variable that nothing sets", () => {
    const result = of(
      "DATA=$ROOT/gsm8k\npython3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo data.train_files=$DATA/train.jsonl\n",
    );
    assert.match(result.config, /dataset: \$ROOT\/gsm8k\/train\.jsonl/);
    assert.match(reason(result, "$ROOT") ?? "", /does not set/);
  });
  it("is no config of Gradus, whose keys are OpenRLHF's in part", () => {
    assert.throws(
      () => of("seed: 1\ntasks: [{ dataset: a.jsonl }]\nrollout: { group: 4, max_tokens: 8 }\n", "a.yaml"),
      /not a configuration of verl/,
    );
  });
  it("is no supervised trainer: that would come out as something else", () => {
    for (const [file, text, tree] of [
      ["run.sh", "torchrun -m verl.trainer.sft_trainer optim.lr=1e-5\n", "sft_trainer_engine"],
      ["run.sh", "deepspeed --module openrlhf.cli.train_sft --actor.adam.lr 1e-5\n", "train_sft"],
      ["sft.yaml", "model_name_or_path: m\npacking: true\nlearning_rate: 1e-5\n", "sft"],
      ["train.py", "from trl import SFTConfig\nSFTConfig(packing=True)\n", "sft"],
    ] as const)
      assert.throws(
        () => of(text, file),
        (error) => error instanceof UserError && error.message.includes(tree),
        file,
      );
  });
});
