/** `gradus reward --rollouts` on a terminal: what an edit changed, told apart from what fails and what was not recorded. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { gradus } from "../../support/cli.ts";
import { rewardHost } from "../../support/rewardHost.ts";
import { withoutPython } from "../../support/pythonReward.ts";
import { temporary } from "../support.ts";

const score = (body: string): string =>
  `export function score({ response }: { response: string }): number {\n${body}\n}\n`;
/** The reward of the recorded rollouts. */
const same = '  return response.startsWith("yes") ? 1 : 0;';
const failing = '  if (response.endsWith("odd")) throw new Error("odd");\n';

interface Recorded {
  readonly response: string;
  readonly reward: number | "NaN";
}

function project(recorded: readonly Recorded[], body = same): string {
  const folder = temporary();
  writeFileSync(
    join(folder, "s.gradus.yaml"),
    "tasks: [{ env: countdown }]\nreward: { terms: { score: { use: ./score.ts } } }\n",
  );
  writeFileSync(join(folder, "score.ts"), score(body));
  const rows = recorded.map(({ response, reward }, index) =>
    JSON.stringify({
      ...{ step: 3, group: "79490eab-0000-4000", index, prompt: "p", response, reward },
      ...{ rewards: { score: reward }, task: { env: "countdown", data: { numbers: [1, 2], target: 3 } } },
    }),
  );
  writeFileSync(join(folder, "r.jsonl"), `${rows.join("\n")}\n`);
  return folder;
}

const words = ["reward", "s.gradus.yaml", "--rollouts", "r.jsonl"];
const mixed: readonly Recorded[] = [
  { response: "yes", reward: 1 },
  { response: "yes, NaN", reward: "NaN" },
  { response: "no, odd", reward: 0 },
  { response: "no", reward: 0 },
];

