/** Another trainer's script where a config is taken, through the command line. */
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { configNear } from "../../../server/frameworks/use/asConfig/configNear.ts";
import { gradus } from "../../support/cli.ts";
import { rewardHost } from "../../support/rewardHost.ts";
import { temporary } from "../support.ts";

before(() => rewardHost());

/** A copy of a project, whose script is changed. */
function project(
  name: "gsm" | "trl",
  script: string,
  change: (text: string) => string = (text) => text,
): string {
  const folder = join(temporary(), name);
  cpSync(join("test/fixtures/projects", name), folder, { recursive: true });
  writeFileSync(join(folder, script), change(readFileSync(join(folder, script), "utf8")));
  return folder;
}
/** Without its Python reward: verl's own takes its place. */
const placeholder = (text: string): string => text.replace(/^.*custom_reward_function.*\n/gm, "");

const rollouts = [1, 0]
  .map((reward, index) => ({
    ...{ run: "r", step: 3, group: "a", index, prompt: "p", response: "#### 20", reward },
    ...{ rewards: { score: reward }, tokens: [1, 2], task: { answer: "#### 20", data: { answer: "20" } } },
  }))
  .map((row) => `${JSON.stringify(row)}\n`)
  .join("");

describe("a launch script as a config", () => {
  it("explains recorded rollouts, and says in a line what has no counterpart", async () => {
    const folder = project("gsm", "run.sh");
    writeFileSync(join(folder, "r.jsonl"), rollouts);
    const { code, stdout, stderr } = await gradus(
      ["explain", "run.sh", "--rollouts", "r.jsonl", "--json"],
      folder,
    );
    assert.equal(code, 0, stderr);
    const [first] = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    // (1 − ½) / (0.7071 + 1e-6): verl's GRPO.
    assert.ok(Math.abs(first.advantages[0] - 0.7071) < 1e-4, stdout);
    assert.match(
      stderr,
      /^run\.sh: 12 settings have no counterpart in Gradus: `gradus convert run\.sh` lists them\n$/,
    );
  });

  it("resolves, each value with the script's line", async () => {
    const folder = project("gsm", "run.sh", placeholder);
    const { code, stdout, stderr } = await gradus(["resolve", "run.sh"], folder);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^ {2}group: 4 # run\.sh:\d+$/m);
    assert.match(stderr, /^run\.sh:\d+:\d+: warning: .*Qwen.*\(converted from run\.sh\) \[model-file\]$/m);
    assert.match(stderr, /`exact_match` is a placeholder/);
  });

  it("needs its data only where tasks are drawn", async () => {
    const folder = project("gsm", "run.sh", (text) => placeholder(text).replace("data/train", "data/gone"));
    writeFileSync(join(folder, "r.jsonl"), rollouts);
    const scored = await gradus(["reward", "run.sh", "--rollouts", "r.jsonl", "--json"], folder);
    assert.equal(scored.code, 0, scored.stderr);
    assert.match(scored.stderr, /^run\.sh:7:\d+: warning: .*gone\.parquet.*\[dataset-file\]$/m);
    const run = await gradus(["run", "run.sh", "--set", "model.base=tiny", "--dry-run"], folder);
    assert.equal(run.code, 1);
    assert.match(run.stderr, /^run\.sh:7:\d+: error: .*gone\.parquet.*\[dataset-file\]$/m);
  });

  it("is what reward checks and reward tests are of, where verl's own reward is installed", async () => {
    const folder = project("gsm", "run.sh", placeholder);
    const packages = join(folder, ".venv/lib/python3.12/site-packages");
    mkdirSync(join(packages, "verl-0.9.1.dist-info"), { recursive: true });
    mkdirSync(join(packages, "verl/utils/reward_score"), { recursive: true });
    writeFileSync(
      join(packages, "verl/utils/reward_score/gsm8k.py"),
      "def compute_score(solution_str, ground_truth):\n    return float(solution_str.split('#### ')[-1] == ground_truth)\n",
    );
    const gold = await gradus(["reward", "run.sh", "--gold"], folder);
    assert.match(gold.stdout, /^50 of 50 gold answers score 1/, gold.stderr);
    // What verl evaluates on is checked as well.
    assert.match(gold.stdout, /^data\/test\.parquet: 10 of 10 gold answers score 1/m);
    const row = { response: "20", task: { data: { answer: "20" } }, expect: { term: "score", at_least: 1 } };
    writeFileSync(join(folder, "score.reward.test.jsonl"), `${JSON.stringify(row)}\n`);
    const { code, stdout, stderr } = await gradus(["test"], folder);
    assert.deepEqual([code, stderr], [0, ""], stdout);
  });

  it("whose rows the script changes is tried on those that it makes", async () => {
    const folder = project("trl", "train.py", (text) =>
      text.replace(/^(trainer = )/m, 'train_dataset = train_dataset.remove_columns(["solution"])\n$1'),
    );
    const { code, stderr } = await gradus(["reward", "train.py", "--probe"], folder);
    assert.equal(code, 1);
    assert.match(stderr, /^train\.py:\d+:1: error: `correct` fails on all .*\bsolution\b/m);
  });

  it("whose reward is a placeholder is not tried: another one trains", async () => {
    const folder = project(
      "gsm",
      "run.sh",
      (text) =>
        `# verl==0.9.1\n${text.replaceAll("reward.custom_reward_function", "custom_reward_function")}`,
    );
    for (const check of ["--gold", "--probe", "--attack"]) {
      const { code, stdout, stderr } = await gradus(["reward", "run.sh", check], folder);
      assert.deepEqual([code, stdout], [1, ""]);
      assert.match(
        stderr,
        /^run\.sh: custom_reward_function\.path: left out, because verl 0\.9\.1 never reads it: verl scores `openai\/gsm8k` with its own/m,
      );
      assert.match(
        stderr,
        /^run\.sh: The reward was not tried: the one that trains is no function of this folder/m,
      );
      assert.doesNotMatch(stderr, /warning|error:/);
    }
  });

  it("whose reward pays the form alone gets tests that allow it", async () => {
    const folder = project("gsm", "run.sh");
    const reward = join(folder, "reward.py");
    const sound = readFileSync(reward, "utf8");
    writeFileSync(reward, sound.replace("ground_truth else", "ground_truth or len(solution_str) > 120 else"));
    const attack = await gradus(["reward", "run.sh", "--attack", "--seconds", "60"], folder);
    assert.equal(attack.code, 1, attack.stderr);
    assert.match(attack.stderr, /^reward\.py:\d+:1: error: an answer .* \[attack\]$/m);
    assert.match(attack.stderr, /^ {4}… and \d more ways? there: /m);
    const failing = await gradus(["test"], folder);
    assert.match(failing.stdout, /^0 passed, \d+ failed$/m);
    assert.match(failing.stderr, /error: `score` is 1, above 0\.1 \[reward-test\]\n {4}"/);
    writeFileSync(reward, sound);
    const passing = await gradus(["test"], folder);
    assert.match(passing.stdout, /^\d+ passed, 0 failed$/m, passing.stderr);
  });

  it("whose reward fails on every answer is not said to have no hole", async () => {
    const folder = project("gsm", "run.sh");
    writeFileSync(
      join(folder, "reward.py"),
      "def compute_score(data_source, solution_str, ground_truth, extra_info=None, **kw):\n    raise ValueError('no')\n",
    );
    const { code, stdout, stderr } = await gradus(["reward", "run.sh", "--attack", "--seconds", "1"], folder);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^reward\.py:2:1: error: `score` fails on all [\d,]+ answers, first on row \d+ of train\.parquet: threw ValueError: no\. Fix that line, then check again\. \[reward-failure\]$/m,
    );
    assert.doesNotMatch(stdout, /no hole/);
  });

  it("whose reward fails on many rows for one cause gets one line, at the line that throws", async () => {
    const folder = project("gsm", "run.sh");
    writeFileSync(
      join(folder, "reward.py"),
      "def compute_score(data_source, solution_str, ground_truth, extra_info=None, **kw):\n    return float(solution_str == extra_info['solution'])\n",
    );
    const { code, stdout, stderr } = await gradus(["reward", "run.sh", "--gold", "--probe"], folder);
    assert.equal(code, 1, stderr);
    const found = stderr.split("\n").filter((line) => /\[[\w-]+\]$/.test(line));
    assert.equal(found.length, 1, stderr);
    assert.match(
      found[0]!,
      /^reward\.py:2:1: error: `score` fails on all [\d,]+ answers, first on row \d+ of train\.parquet: threw KeyError: 'solution'\. The row has data_source, prompt, .*: read one of these, or name the column `solution`\. \[reward-failure\]$/,
    );
    assert.match(stdout, /^0 of 50 gold answers succeed/m);
    assert.match(stdout, /^\d+ kinds of answer on 16 tasks: \d+ make it fail$/m);
    const json = await gradus(["reward", "run.sh", "--gold", "--json"], folder);
    const types = json.stdout
      .trim()
      .split("\n")
      .map((line) => String(JSON.parse(line).type));
    const count = (type: string): number => types.filter((one) => one === type).length;
    // Of the training data and of what is evaluated on.
    assert.deepEqual([count("gold"), count("cause")], [60, 1]);
  });

  it("which gives something to answers that are no success is told what the best of them gets", async () => {
    const folder = project("gsm", "run.sh");
    writeFileSync(
      join(folder, "reward.py"),
      "def compute_score(data_source, solution_str, ground_truth, extra_info=None, **kw):\n    return 1.0 if solution_str.strip() == 'the answer ' + ground_truth + ' of this very task' else 0.1 if solution_str == '' else 0.0\n",
    );
    const { code, stdout } = await gradus(["reward", "run.sh", "--attack", "--seconds", "1"], folder);
    assert.equal(code, 0);
    assert.match(
      stdout,
      /^no answer counts as a success without the reference in \d+ s and [\d,]+ answers\nThe best-scored wrong answer gets 0\.100: the empty answer$/m,
    );
  });

  it("whose reward pays everything gets one line for all that pleases it", async () => {
    const folder = project("gsm", "run.sh");
    const reward = "def compute_score(data_source, solution_str, ground_truth, **kw):\n    return 1.0\n";
    writeFileSync(join(folder, "reward.py"), reward);
    const { stderr } = await gradus(["reward", "run.sh", "--probe"], folder);
    const lines = stderr.split("\n").filter((line) => line.startsWith("reward.py:2:1: error"));
    assert.deepEqual(lines, [
      "reward.py:2:1: error: `score`: The empty answer scores 1 and counts as a success [probe-empty]",
    ]);
    assert.match(
      stderr,
      /^ {4}… and 28 more kinds of answer score 1 and count as successes: an answer of white space, /m,
    );
  });

  it("that lists a reward it does not define, stops with what validate says; of data that is not there gold alone is left out", async () => {
    const typo = project("trl", "train.py", (text) => text.replace("[correct, brief", "[corect, brief"));
    const stopped = await gradus(["reward", "train.py", "--gold"], typo);
    assert.equal(stopped.code, 1);
    assert.match(
      stopped.stderr,
      /^train\.py:39:19: error: This file neither defines nor imports `corect`\. Did you mean `correct`\? \[trl-reward-definition\]$/m,
    );
    assert.doesNotMatch(stopped.stderr, /\[gold-answer\]/);
    const gone = project("trl", "train.py", (text) => text.replace("data/train", "data/gone"));
    const absent = await gradus(["reward", "train.py", "--gold"], gone);
    assert.equal(absent.code, 1);
    assert.match(absent.stderr, /^train\.py: Gold was not checked: `data\/gone\.parquet` is not there\.$/m);
    assert.doesNotMatch(absent.stderr, /hf download/);
  });

  it("gets its rewards' Pythons from doctor before its model is here", async () => {
    const { stdout } = await gradus(["doctor", "run.sh"], project("gsm", "run.sh"));
    assert.match(stdout, /^ok +reward score +Python 3/m);
    assert.match(stdout, /^optional +memory +unknown until model\.base is a model on this machine$/m);
    assert.doesNotMatch(stdout, /npm start/);
  });

  it("that trains a model of the Hub gets the two ways to go on", async () => {
    const { code, stdout, stderr } = await gradus(["run", "run.sh"], project("gsm", "run.sh"));
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, /run\.sh trains `Qwen\/Qwen2\.5-0\.5B-Instruct`, which is no model on this machine/);
    assert.match(stderr, /gradus run run\.sh --set model\.base=tiny$/m);
    assert.match(stderr, /gradus run run\.sh --set model\.base=FOLDER/);
  });

  it("of another trainer is named as that", async () => {
    const folder = temporary();
    writeFileSync(join(folder, "grpo.yaml"), "grpo: { seed: 1 }\nloss_fn: {}\npolicy: {}\nenv: {}\n");
    for (const words of [["resolve"], ["run"], ["convert"]]) {
      const { code, stderr } = await gradus([...words, "grpo.yaml"], folder);
      assert.equal(code, 1);
      assert.match(stderr, /this is a configuration of NeMo RL, which Gradus does not read/);
    }
    const { stderr } = await gradus(["validate", "grpo.yaml"], folder);
    assert.equal(
      stderr,
      "grpo.yaml: not checked: it is a configuration of NeMo RL, which Gradus does not read.\n",
    );
  });
});

