/** `gradus reward --rollouts … --candidate`: a tournament of rewards over recorded rollouts. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { gradus } from "../../support/cli.ts";
import { temporary } from "../support.ts";

const score = (body: string): string =>
  `export function score({ response }: { response: string }): number {\n  return ${body};\n}\n`;

/** Six groups of a recorded success, which is short, and two failures, of which one is shorter in the last group. */
function project(): string {
  const folder = temporary();
  writeFileSync(
    join(folder, "s.gradus.yaml"),
    "tasks: [{ env: countdown }]\nreward: { terms: { correct: equation }, combine: product }\n",
  );
  writeFileSync(join(folder, "short.ts"), score("-response.length"));
  writeFileSync(join(folder, "long.ts"), score("response.length"));
  writeFileSync(join(folder, "flat.ts"), score("1"));
  const rows = Array.from({ length: 6 }, (_, group) =>
    ["3=2+1", "no, never", group === 5 ? "no" : "not at all"].map((response, index) =>
      JSON.stringify({
        ...{ step: 0, group: `g${group}`, index, prompt: "1 2=3:", response },
        ...{ rewards: { correct: index === 0 ? 1 : 0 }, reward: index === 0 ? 1 : 0 },
        task: { env: "countdown", data: { numbers: [1, 2], target: 3 } },
      }),
    ),
  ).flat();
  writeFileSync(join(folder, "r.jsonl"), `${rows.join("\n")}\n`);
  return folder;
}

const words = ["reward", "s.gradus.yaml", "--rollouts", "r.jsonl"];
const tried = ["short.ts", "./long.ts", "flat.ts"].flatMap((file) => ["--candidate", file]);

describe("gradus reward --candidate", () => {
  it("ranks rewards by the recorded successes that they put above failures", async () => {
    const folder = project();
    const { stdout, code } = await gradus([...words, ...tried, "--json"], folder);
    assert.equal(code, 0);
    const { preference, total } = JSON.parse(stdout.trim().split("\n").at(-1)!);
    assert.deepEqual([preference.success, preference.successes, preference.failures], [["correct"], 6, 12]);
    // "3=2+1" is recorded as a success and is none now: the record counts, and what is tried changes no reward.
    assert.equal(total.mean, 0);
    assert.deepEqual(
      preference.rewards.map(({ term, within, candidate, decides }: Record<string, unknown>) => [
        term,
        (within as { accuracy: number }).accuracy,
        candidate,
        decides,
      ]),
      [
        ["short.ts", 11 / 12, true, false],
        [null, 0.5, false, false],
        ["correct", 0.5, false, true],
        ["flat.ts", 0.5, true, false],
        ["./long.ts", 1 / 12, true, false],
      ],
    );
    assert.equal(preference.rewards[0].above_failures, 0, "one failure is shorter than every success");
  });

  it("prints them as a table, and nothing where the reward is what decides", async () => {
    const folder = project();
    const { stdout } = await gradus([...words, "--candidate", "short.ts"], folder);
    assert.match(
      stdout,
      /ranked above failures: 6 of 18 rollouts succeed by `correct`; 12 pairs within groups/,
    );
    assert.match(stdout, /^ {4}short\.ts +92 % \[75 %, 100 %\] +0 % .*candidate$/m);
    const same = ["--set", "reward.terms.correct={use: ./flat.ts}"];
    assert.match((await gradus([...words, ...same], folder)).stdout, /ranked above failures/);
  });

  it("is refused without rollouts", async () => {
    const { code, stderr } = await gradus(["reward", "s.gradus.yaml", "--gold", ...tried], project());
    assert.equal(code, 2);
    assert.match(stderr, /--candidate needs --rollouts/);
  });
});
