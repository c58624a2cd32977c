/** Rewards as packages ship them: run unchanged, they say what they say when they are called directly. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Json, JsonObject } from "../../shared/lib/json.ts";
import { inShort, pythonTerm, responses, scoring, using } from "./pythonReward.ts";

/** The folder of a package; found without importing it, which would need all that it needs. */
export const folderOf = (python: string | undefined, name: string): string =>
  python === undefined
    ? ""
    : spawnSync(
        python,
        [
          "-c",
          `import importlib.util as u; s = u.find_spec("${name}"); print(s.submodule_search_locations[0] if s else "")`,
        ],
        { encoding: "utf8" },
      ).stdout.trim();

/** What a function says when its package calls it, or the module that is absent. */
export function directly(python: string, asked: JsonObject, program = "rewards.py"): unknown {
  const { stdout, stderr, status } = spawnSync(python, [join("test", "optional", program)], {
    input: JSON.stringify(asked),
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  const absent = /ModuleNotFoundError: No module named '(\w+)/.exec(stderr)?.[1];
  if (status !== 0 && absent !== undefined) return { absent };
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

export const number = (value: unknown): number | string =>
  value === null
    ? "none"
    : typeof value === "object" && "score" in value
      ? Number(value.score)
      : Array.isArray(value)
        ? Number(value[0])
        : Number(value);

/** A thousand answers, right, wrong and malformed in turn. */
export const answers = (forms: readonly ((n: number) => string)[]): string[] =>
  Array.from({ length: 1000 }, (_, i) => forms[i % forms.length]!(40 + (Math.floor(i / forms.length) % 5)));

const boxed = [
  (n: number) => `so \\boxed{${n}}`,
  (n: number) => `Answer: ${n}`,
  (n: number) => `\\boxed{\\frac{${2 * n}}{2}}`,
  () => "no answer",
  () => "\\boxed{",
];

function direct(
  scores: string,
  file: string,
  name: string,
  texts: readonly string[],
  truth: Json,
): JsonObject {
  const path = join(scores, file);
  // Its processes would import all of verl.
  if (file === "math_verify.py")
    return {
      file: path,
      name: "_verify_in_subprocess",
      calls: texts.map((text) => ({ model_output: text, ground_truth_boxed: `\\boxed{${String(truth)}}` })),
    };
  if (file.startsWith("prime_code"))
    return {
      module: "verl.utils.reward_score.prime_code",
      stub: true,
      name: "compute_score",
      calls: texts.map((text) => ({ [name]: text, test_cases: truth, continuous: true })),
    };
  return {
    file: path,
    name: "compute_score",
    calls: texts.map((text) => ({ [name]: text, ground_truth: truth })),
  };
}

/** @param why there is no such Python, or package: tests are skipped by it */
export function verlRewards(python: string | undefined, why: string): void {
  const verl = folderOf(python, "verl");
  const scores = join(verl, "utils", "reward_score");
  const withoutVerl = verl === "" && why;
  const files: readonly (readonly [string, string, readonly ((n: number) => string)[], Json])[] = [
    [
      "gsm8k.py",
      "solution_str",
      [(n) => `${n} #### ${n}`, (n) => `#### 4,${n}`, (n) => `it is ${n}`, () => ""],
      "42",
    ],
    ["math_reward.py", "solution_str", boxed, "42"],
    ["math_dapo.py", "solution_str", boxed, "42"],
    [
      "search_r1_like_qa_em.py",
      "solution_str",
      [(n) => `<answer>${n}</answer>`, (n) => `<answer>the ${n}.</answer>`, () => "none"],
      { target: ["42", "Paris"] },
    ],
    ["math_verify.py", "model_output", boxed, "42"],
    ["geo3k.py", "predict_str", [...boxed, (n) => `<think>a</think> \\boxed{${n}}`], "42"],
    [
      "prime_code/__init__.py",
      "completion",
      [(n) => `\`\`\`python\nprint(int(input()) + ${n - 40})\n\`\`\``, () => "```python\nwhile\n```"],
      { inputs: ["1\n"], outputs: ["3\n"] },
    ],
  ];
  for (const [file, name, forms, truth] of files) {
    const path = join(scores, file);
    const skip = withoutVerl || (!existsSync(path) && "this release has no such file");
    test(file, { skip }, async (test) => {
      const texts = file.startsWith("prime_code") ? answers(forms).slice(0, 20) : answers(forms);
      const told = directly(python!, direct(scores, file, name, texts, truth));
      if (!Array.isArray(told)) return test.skip(`it needs ${JSON.stringify(told)}`);
      // Without it a wrong program ends in an UnboundLocalError of verl's.
      const args = file.startsWith("prime_code") ? { continuous: true } : {};
      const data = { reward_model: { ground_truth: truth } };
      await using(pythonTerm("", { file: path, python: python!, timeout: 60, args }), async (term) => {
        const values = (await term.score(responses(texts, data), scoring())).map(inShort);
        assert.deepEqual(values, told.map(number));
        assert.ok(new Set(values).size > 1, "right and wrong answers");
      });
    });
  }
}

/** Of verl's files those that take a data source: one by one, and a batch at once. */
export function verlWithSource(python: string | undefined, why: string): void {
  const scores = join(folderOf(python, "verl"), "utils", "reward_score");
  const skip = (file: string) => !existsSync(join(scores, file)) && why;
  test("rlla.py", { skip: skip("rlla.py") }, async () => {
    const call = (n: number): string =>
      `<think>a</think>\n<tool_call>\n{"name": "add", "parameters": {"to": ${n}}}\n</tool_call>`;
    const texts = answers([call, (n) => call(n).replace("<think>", ""), () => "", (n) => `${n}`]);
    const data = { data_source: "rlla", ground_truth: call(42), extra_info: { experiment_name: "qwen" } };
    const file = join(scores, "rlla.py");
    const calls = texts.map((solution_str) => ({ solution_str, ...data }));
    const told = directly(python!, { file, name: "compute_score", calls }) as unknown[];
    await using(pythonTerm("", { file, python: python!, timeout: 60 }), async (term) => {
      const values = (await term.score(responses(texts, data), scoring())).map(inShort);
      assert.deepEqual(values, told.map(number));
      assert.ok(new Set(values).size > 2);
    });
  });
  test("math_batch.py", { skip: skip("math_batch.py") }, async () => {
    const texts = answers(boxed);
    const name = "compute_score_batched";
    const each = texts.map(() => "42");
    const told = directly(python!, {
      module: "verl.utils.reward_score.math_batch",
      stub: true,
      name,
      calls: [
        { data_sources: each, solution_strs: texts, ground_truths: each, extra_infos: each.map(() => ({})) },
      ],
    }) as unknown[][];
    const params = { file: join(scores, "math_batch.py"), export: name, python: python!, timeout: 60 };
    await using(pythonTerm("", params), async (term) =>
      assert.deepEqual(
        (await term.score(responses(texts, { ground_truth: "42" }), scoring())).map(inShort),
        told[0]!.map(number),
      ),
    );
  });
}

/**
 * verl's own choice of a reward by where a row is from. Its package's file is read where torch is absent, without which
 * the package does not import.
 */
export function verlBySource(python: string | undefined, why: string): void {
  const path = join(folderOf(python, "verl"), "utils", "reward_score", "__init__.py");
  const imported =
    python !== undefined && spawnSync(python, ["-c", "import verl.utils.reward_score"]).status === 0;
  const sources: readonly (readonly [string, readonly ((n: number) => string)[], Json])[] = [
    ["openai/gsm8k", [(n) => `${n} #### ${n}`, (n) => `it is ${n}`], "42"],
    ["HuggingFaceH4/MATH-500", boxed, "42"],
    ["aime24", boxed, "42"],
    ["numina_cn_k12", boxed, "42"],
    ["searchR1_nq", [(n) => `<answer>${n}</answer>`, () => "none"], { target: ["42"] }],
    ["hiyouga/geometry3k", boxed, "42"],
  ];
  for (const [source, forms, truth] of sources)
    test(`default_compute_score of ${source}`, { skip: !existsSync(path) && why }, async (test) => {
      const texts = answers(forms);
      const told = directly(python!, {
        module: "verl.utils.reward_score",
        stub: !imported,
        name: "default_compute_score",
        calls: texts.map((text) => ({ data_source: source, solution_str: text, ground_truth: truth })),
      });
      if (!Array.isArray(told)) return test.skip(`it needs ${JSON.stringify(told)}`);
      const text = imported ? "from verl.utils.reward_score import default_compute_score\n" : "";
      const file = imported ? {} : { file: path };
      const params = { ...file, export: "default_compute_score", python: python!, timeout: 60 };
      await using(pythonTerm(text, params), async (term) => {
        const data = { data_source: source, reward_model: { ground_truth: truth } };
        const values = (await term.score(responses(texts, data), scoring())).map(inShort);
        assert.deepEqual(values, told.map(number));
        assert.ok(new Set(values).size > 1, "right and wrong answers");
      });
    });
}

/** @param why there is no such Python, or package: tests are skipped by it */
export function trlRewards(python: string | undefined, why: string): void {
  const skip = folderOf(python, "trl") === "" && why;
  const prompt = [{ role: "user", content: "q" }];
  const text = `from trl.rewards import accuracy_reward, think_format_reward, get_soft_overlong_punishment

overlong = get_soft_overlong_punishment(max_completion_len=2, soft_punish_cache=1)
`;
  for (const name of ["accuracy_reward", "think_format_reward"])
    test(name, { skip }, async (test) => {
      const texts = answers([...boxed, (n) => `<think>\na\n</think>\n${n}`]);
      const completions = texts.map((content) => [{ role: "assistant", content }]);
      const found = directly(python!, {
        module: "trl.rewards",
        name,
        calls: [{ completions, ...(name === "accuracy_reward" && { solution: texts.map(() => "$42$") }) }],
      });
      if (!Array.isArray(found)) return test.skip(`it needs ${JSON.stringify(found)}`);
      const [told] = found as unknown[][];
      await using(pythonTerm(text, { export: name, python: python!, timeout: 60 }), async (term) => {
        const batch = responses(texts, { prompt, solution: "$42$" });
        const values = (await term.score(batch, scoring())).map(inShort);
        assert.deepEqual(values, told!.map(number));
        assert.ok(new Set(values).size > 1, "right and wrong answers");
      });
    });

  test("get_soft_overlong_punishment", { skip }, async () => {
    const texts = answers([() => "a"]);
    const ids = texts.map((_, index) => [index, 7]);
    const made = { max_completion_len: 2, soft_punish_cache: 1 };
    const [told] = directly(python!, {
      module: "trl.rewards",
      name: "get_soft_overlong_punishment",
      made,
      calls: [{ completion_ids: ids }],
    }) as unknown[][];
    await using(pythonTerm(text, { export: "overlong", python: python!, timeout: 60 }), async (term) =>
      assert.deepEqual((await term.score(responses(texts), scoring())).map(inShort), told!.map(number)),
    );
  });
}