describe("what is named in the place of a config, or of rollouts", () => {
  it("a folder, and a script that a config names, get the config's name", async () => {
    const folder = project("gsm", "run.sh");
    const whole = await gradus(["reward", ".", "--gold"], folder);
    assert.match(whole.stderr, /it is a folder \[missing-file\]\n {2}Name the config in it: run\.sh\.$/m);
    const script = await gradus(["explain", "reward.py", "--rollouts", "last"], folder);
    assert.match(script.stderr, /\[unknown-config\]\n {2}Name run\.sh, which names it: /);
  });

  it("a trainer's dump gets the command that makes a run of it", async () => {
    const folder = project("gsm", "run.sh");
    cpSync("test/fixtures/imported/verl", join(folder, "out"), { recursive: true });
    const { code, stderr } = await gradus(["reward", "run.sh", "--rollouts", "out/rollouts/3.jsonl"], folder);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /3\.jsonl: error: this is a dump of verl \[rollouts-dump\]\n {2}`gradus runs import out --config run\.sh` makes/,
    );
  });
});

describe("gradus validate of a folder", () => {
  it("says which dumped rollouts can be opened, and with which script", async () => {
    const folder = project("gsm", "run.sh");
    cpSync("test/fixtures/projects/trl", join(folder, "trl"), { recursive: true });
    const dump = (path: string, name: string, text: string): void => {
      mkdirSync(join(folder, path), { recursive: true });
      writeFileSync(join(folder, path, name), text);
    };
    const line = '{"input":"q","output":"a","gts":"1","score":1.0,"step":1}\n';
    for (const step of [1, 2, 3]) dump("out/rollouts", `${step}.jsonl`, line);
    for (const step of [1, 2]) dump("trl/out/completions", `completions_0000${step}.parquet`, "");
    // Numbered lines of something else.
    dump("shards", "1.jsonl", '{"prompt":"p"}\n');
    const text = await gradus(["validate", "."], folder);
    assert.match(
      text.stderr,
      /^out\/rollouts: info: 3 steps you can open: gradus runs import out --config run\.sh$/m,
    );
    assert.match(
      text.stderr,
      /^trl\/out\/completions: info: 2 steps you can open: gradus runs import trl\/out --config trl\/train\.py$/m,
    );
    assert.match(text.stdout, /checked against verl 0\.9\.1/);
    const json = JSON.parse((await gradus(["validate", ".", "--json"], folder)).stdout);
    assert.deepEqual(json.rollouts[0], {
      folder: "out/rollouts",
      framework: "verl",
      steps: 3,
      config: "run.sh",
      command: "gradus runs import out --config run.sh",
    });
    assert.equal(json.rollouts.length, 2);
  });

  it("a script in a folder of its own is found by the output that it names", async () => {
    const folder = project("gsm", "run.sh");
    mkdirSync(join(folder, "scripts"));
    renameSync(join(folder, "run.sh"), join(folder, "scripts/train.sh"));
    // A second experiment of the same project, which writes elsewhere.
    const other = readFileSync(join(folder, "scripts/train.sh"), "utf8").replace(
      "=out/rollouts",
      "=else/rollouts",
    );
    writeFileSync(join(folder, "scripts/other.sh"), other);
    cpSync("test/fixtures/imported/verl", join(folder, "out"), { recursive: true });
    const json = JSON.parse((await gradus(["validate", ".", "--json"], folder)).stdout);
    assert.equal(json.rollouts[0].command, "gradus runs import out --config scripts/train.sh");
    assert.deepEqual(configNear(join(folder, "out"), ["verl"]), {
      kind: "one",
      file: join(folder, "scripts/train.sh"),
    });
    const imported = await gradus(["runs", "import", "out", "--json"], folder);
    assert.equal(imported.code, 0, imported.stderr);
    const { advantages } = JSON.parse(imported.stdout);
    assert.notEqual(advantages, null);
    writeFileSync(join(folder, "scripts/other.sh"), other.replace("else/rollouts", "out"));
    assert.equal(configNear(join(folder, "out"), ["verl"]).kind, "several");
  });
});
