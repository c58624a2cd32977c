/** Rewards as PyPI ships them, installed here at pinned releases: a thousand answers each agree with direct calls. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { JsonObject } from "../../shared/lib/json.ts";
import { installed, rewardPackages } from "../support/pythonPackages.ts";
import { inShort, pythonTerm, responses, scoring, using } from "../support/pythonReward.ts";
import {
  answers,
  directly,
  number,
  trlRewards,
  verlBySource,
  verlRewards,
  verlWithSource,
} from "../support/shippedRewards.ts";
import { batchOf, temporary } from "../unit/support.ts";

const found = installed(rewardPackages);
const python = found.kind === "python" ? found.path : undefined;
const why = found.kind === "none" ? found.why : "";
const skip = python === undefined && why;

describe("verl 0.9.1", () => {
  verlRewards(python, why);
  verlWithSource(python, why);
  verlBySource(python, why);
});
describe("TRL 1.16.0", () => trlRewards(python, why));

/** Each row's own task. */
const rowsOf = (each: readonly (readonly [JsonObject, string])[]) =>
  batchOf(
    each.map(([data, response], index) => ({
      step: 1,
      group: `${index}`,
      index: 0,
      prompt: String(data["question"] ?? data["prompt"]),
      response,
      tokens: [7],
      task: { env: "countdown", id: `${index}`, data },
    })),
  );

describe("reasoning-gym 0.1.25", () => {
  for (const set of ["basic_arithmetic", "leg_counting", "word_sorting"])
    test(`score_answer of ${set}`, { skip }, async () => {
      const text = `import json, sys, reasoning_gym
score_answer = reasoning_gym.get_score_answer_fn("${set}")
if __name__ == "__main__":
    rows = [row for row in reasoning_gym.create_dataset("${set}", size=250, seed=1)]
    said = [[row, said] for row in rows for said in (row["answer"], row["answer"] + " ", "1", "")]
    print(json.dumps([[row, said, score_answer(said.strip(), row)] for row, said in said]))
`;
      await using(
        pythonTerm(text, { export: "score_answer", python: python!, timeout: 60 }),
        async (term) => {
          const { stdout, stderr } = spawnSync(python!, [term.file], {
            encoding: "utf8",
            maxBuffer: 1 << 28,
          });
          const told = JSON.parse(stdout || stderr) as [JsonObject, string, number][];
          assert.equal(told.length, 1000);
          const batch = rowsOf(told.map(([row, said]) => [row, `so <answer>${said}</answer>`]));
          const values = (await term.score(batch, scoring())).map(inShort);
          assert.deepEqual(
            values,
            told.map(([, , value]) => value),
          );
          assert.ok(new Set(values).size > 1, "right and wrong answers");
        },
      );
    });
});

describe("verifiers 0.4.0", () => {
  const text = `import verifiers.v1 as vf
from verifiers.v1.utils.score import verify_boxed_math_answer


class SumData(vf.TaskData):
    answer: str
    level: int = 1


class Sums(vf.Task[SumData]):
    @vf.reward(weight=2.0)
    async def correct(self, trace: vf.Trace) -> float:
        return verify_boxed_math_answer(trace.last_reply, self.data.answer)

    @vf.reward
    async def short(self, task, trace) -> dict[str, float]:
        said = trace.assistant_messages[-1]
        assert isinstance(said, vf.AssistantMessage)
        return {"short": 1 / (1 + len(said.content)), "turns": trace.num_turns * task.level / 8}


async def plugged(task: SumData, trace: vf.Trace) -> float:
    return float(trace.last_reply.endswith(task.answer)) + len(trace.transcript) / 1024
`;
  const said = answers([
    (n) => `so \\boxed{${n}}`,
    (n) => `\\boxed{\\frac{${2 * n}}{2}} `,
    (n) => `it is ${n}`,
    () => "",
  ]);
  const row = { prompt: "6 * 7", answer: "42", level: 3 };

  test("a task's rewards are what its own score() records", { skip }, async () => {
    await using(pythonTerm(text, { export: "Sums", python: python!, timeout: 60 }), async (term) => {
      const asked = { file: term.file, task: "Sums", rows: said.map((one) => [row, one]) };
      const told = directly(python!, asked, "verifiersScores.py") as [number, Record<string, number>][];
      const values = await term.score(rowsOf(said.map((one) => [row, one])), scoring());
      assert.deepEqual(
        values,
        told.map(([value, components]) => ({ kind: "value", value, components })),
      );
      assert.ok(new Set(told.map(([value]) => value)).size > 2);
    });
  });

  test("a plugged function is what it says of a real trace", { skip }, async () => {
    const folder = temporary();
    const file = join(folder, "direct.py");
    writeFileSync(
      file,
      `${text}
class Plugged(Sums):
    def hooks(self, attr): return [plugged] if attr == "reward" else []
`,
    );
    const told = directly(
      python!,
      { file, task: "Plugged", rows: said.map((one) => [row, one]) },
      "verifiersScores.py",
    ) as [number][];
    await using(pythonTerm(text, { export: "plugged", python: python!, timeout: 60 }), async (term) =>
      assert.deepEqual(
        (await term.score(rowsOf(said.map((one) => [row, one])), scoring())).map(inShort),
        told.map(([value]) => value),
      ),
    );
  });
});

