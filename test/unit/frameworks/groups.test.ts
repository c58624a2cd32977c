/** Config groups of verl's Hydra tree, and sections that are given one value. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { briefly, check } from "./support.ts";

const start =
  "python3 -m verl.trainer.main_ppo data.train_files=a.parquet actor_rollout_ref.rollout.name=vllm";
const heard = (...overrides: readonly string[]): string[] =>
  briefly("run.sh", `${start} ${overrides.join(" ")}\n`);

describe("config groups of verl", () => {
  it("take the files that lie in their folder", () => {
    for (const choice of [
      "actor@actor_rollout_ref.actor=megatron_actor",
      "model_engine=veomni",
      "critic=dp_critic",
    ])
      assert.deepEqual(heard(choice), []);
    assert.deepEqual(heard("actor@actor_rollout_ref.actor=zero_actor"), ["error foreign-value: zero_actor"]);
    assert.deepEqual(heard("model_engine=deepspeed"), ["error foreign-value: deepspeed"]);
    assert.deepEqual(heard("algorithm@algorithm.rollout_correction=x"), ["error foreign-value: x"]);
    assert.deepEqual(heard("critic=no_critic"), ["error foreign-value: no_critic"]);
  });
  it("have the names that the defaults give them", () => {
    assert.deepEqual(heard("actor_rollout_ref/model=hf_model"), [
      "error foreign-unknown-key: actor_rollout_ref/model",
    ]);
    assert.deepEqual(heard("algorithm@algorithm=ppo"), ["error foreign-unknown-key: algorithm@algorithm"]);
    assert.match(
      check("run.sh", `${start} actor@actor_rollout_ref.acto=dp_actor\n`)[0]?.message ?? "",
      /Did you mean `actor@actor_rollout_ref\.actor`/,
    );
  });
  it("may lie in folders of somebody's own", () => {
    for (const more of ["hydra.searchpath=[file://conf]", "--config-dir=conf", "--config-path=conf"])
      assert.deepEqual(
        heard("mine@actor_rollout_ref.actor=x", more).filter((line) => line.startsWith("error")),
        [],
      );
    assert.deepEqual(heard("+mine@actor_rollout_ref.actor=x"), []);
  });
});

describe("a section", () => {
  it("has keys, and no value of its own", () => {
    assert.deepEqual(heard("actor_rollout_ref.actor.optim=adam"), [
      "error foreign-type: actor_rollout_ref.actor.optim",
    ]);
    assert.deepEqual(heard("actor_rollout_ref.actor.optim.lr=1e-6"), []);
    assert.deepEqual(heard("'data.custom_cls={path: null, name: null}'"), []);
  });
});
