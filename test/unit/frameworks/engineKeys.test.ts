/** Settings of an engine that the launch does not choose: one diagnostic, wherever they are. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { check, mended, textAt } from "./support.ts";

const actor = "actor_rollout_ref.actor";
const launch = (...more: string[]): string =>
  ["python3 -m verl.trainer.main_ppo actor_rollout_ref.rollout.name=vllm", ...more].join(" \\\n  ") + "\n";
const keys = [`${actor}.megatron.param_offload=True`, "actor_rollout_ref.ref.megatron.param_offload=True"];
const added = `+${actor}.megatron.override_transformer_config.apply_rope_fusion=True`;

describe("keys of an engine that is not chosen", () => {
  it("are one diagnostic, with all their places and the word that is missing", () => {
    const text = launch(...keys, added);
    const [found, ...others] = check("run.sh", text);
    assert.deepEqual(others, []);
    assert.equal(found?.rule, "foreign-unknown-key");
    assert.match(found.message, /refuses all 3 keys\. `model_engine=megatron` chooses it/);
    assert.equal(textAt(text, found.range), `${actor}.megatron.param_offload`);
    assert.equal(found.related?.length, 2);
    assert.deepEqual(check("run.sh", mended("run.sh", text)), []);
  });

  it("are laid to a group that was written as a key of the actor", () => {
    const text = launch(`${actor}.model_engine=megatron`, ...keys);
    const [found, ...others] = check("run.sh", text);
    assert.deepEqual(others, []);
    assert.equal(textAt(text, found!.range), `${actor}.model_engine`);
    assert.deepEqual(check("run.sh", mended("run.sh", text)), []);
  });

  it("are checked one by one where the engine is chosen, and where no engine has them", () => {
    assert.deepEqual(check("run.sh", launch("model_engine=megatron", ...keys, added)), []);
    const other = check("run.sh", launch(`${actor}.megatrom.param_offload=True`));
    assert.equal(other.length, 1);
    assert.doesNotMatch(other[0]!.message, /belongs to the tree/);
  });
});

describe("a key that is a section too deep", () => {
  it("is looked for in the sections above", () => {
    const [found] = check("run.sh", launch(`+${actor}.policy_loss.tau_pos=1.0`));
    assert.match(found?.message ?? "", /Did you mean `actor_rollout_ref\.actor\.tau_pos`\?/);
  });
});