test("numpy's own numbers are values, and what is none of them is a named error", { skip }, async () => {
  const text = `import numpy
made = {"scalar": numpy.float32(0.25), "bool": numpy.bool_(True), "int": numpy.int64(3), "point": numpy.array(0.5), "one": numpy.array([[2.0]]), "nan": numpy.float64("nan"), "two": numpy.ones(2)}
def compute_score(response, task): return made[response]
`;
  const batch = responses(["scalar", "bool", "int", "point", "one", "nan", "two"]);
  await using(pythonTerm(text, { python: python!, timeout: 60 }), async (term) =>
    assert.deepEqual((await term.score(batch, scoring())).map(inShort), [
      0.25,
      1,
      3,
      0.5,
      2,
      "returned nan, which is not a finite number",
      "returned ndarray array([1., 1.]); it must return a number, None, or a dict with `score`",
    ]),
  );
});

/** The sample of OpenRLHF's README, which is all it has; its rewards are drawn at random. */
const openRlhf = (made: string): string => `${made}

def reward_func(queries, prompts, labels):
    # queries is prompts + responses
    # labels is answers
    reward = drawn(len(queries))
    return {
        "rewards": reward,  # Rewards for advantage calculation
        "scores": reward,  # Scores for dynamic filtering (0-1 reward)
        "extra_logs": {"dummy_scores": reward},  # Additional logging info for wandb
    }


def plainly(queries, prompts, labels):
    return reward_func(queries, prompts, labels)["rewards"].tolist()
`;

describe("OpenRLHF's documented reward_func", () => {
  const peer = process.env["GRADUS_PEER_PYTHON"];
  const withTorch =
    peer !== undefined && spawnSync(peer, ["-c", "import torch"]).status === 0 ? peer : undefined;
  const kinds = [
    [
      "numpy's arrays",
      "import numpy\ndrawn = lambda n: numpy.random.default_rng(0).integers(0, 2, n).astype('float32')",
      python,
      why,
    ],
    [
      "tensors",
      "import torch\ndrawn = lambda n: torch.randint(0, 2, (n,), generator=torch.Generator().manual_seed(0)).float()",
      withTorch,
      "GRADUS_PEER_PYTHON names no Python with torch",
    ],
  ] as const;
  for (const [name, made, path, reason] of kinds)
    test(`with ${name}`, { skip: path === undefined && reason }, async () => {
      const texts = answers([(n) => `${n}`]);
      const call = { queries: texts, prompts: texts, labels: texts };
      await using(
        pythonTerm(openRlhf(made), { export: "reward_func", python: path!, timeout: 60 }),
        async (term) => {
          const [told] = directly(path!, { file: term.file, name: "plainly", calls: [call] }) as number[][];
          const values = await term.score(responses(texts, { ground_truth: "42" }), scoring());
          assert.deepEqual(values.map(inShort), told!.map(number));
          assert.deepEqual(values[0], {
            kind: "value",
            value: told![0],
            components: { scores: told![0], dummy_scores: told![0] },
          });
          assert.equal(new Set(told).size, 2);
        },
      );
    });
});
