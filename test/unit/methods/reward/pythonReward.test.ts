/** A Python reward: what its function is given in each convention, and what becomes of what it returns. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { pythonTerm, responses, scoring, told, using, withoutPython } from "../../../support/pythonReward.ts";
import { temporary } from "../../support.ts";

const skip = withoutPython;

describe("a Python reward is called by", { skip }, () => {
  test("the names of Gradus, with arguments as keywords, printing without harm", async () => {
    const text = `import json, os, sys
def compute_score(response, task, index, length, step, prompt, bonus, scale=2):
    print("noise", flush=True); print("{}", file=sys.stderr)
    assert __name__ != "__main__" and os.path.basename(__file__) == "reward.py" and prompt == "p"
    return len(response) + 10 * index + 100 * length + 1000 * task["data"]["target"] + 10_000 * bonus * scale + step / 8
`;
    assert.deepEqual(await told(text, ["ab", "abcd"], { args: { bonus: 1 } }), [25_203.5, 25_215.5]);
  });

  test("verl's names as its files have them, whichever of them the function takes", async () => {
    const whole = `def compute_score(data_source, solution_str, ground_truth, extra_info=None, **kwargs):
    assert sorted(kwargs) == ["weight"], kwargs
    return {"score": float(solution_str == ground_truth), "acc": solution_str == ground_truth, "source": data_source, "index": extra_info["index"] * kwargs["weight"], "bad": float("nan")}
`;
    const data = {
      data_source: "openai/gsm8k",
      reward_model: { ground_truth: "7" },
      extra_info: { index: 3 },
    };
    await using(pythonTerm(whole, { args: { weight: 2 } }), async (term) => {
      assert.deepEqual(await term.score(responses(["7", "8"], data), scoring()), [
        { kind: "value", value: 1, components: { acc: 1, index: 6 } },
        { kind: "value", value: 0, components: { acc: 0, index: 6 } },
      ]);
    });
    for (const name of ["solution_str", "predict_str", "model_output"])
      assert.deepEqual(
        await told(
          `def compute_score(${name}, ground_truth, use_boxed=True):\n    return ${name} == ground_truth\n`,
          ["7"],
          {},
          data,
        ),
        [1],
      );
    const code =
      "def compute_score(completion, test_cases, continuous=False):\n    return len(test_cases['inputs']) == 2, ['passed']\n";
    assert.deepEqual(
      await told(code, ["x"], {}, { reward_model: { ground_truth: { inputs: [1, 2] } } }),
      [1],
    );
  });

  test("verl's plural names, once for the batch", async () => {
    const text = `calls = 0
def compute_score_batched(data_sources, solution_strs, ground_truths, extra_infos, scale=1):
    global calls
    calls += 1
    return [{"score": scale * calls, "n": len(solution_strs), "right": a == b} for a, b in zip(solution_strs, ground_truths)]
`;
    const params = { export: "compute_score_batched", args: { scale: 3 } };
    await using(pythonTerm(text, params), async (term) => {
      assert.deepEqual(await term.score(responses(["42", "x"], { ground_truth: "42" }), scoring()), [
        { kind: "value", value: 3, components: { n: 2, right: 1 } },
        { kind: "value", value: 3, components: { n: 2, right: 0 } },
      ]);
    });
  });

  test("TRL's names: columns as lists, plain text or messages as the task's data has its prompt", async () => {
    const plain = `def reward(completions, prompts, completion_ids, target, trainer_state=None, log_extra=None, log_metric=None, **kwargs):
    assert prompts == ["p", "p", "p"] and kwargs == {"answer": ["42"] * 3}, kwargs
    assert completion_ids == [[0, 7], [1, 7], [2, 7]] and trainer_state.global_step == 12
    log_extra("length", [len(c) for c in completions]); log_extra("said", completions); log_metric("seen", len(prompts))
    return [None if c == "" else float(len(c) + t) for c, t in zip(completions, target)]
`;
    await using(pythonTerm(plain, { export: "reward" }), async (term) => {
      assert.deepEqual(await term.score(responses(["", "a", "abc"]), scoring()), [
        { kind: "none", components: { length: 0, seen: 3 } },
        { kind: "value", value: 6, components: { length: 1, seen: 3 } },
        { kind: "value", value: 8, components: { length: 3, seen: 3 } },
      ]);
    });
    const talk = `def reward(completions, prompts, solution, **kwargs):
    return [float(c[0]["content"] == s and c[0]["role"] == "assistant" and p[-1]["content"] == q) for c, s, p, q in zip(completions, solution, prompts, kwargs.get("q", ["p"] * 9))]
`;
    const data = { prompt: [{ role: "user", content: "2+2" }], solution: "4", q: "2+2" };
    assert.deepEqual(await told(talk, ["4", "5"], { export: "reward" }, data), [1, 0]);
    assert.deepEqual(await told(talk, ["4"], { export: "reward", messages: true }, { solution: "4" }), [1]);
    const [text] = await told(talk, ["4"], { export: "reward" }, { solution: "4" });
    assert.match(
      String(text),
      /indices must be integers.*: `messages: true` at the term .* \(reward\.py:2\)$/,
    );
    const [error] = await told(talk, ["4"], { export: "reward" }, { target: 4 });
    assert.match(String(error), /takes `solution`, which is no field of the task's data \(target\)/);
  });

  test("TRL's rewards that are objects, partials and coroutines", async () => {
    const text = `import asyncio, functools
class Overlong:
    def __init__(self, limit): self.limit = limit
    def __call__(self, completion_ids, **kwargs): return [0.0 if len(ids) <= self.limit else -1.0 for ids in completion_ids]
def get_overlong(limit): return Overlong(limit)
def scaled(completions, scale, **kwargs): return [scale * len(c) for c in completions]
async def waiting(completions, **kwargs):
    await asyncio.sleep(0.001)
    return [len(c) for c in completions]
overlong = get_overlong(1)
doubled = functools.partial(scaled, scale=2)
`;
    assert.deepEqual(await told(text, ["a"], { export: "overlong" }), [-1]);
    assert.deepEqual(await told(text, ["ab"], { export: "doubled" }), [4]);
    assert.deepEqual(await told(text, ["abc"], { export: "waiting" }), [3]);
  });

  test("OpenRLHF's names, with tensors as its normal result", async () => {
    const text = `class Tensor:
    def __init__(self, values): self.values = values
    def tolist(self): return self.values
def reward_func(queries, prompts, labels, **kwargs):
    right = [q == p + l for q, p, l in zip(queries, prompts, labels)]
    return {"rewards": Tensor([float(r) for r in right]), "scores": Tensor([r * 0.5 for r in right]), "extra_logs": {"n": Tensor([len(q) for q in queries])}}
`;
    await using(pythonTerm(text, { export: "reward_func" }), async (term) => {
      assert.deepEqual(await term.score(responses(["42", "x"], { ground_truth: "42" }), scoring()), [
        { kind: "value", value: 1, components: { n: 3, scores: 0.5 } },
        { kind: "value", value: 0, components: { n: 2, scores: 0 } },
      ]);
    });
  });

  test("reasoning-gym's names", async () => {
    const text = `def score_answer(answer, entry):
    return float(answer == entry["answer"]) if entry["metadata"]["seed"] == 1 and entry["question"] == "q" else -1.0
`;
    const data = { question: "q", answer: "9", metadata: { seed: 1 } };
    assert.deepEqual(
      await told(
        text,
        ["<answer>8</answer> no <answer> 9 </answer>", "9", "x"],
        { export: "score_answer" },
        data,
      ),
      [1, 1, 0],
    );
  });

  test("nothing, where its parameters follow no convention: the message has the wrapper", async () => {
    for (const [head, says] of [
      ["prompt, completions, prompt_ids, completion_ids, answer", /AReaL/],
      ["args, sample, **kwargs", /slime/],
      ["task, episode", /rLLM/],
      ["data, text", /`data`, `text`, which is no convention/],
    ] as const)
      await using(pythonTerm(`def compute_score(${head}):\n    return 1\n`), (term) =>
        assert.rejects(
          async () => term.prepare?.(),
          (error: Error & { detail?: { action?: string; code?: string } }) => {
            assert.match(error.message, says);
            assert.equal(error.detail?.code, "python-reward");
            assert.match(
              error.detail?.action ?? "",
              /def own_score\(prompt, response, task\):\n.*\n {4}return /,
            );
            return true;
          },
        ),
      );
  });
});

describe("what a Python reward returns", { skip }, () => {
  test("is a value where it is a number of any kind; anything else is a named error, never 0", async () => {
    const text = `import decimal, fractions
class Scalar:
    def item(self): return 0.25
class Row:
    def tolist(self): return [[0.5]]
class Rows:
    def tolist(self): return [1.0, 2.0]
def many():
    yield 1
made = {"scalar": Scalar(), "row": Row(), "rows": Rows(), "true": True, "int": 3, "none": None, "decimal": decimal.Decimal("0.5"), "fraction": fractions.Fraction(1, 4),
  "nan": float("nan"), "inf": float("-inf"), "text": "1", "list": [1.0], "dict": {"acc": 1}, "function": many, "huge": 10 ** 5000}
def compute_score(response, task):
    if response == "generator": return many()
    if response == "lost": return {"score": None, "why": 2}
    if response == "raise": raise ValueError("bad " + response)
    if response == "exit": raise SystemExit(3)
    return made[response]
`;
    const texts = ["scalar", "row", "true", "int", "none", "decimal", "fraction", "lost"];
    assert.deepEqual(await told(text, texts), [0.25, 0.5, 1, 3, "none", 0.5, 0.25, "none"]);
    const wrong = [
      "nan",
      "inf",
      "text",
      "list",
      "dict",
      "function",
      "generator",
      "rows",
      "raise",
      "exit",
      "huge",
      "key",
    ];
    const forms = "it must return a number, None, or a dict with `score`";
    const said = (await told(text, wrong)).map((one) =>
      String(one).replaceAll(/<\S+ object at 0x\w+>/g, "<object>"),
    );
    assert.deepEqual(said, [
      "returned nan, which is not a finite number",
      "returned -inf, which is not a finite number",
      `returned the string "1"; ${forms}`,
      `returned list [1.0]; ${forms}`,
      "returned a dict without `score`; it has 'acc'",
      `returned the function many; ${forms}`,
      `returned a generator; ${forms}`,
      `returned Rows <object>; ${forms}`,
      "threw ValueError: bad raise (reward.py:15)",
      "threw SystemExit: 3 (reward.py:16)",
      `returned an int of 16610 bits; ${forms}`,
      "threw KeyError: 'key' (reward.py:17)",
    ]);
  });

  test("of a batch is a list of its length; what one rollout throws is its own error", async () => {
    const of = (body: string, texts = ["a", "bb"]): Promise<(number | string)[]> =>
      told(`def reward(completions, **kwargs):\n    ${body}\n`, texts, { export: "reward" });
    assert.deepEqual(await of("return [1.0]"), Array(2).fill("returned 1 values for 2 rollouts: [1.0]"));
    assert.deepEqual(
      await of("return (1.0 for c in completions)"),
      Array(2).fill("returned a generator; it must return a list with one value a rollout"),
    );
    assert.deepEqual(
      await of("return {'scores': [1, 2]}"),
      Array(2).fill("returned a dict without `rewards`; it has 'scores'"),
    );
    assert.deepEqual(await of("return [1.0, 'x']"), [
      1,
      'returned the string "x"; it must return a number, None, or a dict with `score` (value 1 of its list)',
    ]);
    assert.deepEqual(await of("return [1 / (len(c) - 2) for c in completions]"), [
      -1,
      "threw ZeroDivisionError: division by zero (reward.py:2)",
    ]);
  });

  test("an exception names the last line of the user's own, also in a file that it imports", async () => {
    const folder = temporary();
    writeFileSync(
      join(folder, "helper.py"),
      "import json\n\n\ndef parsed(text):\n    return json.loads(text)\n",
    );
    const text =
      "from helper import parsed\ndef compute_score(response, task):\n    return parsed(response)\n";
    await using(pythonTerm(text, {}, folder), async (term) => {
      const [good, bad] = await term.score(responses(["3", "{"]), scoring());
      assert.deepEqual(good, { kind: "value", value: 3 });
      assert.match(
        bad?.kind === "error" ? bad.message : "",
        /reward\.py:compute_score: threw JSONDecodeError: .* \(helper\.py:5\)$/,
      );
    });
  });
});
