/** `gradus check`: one sum of what there is to say of a folder, worst first. */
import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { z } from "zod";
import { gradus } from "../../support/cli.ts";
import { course, dictOf, soundTrl, steps } from "../store/logs/logs.ts";

const sumSchema = z.object({
  findings: z.array(
    z.object({
      file: z.string(),
      line: z.number().optional(),
      severity: z.string(),
      by: z.string(),
      rule: z.string().optional(),
      message: z.string(),
    }),
  ),
  projects: z.array(z.string()),
  logs: z.array(z.string()),
  unchecked: z.array(z.object({ trainer: z.string(), files: z.array(z.string()) })),
  trainers: z.array(
    z.object({ trainer: z.string(), version: z.string(), assumed: z.boolean(), files: z.array(z.string()) }),
  ),
  outputs: z.array(z.object({ folder: z.string(), steps: z.number(), config: z.string() })),
  checkouts: z.array(
    z.object({ trainer: z.string(), version: z.string(), folder: z.string(), yours: z.array(z.string()) }),
  ),
  rewards: z.array(z.string()),
  left: z.array(z.string()),
});

const good = "tasks: [{ env: countdown }]\nreward: { terms: { correct: equation } }\n";
/** Of a training in TRL whose answers get worse. */
const fallen = {
  "rewards/correct_reward/mean": course(0.4, 0.02, 40, 60),
  reward: course(1.2, 0.9, 40, 60),
  step: (step: number) => step,
};
/** A launch with as many wrong keys as are asked for. */
const launch = (wrong: number): string =>
  `python3 -m verl.trainer.main_ppo \\\n${Array.from({ length: wrong }, (_, n) => `  actor_rollout_ref.actor.wrong_${n}=1 \\\n`).join("")}  data.train_batch_size=64\n`;
/** In verl's form; it never answers. */
const endless = `import time

def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    time.sleep(600)
    return 0.0
`;

let folder = "";
const write = (name: string, text: string): void => {
  mkdirSync(join(folder, name, ".."), { recursive: true });
  writeFileSync(join(folder, name), text);
};
before(() => {
  folder = mkdtempSync(join(tmpdir(), "gradus-check-"));
  write("empty/notes.txt", "nothing\n");
  write("good/a.gradus.yaml", good);
  write("many/run.sh", launch(9));
  write("many/swift/train.sh", "swift rlhf --rlhf_type grpo --model Qwen/Qwen3-1.7B\n");
  write("many/warned.gradus.yaml", `${good}rollout: { group: 1 }\n`);
  write("left/requirements.txt", "verl==0.9.1\n");
  write("left/scripts/train.sh", `${launch(0).trimEnd()} trainer.rollout_data_dir=out/rollouts\n`);
  cpSync("test/fixtures/imported/verl", join(folder, "left", "out"), { recursive: true });
  write("verl/pyproject.toml", "");
  write("verl/verl/__init__.py", "");
  write("verl/verl/version/version", "0.8.0.dev\n");
  write("verl/examples/run.sh", launch(1));
  write("verl/mine/run.sh", launch(1));
  cpSync("test/fixtures/projects/trl", join(folder, "trl"), { recursive: true });
});
after(() => rmSync(folder, { recursive: true, force: true }));

async function sum(...words: string[]) {
  const { code, stdout } = await gradus(["check", ...words, "--json"], folder);
  return { code, ...sumSchema.parse(JSON.parse(stdout)) };
}

