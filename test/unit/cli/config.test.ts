import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { build } from "esbuild";
import { gradus } from "../../support/cli.ts";
import { methods } from "../../../server/methods/index.ts";

let folder = "";
before(() => {
  folder = mkdtempSync(join(tmpdir(), "gradus-cli-"));
  writeFileSync(
    join(folder, "good.gradus.yaml"),
    "extends: dapo\ntasks: [{ env: countdown }]\nreward: { terms: { correct: equation } }\n",
  );
  writeFileSync(
    join(folder, "bad.gradus.yaml"),
    "tasks: [{ env: countdwn }]\nreward: { terms: { correct: equation } }\n",
  );
});
after(() => rmSync(folder, { recursive: true, force: true }));

const json = async (...words: string[]): Promise<unknown> => JSON.parse((await gradus(words, folder)).stdout);

/** What a task may be made by. */
const sources = methods
  .filter(({ slot, name }) => slot === "task" && name !== "generated")
  .map(({ name }) => `\`${name}\``);

describe("gradus curriculum --history", () => {
  it("warns once of a signal that is no finite number, as a run does", async () => {
    writeFileSync(
      join(folder, "range.gradus.yaml"),
      "tasks: [{ env: countdown, numbers: [3] }]\nreward: { terms: { correct: equation } }\ncurriculum: { signal: reward_range, estimator: last }\n",
    );
    const line = (step: number, rewards: number[]): string =>
      JSON.stringify({
        step,
        task: `t${step}`,
        arm: "countdown/3",
        rewards,
        advantages: rewards.map(() => 0),
      });
    const written = (...lines: string[]): void => writeFileSync(join(folder, "h.jsonl"), lines.join("\n"));
    const words = ["curriculum", "range.gradus.yaml", "--history", "h.jsonl", "--json"];
    written(line(0, [1, 0]), line(1, [1e308, -1e308]), line(2, [1, 0]), line(3, [1e308, -1e308]));
    const { code, stdout, stderr } = await gradus(words, folder);
    assert.deepEqual({ code, stdoutLines: stdout.trim().split("\n").length }, { code: 0, stdoutLines: 4 });
    assert.match(
      stderr,
      /^h\.jsonl: warning: step 1 \(and so in 1 more step\): the signal reward_range is not finite for the task t1 of countdown\/3; .* choose another signal\. \[signal-not-finite\]\n$/,
    );
    written(line(0, [1, 0]));
    assert.equal((await gradus(words, folder)).stderr, "");
  });

  it("warns with --what-if once of tasks that are used up", async () => {
    const tasks = [...Array(20).keys()].map((i) => JSON.stringify({ prompt: `${i}`, answer: "1" }));
    writeFileSync(join(folder, "few.jsonl"), tasks.join("\n"));
    writeFileSync(
      join(folder, "few.gradus.yaml"),
      'tasks: [{ name: few, dataset: few.jsonl, prompt: "{prompt}", answer: "{answer}", epochs: 1 }]\nreward: { terms: { correct: exact_match } }\nrollout: { prompts: 12, group: 2 }\n',
    );
    const line = (step: number): string =>
      JSON.stringify({ step, task: `t${step}`, arm: "few", rewards: [1, 0] });
    writeFileSync(join(folder, "few-history.jsonl"), [0, 1, 2].map(line).join("\n"));
    const words = ["curriculum", "few.gradus.yaml", "--history", "few-history.jsonl", "--what-if", "--json"];
    const { code, stderr } = await gradus(words, folder);
    assert.equal(code, 0);
    assert.match(
      stderr,
      /^few-history\.jsonl: warning: step 1: an arm has no task left[^\n]* \[arm-empty\]\n$/,
    );
  });
});