describe("gradus reward --rollouts", () => {
  it("names rollouts without a recorded score apart from those that an edit changes", async () => {
    const { stdout } = await gradus(words, project(mixed));
    assert.equal(
      stdout.split("\n").slice(0, 5).join("\n"),
      [
        "",
        "4 rollouts in 1 group, means recorded → now",
        "  reward: 0.33333 → 0.33333 (+0) over 3 of them; 0 changed, 0 sign flips, 0 failed",
        "  1 had no recorded score (NaN): 3/0#1",
        "  score: 0.33333 → 0.33333 (+0) over 3 of them; 0 changed, 0 failed, 1 had no recorded value",
      ].join("\n"),
    );
  });

  it("compares means over what has a value both times, and counts failures apart", async () => {
    const folder = project(mixed, `${failing}${same}`);
    const { stdout, code } = await gradus(words, folder);
    assert.equal(code, 0, "it does not fail on all");
    assert.match(stdout, /^3\/79490eab-0000-4000 #2 {2}reward – \(was 0\) .*\n {2}score: .*threw Error: odd/);
    assert.match(
      stdout,
      /^ {2}reward: 0\.5 → 0\.5 \(\+0\) over 2 of them; 0 changed, 0 sign flips, 1 failed$/m,
    );
    const summary = JSON.parse(
      (await gradus([...words, "--json"], folder)).stdout.trim().split("\n").at(-1)!,
    );
    assert.deepEqual(
      [summary.total.compared, summary.terms.score.asked, summary.terms.score.errors],
      [{ rollouts: 2, before: 0.5, mean: 0.5, changed: 0, gained: 1, lost: 1 }, 4, 1],
    );
  });

  it("ends with 1, as --gold and --coverage do, where a term fails on all that it is asked", async () => {
    const folder = project(mixed, '  throw new TypeError("broken");');
    const scored = await gradus(words, folder);
    assert.deepEqual([scored.code, scored.stderr], [1, "`score` failed on all 4 rollouts\n"]);
    const covered = await gradus([...words, "--coverage"], folder);
    assert.equal(covered.code, 1);
    assert.match(covered.stderr, /^`score` .*4 rollouts.*broken/);
    writeFileSync(
      join(folder, "s.gradus.yaml"),
      'tasks: [{ dataset: s.jsonl, prompt: "{q}", answer: "{a}" }]\nreward: { terms: { score: { use: ./score.ts } } }\n',
    );
    writeFileSync(join(folder, "s.jsonl"), '{"q":"1 + 2","a":"3"}\n');
    const { code, stderr } = await gradus(["reward", "s.gradus.yaml", "--gold"], folder);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^score\.ts:\d+:1: error: `score` fails on all \d+ answers, first on row 1 of s\.jsonl: threw TypeError: broken\. Fix that line, then check again\. \[reward-failure\]\n$/,
    );
  });

  it("prints the rollouts that changed most, and with --all every one", async () => {
    const recorded = Array.from({ length: 30 }, (_, i) => ({
      response: "yes",
      reward: i < 25 ? i / 100 : 1,
    }));
    const folder = project(recorded);
    const lines = (await gradus(words, folder)).stdout.split("\n");
    assert.match(lines[0] ?? "", /#0 {2}reward 1 \(was 0\)/);
    assert.match(lines[19] ?? "", /#19 {2}reward 1 \(was 0\.19\)/);
    assert.equal(lines[20], "… and 5 more that changed or failed: --all prints every rollout");
    const all = (await gradus([...words, "--all"], folder)).stdout.split("\n");
    assert.equal(
      all.findIndex((line) => line === ""),
      30,
    );
  });
});

const brief = `def brief(completion_ids, **kwargs):
    return [1 - len(ids) / 64 for ids in completion_ids]

def any_name(completions, **kwargs):
    return [1.0 if "completion_ids" in kwargs else 0.5 for _ in completions]
`;

describe("a TRL reward of rollouts without tokens", { skip: withoutPython }, () => {
  const rows = (tokens: object): string =>
    [0, 1]
      .map((index) =>
        JSON.stringify({
          ...{ step: 1, group: "a", index, prompt: "p", response: "text", reward: 0.25, ...tokens },
          ...{ rewards: { brief: 0.25, any: 0.5 }, task: { env: "countdown", data: { target: 3 } } },
        }),
      )
      .join("\n");
  const made = (tokens: object): string => {
    const folder = project([]);
    writeFileSync(join(folder, "t.py"), brief);
    writeFileSync(
      join(folder, "s.gradus.yaml"),
      "tasks: [{ env: countdown }]\nreward: { terms: { brief: { use: './t.py:brief' }, any: { use: './t.py:any_name', weight: 0 } } }\n",
    );
    writeFileSync(join(folder, "r.jsonl"), `${rows(tokens)}\n`);
    return folder;
  };

  it("keeps its recorded values, and says why", async () => {
    await rewardHost();
    const folder = made({});
    const { stdout, stderr, code } = await gradus(words, folder);
    assert.deepEqual(
      [code, stderr],
      [0, "`brief` keeps its recorded values: it takes `completion_ids`, which were not recorded.\n"],
    );
    assert.match(stdout, /^ {2}brief: 0\.25 → 0\.25 \(\+0\); 0 changed, 0 failed$/m);
    assert.match(stdout, /^ {2}any: 0\.5 → 0\.5 \(\+0\); 0 changed, 0 failed$/m, "any name is not that one");
    const covered = await gradus([...words, "--coverage"], folder);
    assert.match(
      covered.stderr,
      /^`brief` was left out: it takes `completion_ids`, which were not recorded\.$/m,
    );
  });

  it("is computed where tokens were recorded", async () => {
    await rewardHost();
    const { stdout } = await gradus(words, made({ tokens: [1, 2, 3, 4] }));
    assert.match(stdout, /^ {2}brief: 0\.25 → 0\.9375 .*; 2 changed, 0 failed$/m);
    assert.match(stdout, /^ {2}any: 0\.5 → 1 /m);
  });
});
