/** Spellings of one setting that the frameworks take alike. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { convert, type Converted } from "../../../../server/frameworks/trainers/convert.ts";

const of = (text: string, file = "run.sh"): Converted => convert(file, text);
const tree = ({ config }: Converted): Record<string, Record<string, unknown>> => parse(config);
const reason = ({ unmapped }: Converted, key: string): string | undefined =>
  unmapped.find((entry) => entry.key === key)?.reason;

describe("spellings that the frameworks take", () => {
  const verl = "python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo";
  it("Transformers' flags may have dashes, and a switch its `no_`", () => {
    const result = of(
      "trl grpo --num-generations=4 --learning-rate 1e-5 --use_vllm --no-vllm_importance_sampling_correction --no_remove_unused_columns --per-device-train-batch-size 8\n",
    );
    const { rollout, objective } = tree(result);
    assert.deepEqual({ group: rollout!["group"], prompts: rollout!["prompts"] }, { group: 4, prompts: 2 });
    assert.equal(objective!["correction"], undefined);
    assert.match(reason(result, "remove_unused_columns") ?? "", /reads data/);
  });
  it("TRL's repetition penalty is the sampler's, and a gradient norm of 0 does not clip", () => {
    const flags =
      "trl grpo --num_generations 4 --repetition_penalty 1.1 --max_grad_norm 0 --per_device_train_batch_size 8\n";
    const { rollout, update } = tree(of(flags));
    assert.equal(rollout!["repetition_penalty"], 1.1);
    assert.deepEqual((update!["optimizer"] as Record<string, unknown>)["clip_norm"], null);
  });
  it("processes are counted by accelerate, or by torchrun on each node", () => {
    const flags = "train_grpo.py --num_generations 4 --per_device_train_batch_size 2 --loss_type grpo";
    assert.equal(tree(of(`accelerate launch --num_processes 6 ${flags}\n`))["rollout"]!["prompts"], 3);
    const torchrun = of(`torchrun --nnodes 2 --nproc_per_node=4 ${flags}\n`);
    assert.equal(tree(torchrun)["rollout"]!["prompts"], 4);
    assert.match(torchrun.config, /8 processes/);
  });
  it("a remote reward model of OpenRLHF is a reward server, or several", () => {
    const terms = (flag: string): unknown =>
      tree(of(`python3 -m openrlhf.cli.train_ppo_ray ${flag}\n`))["reward"]!["terms"];
    const [one, other] = ["http://rm-0:5000/get_reward", "http://rm-1:5000/get_reward"];
    assert.deepEqual(terms(`--remote_rm_url ${one}`), { score: { use: "remote_rm", url: one } });
    assert.deepEqual(terms(`--reward.remote_url ${one},${other}`), {
      score: { use: "remote_rm", url: [one, other] },
    });
  });
  it("a least learning rate is in a map of the file, on the command line, or as itself", () => {
    const shape = (text: string, file = "grpo.yaml"): unknown =>
      (tree(of(text, file))["update"]!["optimizer"] as Record<string, unknown>)["schedule"];
    const kind = "num_generations: 8\nlearning_rate: 2.0e-5\nlr_scheduler_type: cosine_with_min_lr\n";
    assert.deepEqual(shape(`${kind}lr_scheduler_kwargs:\n  min_lr_rate: 0.1\n`), {
      shape: "cosine",
      floor: 0.1,
    });
    assert.deepEqual(shape(`${kind}lr_scheduler_kwargs: { min_lr: 1.0e-5 }\n`), {
      shape: "cosine",
      floor: 0.5,
    });
    const flags = "--lr_scheduler_type cosine_with_min_lr --lr_scheduler_kwargs '{\"min_lr_rate\": 0.2}'";
    assert.deepEqual(shape(`trl grpo --num_generations 8 ${flags}\n`, "run.sh"), {
      shape: "cosine",
      floor: 0.2,
    });
  });
  it("a constant learning rate of Transformers warms up only where its name says so", () => {
    const warmup = (text: string, file: string): unknown =>
      (tree(of(text, file))["update"]!["optimizer"] as Record<string, unknown>)["warmup"];
    const trl = "num_generations: 8\nmax_steps: 100\nwarmup_steps: 10\nlr_scheduler_type:";
    assert.deepEqual(
      ["constant", "constant_with_warmup"].map((kind) => warmup(`${trl} ${kind}\n`, "grpo.yaml")),
      [undefined, 10],
    );
    const openrlhf =
      "python3 -m openrlhf.cli.train_ppo_ray --data.max_samples 1280 --actor.lr_warmup_ratio 0.5 --actor.lr_scheduler";
    assert.deepEqual(
      ["constant", "constant_with_warmup"].map((kind) => warmup(`${openrlhf} ${kind}\n`, "run.sh")),
      [undefined, 5],
    );
    assert.match(reason(of(`${openrlhf} polynomial\n`), "actor.lr_scheduler") ?? "", /stays constant/);
  });
  it("Hydra groups digits, follows references, and deletes with ~", (context) => {
    const { rollout } = tree(
      of(
        `${verl} data.max_response_length=1_024 data.train_batch_size=4 'actor_rollout_ref.rollout.n=\${data.train_batch_size}'\n`,
      ),
    );
    assert.deepEqual(
      { max_tokens: rollout!["max_tokens"], group: rollout!["group"] },
      { max_tokens: 1024, group: 4 },
    );
    const folder = mkdtempSync(join(tmpdir(), "gradus-convert-"));
    context.after(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, "based.yaml"), "actor_rollout_ref: { actor: { clip_ratio_high: 0.4 } }\n");
    const high = (more: string): unknown =>
      tree(convert(join(folder, "run.sh"), `${verl} --config-name=based${more}\n`))["objective"]!["high"];
    assert.deepEqual([high(""), high(" ~actor_rollout_ref.actor.clip_ratio_high")], [0.4, 0.2]);
  });
  it("truncated importance weights of earlier releases of verl are those of this one", () => {
    const correction = (more: string): unknown => tree(of(`${verl} ${more}\n`))["objective"]!["correction"];
    const now = (level: string): unknown =>
      correction(
        `algorithm.rollout_correction.rollout_is=${level} algorithm.rollout_correction.rollout_is_threshold=3`,
      );
    assert.deepEqual(correction("+actor_rollout_ref.actor.tis_imp_ratio_cap=3"), now("token"));
    const switched = "algorithm.rollout_is=True algorithm.rollout_is_threshold=3.0";
    assert.deepEqual(correction(switched), now("token"));
    assert.deepEqual(correction(`${switched} algorithm.rollout_is_level=sequence`), now("sequence"));
    const geometric = of(`${verl} ${switched} algorithm.rollout_is_level=geometric\n`);
    assert.match(reason(geometric, "algorithm.rollout_is") ?? "", /earlier release/);
  });
  it("a critic of verl aggregates as its actor does, unless set otherwise", () => {
    const each = (more: string): unknown =>
      (
        tree(of(`python3 -m verl.trainer.main_ppo algorithm.adv_estimator=gae ${more}\n`))[
          "auxiliary"
        ] as unknown as Record<string, unknown>[]
      )[0]!["each"];
    const rows = "actor_rollout_ref.actor.loss_agg_mode=seq-mean-token-mean";
    assert.deepEqual(
      [each(""), each(rows), each(`${rows} critic.loss_agg_mode=token-mean`)],
      ["token", "rollout", "token"],
    );
  });
});