describe("gradus validate", () => {
  it("prints diagnostics as file:line:column with the rule, and exits 1", async () => {
    const { code, stderr } = await gradus(["validate", "bad.gradus.yaml"], folder);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^bad\.gradus\.yaml:1:16: error: .*`countdwn`.*Did you mean `countdown`\?.* \[unknown-value\]$/m,
    );
  });

  it("exits 0 when nothing is wrong, 2 on wrong usage", async () => {
    assert.equal((await gradus(["validate", "good.gradus.yaml"], folder)).code, 0);
    assert.equal((await gradus(["validate"], folder)).code, 2);
    assert.equal((await gradus(["validate", "good.gradus.yaml", "--format", "xml"], folder)).code, 2);
    assert.equal((await gradus(["validate", "good.gradus.yaml", "--set", "group"], folder)).code, 2);
  });

  it("gives one JSON value with LSP positions and fixes", async () => {
    assert.deepEqual(await json("validate", "bad.gradus.yaml", "good.gradus.yaml", "--json"), {
      files: [
        {
          file: "bad.gradus.yaml",
          kind: "gradus",
          diagnostics: [
            {
              severity: "error",
              rule: "unknown-value",
              message: `\`tasks.countdwn.env\` names no environment: \`countdwn\`. Did you mean \`countdown\`? Allowed: ${sources.slice(0, -1).join(", ")} or ${sources.at(-1)}.`,
              key: "tasks.countdwn.env",
              range: { start: { line: 0, character: 15 }, end: { line: 0, character: 23 } },
              fixes: [
                {
                  title: "Change to `countdown`",
                  edits: [
                    {
                      range: { start: { line: 0, character: 15 }, end: { line: 0, character: 23 } },
                      newText: "countdown",
                    },
                  ],
                  preferred: true,
                },
              ],
            },
          ],
        },
        { file: "good.gradus.yaml", kind: "gradus", diagnostics: [] },
      ],
    });
  });

  it("speaks SARIF", async () => {
    const text = (await gradus(["validate", "bad.gradus.yaml", "--format", "sarif"], folder)).stdout;
    const { version, runs } = JSON.parse(text);
    assert.equal(version, "2.1.0");
    assert.deepEqual(runs[0].results[0].locations[0].physicalLocation.region, {
      startLine: 1,
      startColumn: 16,
      endLine: 1,
      endColumn: 24,
    });
    assert.equal(runs[0].results[0].ruleId, "unknown-value");
  });

  it("checks other trainers' configs by their own rules", async () => {
    writeFileSync(join(folder, "verl.yaml"), "actor_rollout_ref:\n  rollout: { n: 8, name: vllm }\n");
    writeFileSync(join(folder, "run.sh"), "openrlhf.cli.train_ppo_ray --train.batch_sise 8\n");
    const { stdout, code } = await gradus(["validate", "verl.yaml", "run.sh", "--json"], folder);
    const files: { kind: string; diagnostics: { rule: string }[] }[] = JSON.parse(stdout).files;
    assert.deepEqual(
      files.map(({ kind }) => kind),
      ["verl", "openrlhf"],
    );
    assert.ok(files[1]?.diagnostics.some(({ rule }) => rule === "foreign-unknown-key"));
    assert.equal(code, 1);
  });

  it("knows the trainers of one framework apart", async () => {
    writeFileSync(
      join(folder, "sft.yaml"),
      "model_name_or_path: x\ndataset_name: y\npacking: true\nlearning_rat: 1.0e-4\n",
    );
    const { stdout, code } = await gradus(["validate", "sft.yaml", "--json"], folder);
    const [file] = JSON.parse(stdout).files;
    assert.deepEqual(
      { kind: file.kind, rule: file.diagnostics[0].rule, code },
      { kind: "trl", rule: "foreign-unknown-key", code: 1 },
    );
  });

  it("names the option where no file wrote the value", async () => {
    const wrong = (set: string) => gradus(["validate", "good.gradus.yaml", "--set", set], folder);
    const { stderr, code } = await wrong("reward.terms.correct.use=nope");
    assert.match(
      stderr,
      /^--set reward\.terms\.correct\.use=nope: error: `reward\.terms\.correct\.use` names .*\[unknown-value\]$/m,
    );
    assert.doesNotMatch(stderr, /:1:1:/);
    assert.equal(code, 1);
    const unread = await wrong("rollout.group=[");
    assert.match(
      unread.stderr,
      /^--set: error: the value of `--set rollout\.group=\[` is not YAML: .* Fix the value/m,
    );
    assert.equal(unread.code, 1);
  });

  it("names a file that is not there", async () => {
    const { stderr, code } = await gradus(["validate", "none.gradus.yaml"], folder);
    assert.match(stderr, /^none\.gradus\.yaml:1:1: error: /);
    assert.equal(code, 1);
  });
});

