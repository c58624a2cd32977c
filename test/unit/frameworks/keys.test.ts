/** Keys and values, judged by the release's table. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { briefly, check, mended } from "./support.ts";

const verl = (overrides: string): string => `python3 -m verl.trainer.main_ppo ${overrides}\n`;
const openrlhf = (flags: string): string => `python3 -m openrlhf.cli.train_ppo_ray ${flags}\n`;
const head = "defaults: [ppo_trainer, _self_]\n";

describe("keys of verl", () => {
  it("Hydra refuses unknown ones, with the nearest and a fix", () => {
    const text = verl("data.train_batch_sise=8");
    assert.deepEqual(briefly("x.sh", text), ["error foreign-unknown-key: data.train_batch_sise"]);
    assert.match(check("x.sh", text)[0]?.message ?? "", /Did you mean `data\.train_batch_size`\?/);
    assert.equal(mended("x.sh", text), verl("data.train_batch_size=8"));
    assert.deepEqual(briefly("x.sh", verl("data.train_batch_size=8")), []);
  });

  it("of a letter or two have a nearest as well, and another letter is another key", () => {
    const meant = (key: string): string | undefined =>
      /Did you mean `(.*)`/.exec(check("x.sh", verl(`${key}=8`))[0]?.message ?? "")?.[1];
    assert.equal(meant("actor_rollout_ref.rollout.nn"), "actor_rollout_ref.rollout.n");
    assert.equal(meant("actor_rollout_ref.actor.optim.lrr"), "actor_rollout_ref.actor.optim.lr");
    assert.equal(meant("actor_rollout_ref.actor.optim.rl"), "actor_rollout_ref.actor.optim.lr");
    assert.equal(
      meant("actor_rollout_ref.rf.log_prob_micro_batch_size"),
      "actor_rollout_ref.ref.log_prob_micro_batch_size",
    );
    assert.equal(meant("algorithm.la"), "algorithm.lam");
    assert.equal(meant("actor_rollout_ref.rollout.k"), undefined);
    assert.equal(
      mended("x.sh", verl("actor_rollout_ref.rollout.nn=8")),
      verl("actor_rollout_ref.rollout.n=8"),
    );
    // Accepted with a `+`, and nobody's slip.
    assert.deepEqual(briefly("x.sh", verl("+actor_rollout_ref.rollout.custom.k=3 +trainer.id=1")), []);
    const flag = check("x.sh", openrlhf("--algo.advantage.lambda 0.9"))[0]?.message ?? "";
    assert.match(flag, /Did you mean `algo\.advantage\.lambd`/);
    const keyword = "from trl import GRPOConfig\nGRPOConfig(bet=0.1)\n";
    assert.match(check("x.py", keyword)[0]?.message ?? "", /Did you mean `beta`/);
  });

  it("Hydra refuses `+` before what is there, and takes it before null, maps and lists", () => {
    const text = verl("+trainer.nnodes=2");
    assert.deepEqual(briefly("x.sh", text), ["error foreign-added-key: trainer.nnodes"]);
    assert.equal(mended("x.sh", text), verl("trainer.nnodes=2"));
    assert.deepEqual(
      briefly("x.sh", verl("+data.val_batch_size=4 +trainer.logger='[console]' ++trainer.nnodes=2")),
      [],
    );
  });

  it("Hydra refuses what is not in the tree without `+`: below maps of anything, and fields of classes", () => {
    const text = verl("actor_rollout_ref.model.override_config.attn_implementation=eager");
    assert.deepEqual(briefly("x.sh", text), [
      "error foreign-added-key: actor_rollout_ref.model.override_config.attn_implementation",
    ]);
    assert.deepEqual(briefly("x.sh", mended("x.sh", text)), []);
  });

  it("a `+` slip is accepted and never read, or refused by the class that the section becomes", () => {
    const slip = verl("+data.train_batch_sizes=8");
    assert.deepEqual(briefly("x.sh", slip), ["warning foreign-unknown-key: data.train_batch_sizes"]);
    assert.equal(mended("x.sh", slip), verl("data.train_batch_size=8"));
    assert.deepEqual(briefly("x.sh", verl("+actor_rollout_ref.actor.clip_ratoi=0.1")), [
      "error foreign-unknown-key: actor_rollout_ref.actor.clip_ratoi",
    ]);
    // Nothing near: somebody's own code may read it.
    assert.deepEqual(briefly("x.sh", verl("+trainer.my_own_switch=1 +mine.key=2")), []);
  });

  it("that moved say since when and where to, and are renamed", () => {
    const text = verl("critic.model.fsdp_config.param_offload=True");
    assert.deepEqual(briefly("x.sh", text), [
      "error foreign-moved-key: critic.model.fsdp_config.param_offload",
    ]);
    assert.match(check("x.sh", text)[0]?.message ?? "", /since verl 0\.8\.0/);
    assert.equal(mended("x.sh", text), verl("critic.fsdp.param_offload=True"));
    assert.deepEqual(briefly("x.sh", `# verl 0.7.1\n${text}`), []);
    assert.deepEqual(briefly("x.sh", verl("data.sampler.class_name=X")), [
      "error foreign-moved-key: data.sampler.class_name",
    ]);
  });

  it("are not checked where other files or programs add to the tree", () => {
    assert.deepEqual(
      briefly("x.sh", "python3 -m recipe.x.main_x algorithm.mine=1 actor_rollout_ref.rollout.n=2\n"),
      [],
    );
    assert.deepEqual(briefly("x.sh", verl("--config-name=mine data.mine=1")), []);
  });

  it("in YAML are warned of where nothing reads them", () => {
    const text = `${head}data:\n  train_batch_sise: 8\n`.replace(
      "data",
      "actor_rollout_ref: {rollout: {n: 2}}\ndata",
    );
    assert.deepEqual(briefly("x.yaml", text), ["warning foreign-unknown-key: train_batch_sise"]);
    assert.match(mended("x.yaml", text), /\n {2}train_batch_size: 8\n/);
    assert.deepEqual(briefly("x.yaml", `${head}actor_rollout_ref:\n  rollout:\n    nn: 8\n`), [
      "error foreign-unknown-key: nn",
    ]);
  });
});

describe("values", () => {
  it("have the type of their key", () => {
    assert.deepEqual(
      briefly("x.sh", verl("data.train_batch_size=many algorithm.gamma=high trainer.nnodes=1.5")),
      ["error foreign-type: many", "error foreign-type: high", "error foreign-type: 1.5"],
    );
    assert.deepEqual(briefly("x.sh", openrlhf("--train.batch_size 1e3 --actor.adam.lr 1e-6")), [
      "error foreign-type: 1e3",
    ]);
    assert.deepEqual(briefly("x.py", 'GRPOConfig(num_generations="8", bf16=True, beta=0)'), [
      'error foreign-type: "8"',
    ]);
    assert.deepEqual(briefly("x.yaml", 'num_generations: "8"\nlearning_rate: 1e-6\nbeta: "0.1"\n'), []);
  });

  it("are among those allowed, by release", () => {
    const text = verl("algorithm.adv_estimator=grop");
    assert.deepEqual(briefly("x.sh", text), ["error foreign-value: grop"]);
    assert.equal(mended("x.sh", text), verl("algorithm.adv_estimator=grpo"));
    assert.deepEqual(
      briefly("x.sh", `# verl 0.6.1\n${verl("actor_rollout_ref.actor.policy_loss.loss_mode=cispo")}`),
      ["error foreign-value: cispo"],
    );
    assert.deepEqual(briefly("x.yaml", "num_generations: 8\nloss_type: dappo\nscale_rewards: false\n"), [
      "error foreign-value: dappo",
    ]);
    assert.deepEqual(briefly("x.sh", openrlhf("--algo.advantage.estimator grpo")), [
      "error foreign-value: grpo",
    ]);
  });

  it("are fixed where they are: where the variable is set", () => {
    const text = `ADV=grop\n${verl("algorithm.adv_estimator=$ADV")}`;
    assert.equal(mended("x.sh", text), `ADV=grpo\n${verl("algorithm.adv_estimator=$ADV")}`);
  });

  it("may be a plug-in's, where one is named", () => {
    const text = `export VERL_USE_EXTERNAL_MODULES=mine\n${verl("algorithm.adv_estimator=mine")}`;
    assert.deepEqual(briefly("x.sh", text), []);
  });
});

describe("keys of TRL and OpenRLHF", () => {
  it("are refused where they are unknown", () => {
    const text = "num_generation: 8\nreward_funcs: [a.b]\nlearning_rate: 1e-6\n";
    assert.deepEqual(briefly("x.yaml", text), ["error foreign-unknown-key: num_generation"]);
    assert.match(mended("x.yaml", text), /^num_generations: 8\n/);
    assert.deepEqual(briefly("x.py", "GRPOConfig(num_generation=8)"), [
      "error foreign-unknown-key: num_generation",
    ]);
    assert.deepEqual(briefly("x.py", "GRPOConfig(model_name_or_path='x')"), [
      "error foreign-unknown-key: model_name_or_path",
    ]);
    assert.deepEqual(briefly("x.sh", openrlhf("--train.batch_sise 8")), [
      "error foreign-unknown-key: train.batch_sise",
    ]);
    assert.deepEqual(briefly("x.sh", "trl grpo --num-generations 8 --max-completion 9 --beta 0\n"), []);
  });

  it("moved with a release", () => {
    assert.deepEqual(briefly("x.yaml", "num_generations: 8\nmax_prompt_length: 4\nbeta: 0\n"), [
      "error foreign-moved-key: max_prompt_length",
    ]);
    assert.deepEqual(
      briefly("x.yaml", "# trl==0.25.1\nnum_generations: 8\nmax_prompt_length: 4\nbeta: 0\n"),
      [],
    );
    const text = openrlhf("--pretrain x");
    assert.equal(mended("x.sh", text), openrlhf("--actor.model_name_or_path x"));
    assert.deepEqual(briefly("x.sh", `# OpenRLHF 0.9.4\n${text}`), []);
    assert.deepEqual(briefly("x.sh", `# OpenRLHF 0.9.4\n${openrlhf("--ckpt.path x --pretrain y")}`), [
      "error foreign-moved-key: ckpt.path",
    ]);
  });

  it("are only warned of where Transformers decides, whose release is not known", () => {
    assert.deepEqual(briefly("x.yaml", "num_generations: 8\noverwrite_output_dir: true\nbeta: 0\n"), [
      "warning foreign-moved-key: overwrite_output_dir",
    ]);
  });

  it("may be a script's own", () => {
    assert.deepEqual(briefly("x.yaml", "num_generations: 8\nmy_prompt: x\nreward_weights: [1]\nbeta: 0\n"), [
      "warning foreign-unknown-key: my_prompt",
    ]);
    assert.deepEqual(
      briefly(
        "x.sh",
        "accelerate launch train_grpo.py --num_generations 8 --mine 1 --reward_weights 1 --beta 0\n",
      ),
      [],
    );
  });
});

describe("settings that are written twice", () => {
  it("are never used but for the last, or refused", () => {
    const text = verl("trainer.nnodes=1 trainer.nnodes=2");
    assert.deepEqual(
      check("x.sh", text).map(({ severity, message, range }) => [severity, message, range.start.character]),
      [["warning", "`trainer.nnodes` is set again on line 1, to `2`: this value is never used.", 33]],
    );
    assert.deepEqual(briefly("x.yaml", `${head}actor_rollout_ref:\n  rollout:\n    n: 8\n    n: 4\n`), [
      "error foreign-duplicate: n",
    ]);
    const merged = `${head}base: &b {n: 8}\nactor_rollout_ref:\n  rollout:\n    <<: *b\n    n: 4\n`;
    assert.deepEqual(briefly("x.yaml", merged), []);
  });
});

describe("variables", () => {
  it("that nothing sets are reported, and slips fixed", () => {
    assert.deepEqual(briefly("x.sh", verl("trainer.nnodes=$NODES")), ["info foreign-unset-variable: $NODES"]);
    const text = `TRAIN_BATCH=8\n${verl("data.train_batch_size=$TRAIN_BTACH")}`;
    assert.deepEqual(briefly("x.sh", text), ["warning foreign-unset-variable: $TRAIN_BTACH"]);
    assert.match(mended("x.sh", text), /=\$\{TRAIN_BATCH\}\n$/);
  });
});
