/** Commands that end before their settings do. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { check, mended, textAt } from "./support.ts";

const head = "python3 -m verl.trainer.main_ppo \\\n  algorithm.adv_estimator=grpo";
const rest = "  actor_rollout_ref.rollout.name=vllm \\\n  actor_rollout_ref.rollout.n=8\n";
/** What is between, and what is marked of it. */
const cuts: readonly (readonly [string, string, string])[] = [
  ["a backslash that was forgotten", "\n", "o"],
  ["a blank behind the backslash", " \\ \n", "\\ "],
  ["a comment behind the backslash", " \\  # of DeepSeekMath\n", "\\  # of DeepSeekMath"],
  ["a comment among continued lines", " \\\n  # one engine\n", "# one engine"],
  ["an empty line among continued ones", " \\\n\n", ""],
];

describe("a launch that is cut off", () => {
  for (const [name, between, marked] of cuts)
    it(`by ${name}`, () => {
      const text = `${head}${between}${rest}`;
      const [found, ...others] = check("run.sh", text);
      assert.deepEqual(others, []);
      assert.equal(found?.rule, "foreign-cut-launch");
      assert.equal(textAt(text, found.range), marked);
      assert.match(found.message, /The 2 settings from `actor_rollout_ref\.rollout\.name` on are not passed/);
      const whole = mended("run.sh", text);
      assert.deepEqual(check("run.sh", whole), []);
      assert.match(whole, /rollout\.n=8/);
    });

  it("by Windows' line ends, said once and at the first backslash", () => {
    const text = `${head} \\\n${rest}`.replaceAll("\n", "\r\n");
    const [found, ...others] = check("run it.sh", text);
    assert.deepEqual(others, []);
    assert.deepEqual([found?.rule, found?.range.start], ["foreign-cut-launch", { line: 0, character: 33 }]);
    assert.match(
      found?.message ?? "",
      /carriage return .* The 3 settings from `algorithm\.adv_estimator` on/,
    );
    assert.match(found?.message ?? "", /perl -pi -e 's\/\\r\$\/\/' 'run it\.sh'/);
    assert.deepEqual(found?.fixes, []);
    const whole = "python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo\r\necho done # \\\r\n";
    assert.ok(!check("run.sh", whole).some(({ rule }) => rule === "foreign-cut-launch"), "nothing is cut");
  });

  it("is not one that ends, and is followed by something else", () => {
    assert.deepEqual(check("run.sh", `${head} \\\n${rest}`), []);
    assert.deepEqual(check("run.sh", `${head} \\\n${rest}\necho done\npython3 merge.py --steps 3\n`), []);
    assert.deepEqual(check("run.sh", `ARGS="\n  trainer.nnodes=1\n"\n${head} \\\n${rest}`), []);
  });
});