describe("gradus resolve", () => {
  it("gives the config and each value's origin", async () => {
    const text = (await gradus(["resolve", "good.gradus.yaml", "--set", "rollout.group=3", "--json"], folder))
      .stdout;
    const { config, origins } = JSON.parse(text);
    assert.equal(config.rollout.group, 3);
    assert.equal(config.objective.high, 0.28);
    assert.deepEqual(origins["objective.high"].via, ["dapo"]);
    assert.deepEqual(origins["tasks.countdown.env"], {
      file: join(folder, "good.gradus.yaml"),
      line: 2,
      via: [],
    });
    assert.equal(origins["rollout.group"].file, "--set rollout.group=3");
  });

  it("prints YAML that resolves to the same, with a comment on each value", async () => {
    const { stdout } = await gradus(["resolve", "good.gradus.yaml"], folder);
    assert.match(stdout, /high: 0\.28 # dapo\.yaml:\d+ via dapo/);
    writeFileSync(join(folder, "again.gradus.yaml"), stdout);
    const [first, again] = await Promise.all(
      ["good.gradus.yaml", "again.gradus.yaml"].map(
        async (file) => JSON.parse((await gradus(["resolve", file, "--json"], folder)).stdout).config,
      ),
    );
    assert.deepEqual(again, first);
  });

  it("prints the errors of a broken config and no config", async () => {
    const { stdout, stderr, code } = await gradus(["resolve", "bad.gradus.yaml", "--json"], folder);
    assert.deepEqual({ stdout, code }, { stdout: "", code: 1 });
    assert.match(stderr, /bad\.gradus\.yaml:1:16: error/);
    assert.match(stderr, /a config with errors cannot be resolved/);
    const set = await gradus(["resolve", "good.gradus.yaml", "--set", "rollout.group=x"], folder);
    assert.deepEqual({ stdout: set.stdout, code: set.code }, { stdout: "", code: 1 });
    assert.match(set.stderr, /^--set rollout\.group=x: error: /m);
  });
});

describe("gradus init", () => {
  it("writes a config without diagnostics, a reward and its test, and overwrites nothing", async () => {
    const { files } = JSON.parse((await gradus(["init", "new", "--from", "dapo", "--json"], folder)).stdout);
    assert.deepEqual(files, [
      "new/countdown.gradus.yaml",
      "new/rewards/brevity.ts",
      "new/rewards/brevity.test.ts",
    ]);
    assert.deepEqual(await json("validate", "new/countdown.gradus.yaml", "--json"), {
      files: [{ file: "new/countdown.gradus.yaml", kind: "gradus", diagnostics: [] }],
    });
    writeFileSync(join(folder, "new/countdown.gradus.yaml"), "mine\n");
    const again = await gradus(["init", "new"], folder);
    assert.equal(again.code, 1);
    assert.match(again.stderr, /nothing is overwritten/);
    assert.equal(readFileSync(join(folder, "new/countdown.gradus.yaml"), "utf8"), "mine\n");
  });

  it("says what to do next, in lines that fit and characters that cannot be mistaken", async () => {
    const { stdout } = await gradus(["init", "starter"], folder);
    for (const command of [
      "gradus validate starter/countdown.gradus.yaml",
      "gradus run starter/countdown.gradus.yaml --dry-run",
      "gradus run starter/countdown.gradus.yaml ",
      "node --test starter/rewards/brevity.test.ts",
    ])
      assert.ok(stdout.includes(`\n  ${command}`), command);
    for (const name of ["countdown.gradus.yaml", "rewards/brevity.ts", "rewards/brevity.test.ts"])
      for (const line of readFileSync(join(folder, "starter", name), "utf8").split("\n")) {
        assert.ok(line.length <= 100, line);
        assert.match(line, /^[\x20-\x7e]*$/);
      }
  });

  it("writes a reward whose own test passes", async () => {
    await gradus(["init", "tested"], folder);
    const outfile = join(folder, "tested", "brevity.test.mjs");
    await build({
      entryPoints: [join(folder, "tested", "rewards", "brevity.test.ts")],
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
      logLevel: "warning",
    });
    const env = { ...process.env };
    // Set by the runner of this very test: the other one would report to it.
    delete env["NODE_TEST_CONTEXT"];
    const { status, stdout } = spawnSync(process.execPath, [outfile], { encoding: "utf8", env });
    assert.equal(status, 0, stdout);
    assert.match(stdout, /^(#|ℹ) pass 3$/m);
  });

  it("offers the nearest preset", async () => {
    const { stderr, code } = await gradus(["init", "other", "--from", "dappo"], folder);
    assert.equal(code, 2);
    assert.match(stderr, /Did you mean `dapo`/);
  });
});

describe("the catalogue", () => {
  it("lists methods with their parameters as JSON Schema", async () => {
    const methods = JSON.parse((await gradus(["methods", "--json"])).stdout);
    const boltzmann = methods.find((method: { name: string }) => method.name === "boltzmann");
    assert.deepEqual(Object.keys(boltzmann), [
      "slot",
      "name",
      "summary",
      "formula",
      "sources",
      "aliases",
      "status",
      "params",
    ]);
    assert.equal(boltzmann.params.properties.temperature.default, 1);
  });

  it("lists presets by id", async () => {
    const presets = JSON.parse((await gradus(["presets", "--json"])).stdout);
    const sec = presets.find((preset: { id: string }) => preset.id === "sec");
    assert.deepEqual(
      { papers: sec.papers, kind: sec.kind, status: sec.status, slots: sec.slots, extends: sec.extends },
      {
        papers: [{ title: "Self-Evolving Curriculum for LLM Reasoning", arxiv: "2505.14970" }],
        kind: "method",
        status: "exact",
        slots: ["curriculum"],
        extends: "grpo",
      },
    );
  });

  it("gives a JSON Schema that knows every key", async () => {
    const schema = JSON.parse((await gradus(["schema"])).stdout);
    assert.equal(schema.$schema, "https://json-schema.org/draft/2020-12/schema");
    for (const key of [
      "extends",
      "name",
      "seed",
      "steps",
      "model",
      "models",
      "tasks",
      "curriculum",
      "stages",
      "rollout",
      "guidance",
      "reward",
      "advantage",
      "objective",
      "kl",
      "mask",
      "replay",
      "auxiliary",
      "update",
      "evaluation",
      "checkpoint",
      "scheduler",
      "engine",
      "sweep",
      "logging",
    ]) {
      assert.ok(key in schema.properties, key);
    }
    assert.equal(schema.additionalProperties, false);
  });
});
