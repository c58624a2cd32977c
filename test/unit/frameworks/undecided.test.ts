/** Branches of a script whose tests ask the machine: what is in them is not taken for unset. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkFrameworkDocument, DocumentModel } from "../../../server/frameworks/check/index.ts";
import { briefly, read } from "./support.ts";

const launch = (branches: string): string => `DEVICE=\${DEVICE:-$(which nvidia-smi && echo gpu || echo npu)}
EXTRA=(trainer.logger=console)
${branches}
python3 -m verl.trainer.main_ppo actor_rollout_ref.rollout.name=vllm \\
  actor_rollout_ref.rollout.tensor_model_parallel_size=8 \\
  actor_rollout_ref.rollout.expert_parallel_size=64 "\${EXTRA[@]}"
`;
const inBranch = `if [ "$DEVICE" = npu ]; then
  EXTRA+=(actor_rollout_ref.rollout.data_parallel_size=8)
fi`;
const rules = (text: string): string[] =>
  checkFrameworkDocument(read("run.sh", text)).map(({ rule }) => rule);

describe("a branch that a command decides", () => {
  it("leaves what it sets unknown", () => {
    const key = "actor_rollout_ref.rollout.data_parallel_size";
    assert.equal(new DocumentModel(read("run.sh", launch(inBranch))).value(key), undefined);
    assert.equal(new DocumentModel(read("run.sh", launch(""))).value(key), 1);
  });

  it("is no reason for an alarm, and none for silence about the rest", () => {
    assert.ok(!rules(launch(inBranch)).includes("verl-expert-parallel"));
    assert.ok(rules(launch("")).includes("verl-expert-parallel"));
    const decided = inBranch.replace('"$DEVICE"', "gpu");
    assert.ok(rules(launch(decided)).includes("verl-expert-parallel"));
  });

  it("sets variables, in a `case` too", () => {
    const text = (word: string): string => `case "${word}" in
  gpu) TP=2 ;;
  npu) TP=4 ;;
esac
python3 -m verl.trainer.main_ppo actor_rollout_ref.rollout.name=vllm \\
  actor_rollout_ref.rollout.tensor_model_parallel_size=$TP trainer.project_name=$PWD trainer.experiment_name=$WHO
`;
    assert.deepEqual(unset(text("$(uname)")), ["info foreign-unset-variable: $WHO"]);
    assert.deepEqual(unset(text("tpu")), [
      "info foreign-unset-variable: $TP",
      "info foreign-unset-variable: $WHO",
    ]);
  });
});

const unset = (text: string): string[] =>
  briefly("run.sh", text).filter((line) => line.includes("foreign-unset-variable"));