describe("gradus check", () => {
  it("says that nothing is wrong, and of how much", async () => {
    const { code, stdout } = await gradus(["check", "good"], folder);
    assert.equal(code, 0);
    assert.match(stdout, /^no findings in 1 project/);
  });

  it("takes the current folder, and ends with 2 where nothing is anybody's", async () => {
    const { code, stderr } = await gradus(["check"], join(folder, "empty"));
    assert.equal(code, 2);
    assert.match(stderr, /there is nothing to check in `\.`/);
    assert.equal((await gradus(["check", "absent"], folder)).code, 1);
  });

  it("prints the worst seven, their places in a column, and counts the others", async () => {
    const { code, stdout } = await gradus(["check", "many"], folder);
    const lines = stdout.trim().split("\n");
    assert.equal(code, 1);
    assert.equal(lines.length, 8, stdout);
    for (const line of lines.slice(0, 7)) assert.match(line, /^many\/run\.sh:\d+ +\S/);
    const [, found, hidden] = /^(\d+) findings in \d projects; .*?(\d+) not shown/.exec(lines[7]!) ?? [];
    assert.equal(Number(found), 7 + Number(hidden), lines[7]);
    assert.match(lines[7]!, /; 1 file of ms-swift was not checked; .*`gradus check --all` shows all$/);
    const all = await gradus(["check", "many", "--all"], folder);
    assert.match(all.stdout, /warned\.gradus\.yaml:3/);
    const { findings } = await sum("many");
    for (const { rule } of findings) assert.ok(all.stdout.includes(` [${rule}]\n`), `${rule} is not named`);
  });

  it("gives programs every finding with its place, errors first", async () => {
    const { code, findings, projects, unchecked } = await sum("many");
    assert.equal(code, 1);
    const ranks = findings.map(({ severity }) => ["error", "warning", "info"].indexOf(severity));
    assert.deepEqual(ranks, ranks.toSorted());
    assert.ok(findings.every(({ line, by }) => line !== undefined && by === "validate"));
    assert.deepEqual(projects.toSorted(), ["many/run.sh", "many/warned.gradus.yaml"]);
    assert.deepEqual(unchecked, [{ trainer: "ms-swift", files: ["many/swift/train.sh"] }]);
  });

  it("says which trainers there are, and what they left", async () => {
    const { trainers, outputs, rewards } = await sum("left");
    assert.deepEqual(trainers, [
      { trainer: "verl", version: "0.9.1", assumed: false, files: ["left/scripts/train.sh"] },
    ]);
    assert.deepEqual(outputs, [{ folder: "left/out", steps: 5, config: "left/scripts/train.sh" }]);
    assert.deepEqual(rewards, []);
    const { stderr } = await gradus(["check", "left"], folder);
    assert.match(
      stderr,
      /^left\/out: 5 steps you can open: gradus runs import left\/out --config left\/scripts\/train\.sh$/m,
    );
  });

  it("leaves out a trainer's own examples in its checkout", async () => {
    const { checkouts, projects } = await sum("verl");
    assert.deepEqual(projects, ["verl/mine/run.sh"]);
    assert.deepEqual(checkouts, [
      { trainer: "verl", version: "0.8.0.dev", folder: "verl", yours: ["verl/mine/run.sh"] },
    ]);
    const { stderr } = await gradus(["check"], join(folder, "verl"));
    assert.match(
      stderr,
      /^\.: a checkout of verl 0\.8\.0\.dev: 1 file of yours; its own are not checked unless/m,
    );
    assert.deepEqual((await sum("verl/examples")).projects, ["verl/examples/run.sh"]);
  });

  it("tries the folder's rewards only where it is told to, and says so", async () => {
    const { left, findings } = await sum("trl");
    assert.deepEqual(
      findings.filter(({ by }) => by === "reward"),
      [],
    );
    assert.deepEqual(left, [
      "the reward of trl/train.py did not run: `gradus check --run` tries it, in a folder that you trust.",
    ]);
    const tried = await sum("trl", "--run");
    const [hole] = tried.findings.filter(({ by }) => by === "reward");
    assert.equal(hole?.file, "trl/train.py");
    assert.match(hole.message, /^`correct`: A sentence that denies the answer scores 1/);
    assert.deepEqual(tried.left, []);
  });

  it("gives a training one verdict, whatever of it lies there", async () => {
    const worse = (until: number): string =>
      steps(1, until)
        .map((step) => dictOf({ ...soundTrl, ...fallen }, step))
        .join("\n");
    const state = (until: number): string =>
      JSON.stringify({
        log_history: steps(1, until).map((step) =>
          Object.fromEntries(
            Object.entries({ ...soundTrl, ...fallen, step: () => step }).map(([name, of]) => [
              name,
              of(step),
            ]),
          ),
        ),
      });
    write("left-over/train.log", `${worse(120)}\n`);
    for (const until of [80, 100, 120])
      write(`left-over/out/checkpoint-${until}/trainer_state.json`, state(until));
    cpSync("test/fixtures/trackers/tensorboard/v2", join(folder, "left-over/out/runs/Nov30_box"), {
      recursive: true,
    });
    const { findings, logs } = await sum("left-over");
    assert.equal(findings.length, 1, JSON.stringify(findings));
    assert.match(findings[0]!.message, /^Collapsed from step 4\d to [56]\d: /);
    assert.equal(logs.length, 2, logs.join());
  });

  it("leaves out what --ignore names, by name at any depth, by path, and with all that a folder holds", async () => {
    const log = steps(1, 120)
      .map((step) => dictOf({ ...soundTrl, ...fallen }, step))
      .join("\n");
    write("kept/old/slurm-1.out", `${log}\n`);
    write("kept/slurm-2.out", `${log}\n`);
    write("kept/good.gradus.yaml", good);
    write("kept/drafts/bad.gradus.yaml", "tasks: 3\n");
    const said = async (...patterns: string[]) => {
      const { code, logs, projects } = await sum(
        "kept",
        ...patterns.flatMap((pattern) => ["--ignore", pattern]),
      );
      return [code, logs.toSorted(), projects.length];
    };
    const [old, young] = ["kept/old/slurm-1.out", "kept/slurm-2.out"];
    assert.deepEqual(await said(), [1, [old, young], 2]);
    assert.deepEqual(await said("slurm-*.out", "drafts"), [0, [], 1]);
    assert.deepEqual(await said("kept/slurm-*.out"), [1, [old], 2]);
    assert.deepEqual(await said("old/", "./kept/drafts"), [1, [young], 1]);
    assert.equal((await gradus(["check", young, "--ignore", "*.out"], folder)).code, 2);
  });

  it("judges what a tracker recorded below a log that is of no training", async () => {
    write("built/build.log", "compiled\n");
    cpSync("test/fixtures/trackers/tensorboard/v2", join(folder, "built/runs/Nov30_box"), {
      recursive: true,
    });
    const { logs } = await sum("built");
    assert.deepEqual(logs, ["built/runs/Nov30_box/events.out.tfevents.1795685136.vm.32061.0"]);
  });

  it("does not try a reward for longer than it is given", async () => {
    write("slow/data.jsonl", '{"prompt": "1 + 1 =", "answer": "2"}\n'.repeat(4));
    write("slow/reward.py", endless);
    write(
      "slow/mine.gradus.yaml",
      "tasks: [{ dataset: data.jsonl, prompt: '{prompt}', answer: '{answer}' }]\nreward: { terms: { score: { use: ./reward.py } } }\n",
    );
    const { left, code } = await sum("slow", "--run", "--seconds", "1");
    assert.equal(code, 0);
    assert.match(left.join("\n"), /was not tried to the end: the time that `--seconds` gives was over/);
  });

  it("says what a named file is, where there is nothing to check in it", async () => {
    write("odd/no.out", "compiled\n");
    write("odd/empty.ipynb", '{"cells": []}');
    write(
      "odd/train.log",
      steps(1, 20)
        .map((step) => dictOf(soundTrl, step))
        .join("\n"),
    );
    const said = async (...words: string[]): Promise<string> => {
      const { code, stdout, stderr } = await gradus(words, join(folder, "odd"));
      assert.equal(code, words[0] === "check" && words[1] !== "nope" ? 2 : 1, `${stdout}${stderr}`);
      return `${stdout}${stderr}`;
    };
    assert.match(await said("check", "nope"), /^error: there is no `nope` /);
    assert.match(await said("check", "no.out"), /^nothing was checked\nno\.out: no line of it has metrics/);
    assert.match(await said("check", "empty.ipynb"), /\nempty\.ipynb: not checked: it has no code cells\.$/m);
    for (const [command, ...more] of [
      ["explain", "--rollouts", "x"],
      ["resolve"],
      ["reward", "--gold"],
      ["run", "--dry-run"],
    ])
      assert.match(
        await said(command!, "train.log", ...more),
        /^train\.log: error: this is neither a Gradus config nor .*\n {2}It is the log of a training: `gradus check train\.log`/,
      );
  });

  it("says what a reward fails with where its data is not here", async () => {
    write(
      "gone/mine.gradus.yaml",
      "tasks: [{ dataset: gone.jsonl, prompt: '{prompt}', answer: '{answer}' }]\nreward: { terms: { score: { use: ./reward.py } } }\n",
    );
    write(
      "gone/reward.py",
      "def compute_score(data_source, solution_str, ground_truth, extra_info=None):\n    raise ValueError('boom')\n",
    );
    const { left } = await sum("gone", "--run");
    assert.match(
      left.join("\n"),
      /On every made-up task `score` fails \(.*threw ValueError: boom \(reward\.py:2\)\)/,
    );
  });
});
