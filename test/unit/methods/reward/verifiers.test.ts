/** Rewards as verifiers has them: of a trace since 0.4, and a rubric's functions before it. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { pythonTerm, responses, scoring, told, using, withoutPython } from "../../../support/pythonReward.ts";
import { batchOf, configOf, temporary } from "../../support.ts";

const skip = withoutPython;
const data = {
  answer: "42",
  level: 3,
  prompt: [
    { role: "system", content: "Be short." },
    { role: "user", content: "6 * 7" },
  ],
};

/** What a task file of verifiers imports of it, as the reward's process sees it. */
const package_ = `class Data:
    model_fields = ("prompt", "answer", "level")
    def __init__(self, **row):
        if "level" not in row: raise ValueError("level\\n  Field required")
        self.__dict__.update(row)
class Task:
    def __init__(self, data, config=None): self.data, self.config = data, config
    @classmethod
    def data_type(cls): return Data
def reward(function=None, weight=1.0, priority=0):
    def mark(function):
        function.reward, function.reward_priority, function._vf_weight = True, priority, weight
        return function
    return mark if function is None else mark(function)
`;

describe("a reward of verifiers", { skip }, () => {
  test("gets the task's row and a trace by attribute, and is awaited", async () => {
    const text = `import asyncio
async def correct(task, trace, runtime):
    await asyncio.sleep(0)
    assert trace.num_turns == 1 and not trace.is_truncated and trace.task.data is task
    assert [each.role for each in trace.messages] == ["system", "user", "assistant"], trace.messages
    assert trace.transcript == "[system]\\nBe short.\\n\\n[user]\\n6 * 7\\n\\n[assistant]\\n" + trace.assistant_messages[0].content
    assert task.prompt_text == "Be short.\\n\\n6 * 7" and getattr(task, "absent", None) is None
    trace.record_metric("words", len(trace.last_reply.split()))
    return float(trace.last_reply == task.answer) * task.level
`;
    await using(pythonTerm(text, { export: "correct" }), async (term) =>
      assert.deepEqual(await term.score(responses([" 42 ", "it is 42"], data), scoring()), [
        { kind: "value", value: 3, components: { correct: 3, words: 1 } },
        { kind: "value", value: 0, components: { correct: 0, words: 3 } },
      ]),
    );
    // One that is not asynchronous, of keyed scores, with an argument of the config's.
    const keyed = `def score(trace, scale=1):
    return {"length": scale * len(trace.last_reply), "right": trace.last_reply == trace.task.data.answer}
`;
    await using(pythonTerm(keyed, { export: "score", args: { scale: 2 } }), async (term) =>
      assert.deepEqual(await term.score(responses(["42"], data), scoring()), [
        { kind: "value", value: 5, components: { length: 4, right: 1 } },
      ]),
    );
  });

  test("is a task class, whose weighted rewards are summed, or one of its methods", async () => {
    const text = `${package_}
class Sums(Task):
    @reward(weight=2.0)
    async def correct(self, trace): return float(trace.last_reply == self.data.answer)
    @reward
    def short(self, task, trace): return 1 / max(1, len(trace.last_reply)) if isinstance(task, Data) else None
    def helper(self, trace): return 99
class Bare(Task): pass
print = max
`;
    await using(pythonTerm(text, { export: "Sums" }), async (term) =>
      assert.deepEqual(await term.score(responses(["42", "1234"], data), scoring()), [
        { kind: "value", value: 2.5, components: { correct: 1, short: 0.5 } },
        { kind: "value", value: 0.25, components: { correct: 0, short: 0.25 } },
      ]),
    );
    assert.deepEqual(await told(text, ["42"], { export: "Sums.correct" }, data), [1]);
    assert.deepEqual(await told(text, ["42"], { export: "Sums" }, { answer: "42" }), [
      "the task's data makes no Data: level   Field required",
    ]);
    for (const [name, says] of [
      ["Bare", /its class `Bare` has no method with `@reward`/],
      ["Sums.absent", /it has no method `absent` of a class/],
      ["print", /its parameters can't be read|takes .*, which is no convention/],
    ] as const)
      await using(pythonTerm(text, { export: name }), (term) =>
        assert.rejects(async () => term.prepare?.(), says),
      );
  });

  test("that uses the sandbox, or what only a run of verifiers has, is an error that says so", async () => {
    const text = `async def tests(task, trace, runtime):
    return float((await runtime.run(["pytest"], {})).exit_code == 0)
def offline(trace, runtime=None): return float(runtime is None)
def routed(trace): return trace.calls
`;
    const of = (name: string) => told(text, ["42"], { export: name }, data);
    assert.deepEqual(await of("tests"), [
      "threw RuntimeNeeded: `runtime.run` needs the sandbox of a verifiers run, which Gradus does not start (reward.py:2)",
    ]);
    assert.deepEqual(await of("offline"), [1]);
    assert.match(
      String(await of("routed")),
      /AttributeError: the trace has no `calls` here; it has id, task/,
    );
  });
});

test("a config names a class or its method, and a class that is not there is an error", () => {
  const folder = temporary();
  writeFileSync(
    join(folder, "tasks.py"),
    "class Sums:\n    async def correct(self, trace):\n        return 1.0\n",
  );
  const text = (name: string): string =>
    `tasks: [{ env: countdown, numbers: [3] }]\nreward: { terms: { own: "./tasks.py:${name}" } }\n`;
  for (const name of ["Sums", "Sums.correct"])
    assert.equal(configOf(text(name), folder).top.reward.terms[0]?.term.params["export"], name);
  assert.throws(() => configOf(text("Sum.correct"), folder), /`tasks\.py` has no function `Sum\.correct`/);
});

describe("a function of verifiers' earlier rubrics", { skip }, () => {
  test("takes any of completion, prompt, answer, state, info, task and the data's fields", async () => {
    const text = `async def correct(prompt, completion, answer, state, info, task, level, **kwargs):
    assert prompt[-1]["content"] == "6 * 7" and state["completion"] == completion and info == {} and task == "countdown"
    assert sorted(kwargs) == [], kwargs
    return float(completion[-1]["content"] == answer) * level
def plain(completion): return len(completion)
`;
    assert.deepEqual(await told(text, ["42", "x"], { export: "correct" }, data), [3, 0]);
    assert.deepEqual(await told(text, ["42", "x"], { export: "plain", messages: false }, data), [2, 1]);
  });

  test("may score a group, and a whole rubric is the sum of its weighted functions", async () => {
    const group = `def spread(completions, answers, states, **kwargs):
    return [len(completions) + float(c[0]["content"] == a) for c, a in zip(completions, answers)]
`;
    const rows = ["a", "b", "a"].map((name, index) => ({
      step: 1,
      group: name,
      index,
      prompt: "p",
      response: "42",
      tokens: [7],
      task: { env: "countdown", id: name, data: { answer: index === 1 ? "41" : "42" } },
    }));
    await using(pythonTerm(group, { export: "spread" }), async (term) =>
      assert.deepEqual(
        (await term.score(batchOf(rows), scoring())).map((one) => (one.kind === "value" ? one.value : one)),
        [3, 1, 3],
      ),
    );
    const rubric = `class Rubric:
    def __init__(self, funcs, weights, parser): self.funcs, self.weights, self.class_objects = funcs, weights, {"parser": parser}
async def correct(completion, answer, parser): return float(parser(completion) == answer)
def size(completion): return len(completion[0]["content"])
rubric = Rubric([correct, size], [1.0, 0.5], lambda completion: completion[-1]["content"].strip())
`;
    await using(pythonTerm(rubric, { export: "rubric" }), async (term) =>
      assert.deepEqual(await term.score(responses([" 42"], data), scoring()), [
        { kind: "value", value: 2.5, components: { correct: 1, size: 3 } },
      ]),
    );
  });
});
