/** Rewards as verl and TRL ship them: run unchanged, they say what they say when they are called directly. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Json, JsonObject } from "../../../../shared/lib/json.ts";
import { inShort, pythonTerm, responses, scoring, using } from "../../../support/pythonReward.ts";

const python = process.env["GRADUS_PEER_PYTHON"];

/** The folder of a package; found without importing it, which would need all that it needs. */
const folderOf = (name: string): string =>
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

function directly(asked: JsonObject): unknown {
  const { stdout, stderr, status } = spawnSync(python!, [join("test", "optional", "rewards.py")], {
    input: JSON.stringify(asked),
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  const absent = /ModuleNotFoundError: No module named '(\w+)/.exec(stderr)?.[1];
  if (status !== 0 && absent !== undefined) return { absent };
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

const number = (value: unknown): number | string =>
  value === null
    ? "none"
    : typeof value === "object" && "score" in value
      ? Number(value.score)
      : Array.isArray(value)
        ? Number(value[0])
        : Number(value);

/** A thousand answers, right, wrong and malformed in turn. */
const answers = (forms: readonly ((n: number) => string)[]): string[] =>
  Array.from({ length: 1000 }, (_, i) => forms[i % forms.length]!(40 + (Math.floor(i / forms.length) % 5)));

const verl = folderOf("verl");
const scores = join(verl, "utils", "reward_score");
const boxed = [
  (n: number) => `so \\boxed{${n}}`,
  (n: number) => `Answer: ${n}`,
  (n: number) => `\\boxed{\\frac{${2 * n}}{2}}`,
  () => "no answer",
  () => "\\boxed{",
];

function direct(file: string, name: string, texts: readonly string[], truth: Json): JsonObject {
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

const withoutVerl = verl === "" && "GRADUS_PEER_PYTHON names no Python with verl";
describe("verl's rewards", () => {
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
      const told = directly(direct(file, name, texts, truth));
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
});

const trl = folderOf("trl");
const skip = trl === "" && "GRADUS_PEER_PYTHON names no Python with trl";
describe("TRL's rewards", () => {
  const prompt = [{ role: "user", content: "q" }];
  const text = `from trl.rewards import accuracy_reward, think_format_reward, get_soft_overlong_punishment

overlong = get_soft_overlong_punishment(max_completion_len=2, soft_punish_cache=1)
`;
  for (const name of ["accuracy_reward", "think_format_reward"])
    test(name, { skip }, async (test) => {
      const texts = answers([...boxed, (n) => `<think>\na\n</think>\n${n}`]);
      const completions = texts.map((content) => [{ role: "assistant", content }]);
      const found = directly({
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
    const [told] = directly({
      module: "trl.rewards",
      name: "get_soft_overlong_punishment",
      made,
      calls: [{ completion_ids: ids }],
    }) as unknown[][];
    await using(pythonTerm(text, { export: "overlong", python: python!, timeout: 60 }), async (term) =>
      assert.deepEqual((await term.score(responses(texts), scoring())).map(inShort), told!.map(number)),
    );
  });
});
