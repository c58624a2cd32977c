import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import Ajv from "ajv";
import { z } from "zod";
import { gradus } from "../../support/cli.ts";
import { sarifSchema } from "../../support/sarif.ts";
import { some } from "../../support/thorough.ts";

const good = "tasks: [{ env: countdown }]\nreward: { terms: { correct: equation } }\n";
const bad = good.replace("countdown", "countdwn");
/** A weight that is never other than zero. */
const harmful =
  "tasks: [{ env: countdown }]\nreward: { terms: { correct: equation, spare: { use: length, weight: 0 } } }\n";
const launch =
  "python3 -m verl.trainer.main_ppo \\\n  data.train_batch_size=64 \\\n  actor_rollout_ref.actor.ppo_mini_batch_sze=64\n";

let folder = "";
const write = (name: string, text: string): void => {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
};
before(() => {
  folder = mkdtempSync(join(tmpdir(), "gradus-validate-"));
  write("good.gradus.yaml", good);
  write("all/a.gradus.yaml", good);
  write("all/deep/über b.gradus.yml", bad);
  write("all/deep/launch.sh", launch);
  write("all/compose.yaml", "services: { db: { image: postgres } }\n");
  write("all/build.sh", "make -j4\n");
  write("all/node_modules/x.gradus.yaml", bad);
  write("all/.cache/x.gradus.yaml", bad);
  write("all/environment/pyvenv.cfg", "home = /usr\n");
  write("all/environment/x.gradus.yaml", bad);
});
after(() => rmSync(folder, { recursive: true, force: true }));

const outputSchema = z.object({
  files: z.array(
    z.object({
      file: z.string(),
      kind: z.string(),
      other: z.string().optional(),
      fixed: z.boolean().optional(),
      diagnostics: z.array(z.object({ severity: z.string(), rule: z.string() })),
    }),
  ),
});

async function validate(
  ...words: string[]
): Promise<{ code: number | null; files: z.output<typeof outputSchema>["files"] }> {
  const { code, stdout } = await gradus(["validate", ...words, "--json"], folder);
  return { code, files: outputSchema.parse(JSON.parse(stdout)).files };
}
const rulesOf = ({ files }: Awaited<ReturnType<typeof validate>>): Record<string, string[]> =>
  Object.fromEntries(files.map(({ file, diagnostics }) => [file, diagnostics.map(({ rule }) => rule)]));

describe("gradus validate of a site", () => {
  it("checks a file that is named, and of those that are found what says that it is one", async () => {
    const own = mkdtempSync(join(tmpdir(), "gradus-validate-site-"));
    const site = (name: string, text: string): void => writeFileSync(join(own, "sites", name), text);
    mkdirSync(join(own, "sites"));
    site("box.yaml", "kind: ssh\nhots: box\n");
    site("nginx.yaml", "server: example\n");
    const all = await gradus(["validate", "."], own);
    assert.equal(all.code, 1);
    assert.match(all.stderr, /box\.yaml:2:1: error: `hots` is not a key of a site\. Did you mean `host`\?/);
    assert.doesNotMatch(all.stderr, /nginx/);
    const named = await gradus(["validate", "sites/nginx.yaml"], own);
    assert.match(named.stderr, /nginx\.yaml:1:1: error: A site is of one of the kinds/);
    site("box.yaml", "kind: ssh\nhost: box\n");
    const right = await gradus(["validate", "sites/box.yaml", "--json"], own);
    assert.deepEqual([right.code, JSON.parse(right.stdout).files[0].kind], [0, "site"]);
    rmSync(own, { recursive: true });
  });
});

describe("which files gradus validate checks", () => {
  it("finds the configs of a folder, whose ever they are, and nothing else", async () => {
    const found = await validate("all");
    const { "all/deep/launch.sh": launched, ...own } = rulesOf(found);
    assert.ok(launched?.includes("foreign-unknown-key"));
    assert.deepEqual(own, { "all/a.gradus.yaml": [], "all/deep/über b.gradus.yml": ["unknown-value"] });
    assert.deepEqual(
      found.files.map(({ kind }) => kind),
      ["gradus", "verl", "gradus"],
    );
    assert.equal(found.code, 1);
  });

  const patterns: readonly [pattern: string, files: readonly string[]][] = [
    ["*.gradus.yaml", ["good.gradus.yaml"]],
    ["./all/**/*.gradus.{yaml,yml}", ["all/a.gradus.yaml", "all/deep/über b.gradus.yml"]],
    ["**/[ag]*.gradus.yaml", ["all/a.gradus.yaml", "good.gradus.yaml"]],
    ["all/deep/l?unch.sh", ["all/deep/launch.sh"]],
  ];
  for (const [pattern, files] of patterns)
    it(`understands ${pattern}`, async () => {
      assert.deepEqual(Object.keys(rulesOf(await validate(pattern))), files);
    });

  it("checks a file once", async () => {
    assert.deepEqual(Object.keys(rulesOf(await validate("good.gradus.yaml", ".", "*.yaml"))).length, 4);
  });

  it("exits 2 where nothing is meant", async () => {
    for (const word of ["all/*.nothing", "none/*.yaml", "all/.cache/deeper*"]) {
      const { code, stderr } = await gradus(["validate", word], folder);
      assert.equal(code, 2);
      assert.match(stderr, /there is nothing to check in/);
    }
  });

  it("checks a file that is named, unless it may pass over what is no configuration", async () => {
    write("own/mine.yaml", bad);
    assert.deepEqual(rulesOf(await validate("own/mine.yaml"))["own/mine.yaml"], ["unknown-value"]);
    assert.deepEqual(await validate("all/compose.yaml", "all/build.sh", "--skip-others"), {
      code: 0,
      files: [],
    });
  });
});

describe("a file of a program that is not known", () => {
  const unknown: readonly [name: string, text: string][] = [
    ["all/compose.yaml", "services: { web: { image: x } }\n"],
    ["all/build.sh", "make all\n"],
    ["odd/instruct.sh", "accelerate launch open_tuning/grpo_quick.py --num_generations 8 --beta 0\n"],
    ["odd/policy.yaml", "grpo: { num_generations: 8 }\npolicy: { model_name: a }\ndata: { shuffle: true }\n"],
    ["odd/one.yaml", "model_name_or_path: a/b\n"],
    ["odd/run.py", "print(1)\n"],
    ["odd/run.toml", "[trainer]\nsteps = 1\n"],
  ];

  const names = unknown.map(([name]) => name);

  it("is left alone: no finding, one line on stderr, and the exit code of nothing checked", async () => {
    for (const [name, text] of unknown) write(name, text);
    const { code, stdout, stderr } = await gradus(["validate", ...names], folder);
    const lines = stderr.trimEnd().split("\n");
    assert.deepEqual([code, stdout, lines.length], [2, "", names.length]);
    for (const name of names)
      assert.equal(lines.filter((line) => line.startsWith(`${name}: not checked: it is `)).length, 1, name);
    const alone = await gradus(["validate", names[0]!], folder);
    assert.deepEqual([alone.code, alone.stdout, alone.stderr], [2, "", `${lines[0]}\n`]);
    assert.deepEqual(
      (await validate(...names)).files,
      names.map((file) => ({
        file,
        kind: "unknown",
        ...(file === "odd/policy.yaml" ? { other: "NeMo RL" } : {}),
        diagnostics: [],
      })),
    );
  });

  it("is not converted either, and why is said", async () => {
    for (const name of some(names, 3)) {
      const { code, stdout, stderr } = await gradus(["convert", name], folder);
      assert.deepEqual({ code, stdout }, { code: 1, stdout: "" }, name);
      assert.match(stderr, /error: .*\[(unknown-config|syntax)\]/, name);
    }
  });
});

describe("a folder of trainers that are not checked", () => {
  let own = "";
  const put = (name: string, text: string): void => {
    mkdirSync(dirname(join(own, name)), { recursive: true });
    writeFileSync(join(own, name), text);
  };
  const cell = (...lines: string[]): string =>
    JSON.stringify({ cells: [{ cell_type: "code", source: lines.map((line) => `${line}\n`) }] });
  before(() => (own = mkdtempSync(join(tmpdir(), "gradus-validate-others-"))));
  after(() => rmSync(own, { recursive: true, force: true }));

  it("says each trainer, in text and JSON, and does not exit 0", async () => {
    for (const name of ["a", "b", "c", "d"]) put(`many/${name}.sh`, "swift rlhf --rlhf_type grpo\n");
    put("many/one.yaml", "finetuning_type: lora\nstage: ppo\n");
    put("many/compose.yaml", "services: {}\n");
    const { code, stdout, stderr } = await gradus(["validate", "many"], own);
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, /^4 files of ms-swift were not checked: many\/a\.sh, .* and 1 more\./m);
    assert.match(stderr, /^many\/one\.yaml: not checked: it is a configuration of LLaMA-Factory/m);
    assert.doesNotMatch(stderr, /compose/);
    const json = await gradus(["validate", "many", "--json"], own);
    const { files } = outputSchema.parse(JSON.parse(json.stdout));
    assert.deepEqual(
      [json.code, files.map(({ other }) => other)],
      [2, [...Array(4).fill("ms-swift"), "LLaMA-Factory"]],
    );
    assert.equal((await gradus(["validate", "many", "--skip-others"], own)).code, 0);
  });

  it("counts them beside what was checked", async () => {
    put("mixed/good.gradus.yaml", good);
    put("mixed/run.sh", "axolotl train config.yaml\n");
    const { code, stdout } = await gradus(["validate", "mixed"], own);
    assert.deepEqual([code, stdout], [0, "mixed/good.gradus.yaml: no problems; 1 not checked\n"]);
  });

  it("says that there was nothing where no file is anybody's", async () => {
    put("none/compose.yaml", "services: {}\n");
    put("none/pyproject.toml", "[project]\nname = 'x'\n");
    const { code, stdout, stderr } = await gradus(["validate", "none"], own);
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, /there is nothing to check in `none`/);
  });

  it("names the command that reads what is only converted", async () => {
    put("rl.toml", "max_steps = 5\n[orchestrator]\nbatch_size = 64\n[trainer]\n");
    put("sky.sh", "python -m skyrl.train.entrypoints.main_base trainer.epochs=1\n");
    for (const file of ["rl.toml", "sky.sh"]) {
      const { code, stderr } = await gradus(["validate", file], own);
      assert.equal(code, 2);
      assert.match(
        stderr,
        new RegExp(`which Gradus converts and does not check\\. .*gradus convert ${file}`),
      );
    }
    const { code, stderr } = await gradus(["resolve", "rl.toml"], own);
    assert.equal(code, 1);
    assert.match(stderr, /a configuration of prime-rl, .*\[unknown-config\]/);
    assert.match(stderr, /gradus convert rl\.toml/);
  });

  it("knows them by what they start", async () => {
    const launches: readonly [name: string, text: string][] = [
      ["ms-swift", "NPROC_PER_NODE=8 \\\nmegatron rlhf --rlhf_type grpo\n"],
      ["slime", "ARGS=(\n  --hf-checkpoint m\n)\nray job submit -- python3 train.py ${ARGS[@]}\n"],
      ["ROLL", "python examples/start_rlvr_pipeline.py --config_name rlvr\n"],
      ["LLaMA-Factory", "llamafactory-cli train a.yaml\n"],
      ["Axolotl", "accelerate launch -m axolotl.cli.train a.yaml\n"],
      ["open-instruct", "python mason.py -- python open_instruct/grpo_fast.py --beta 0\n"],
      ["NeMo RL", "uv run examples/run_grpo_math.py policy.model_name=m\n"],
      ["AReaL", "python3 -m areal.launcher.local a.py --config a.yaml\n"],
      [
        "EasyR1",
        "python3 -m verl.trainer.main config=a.yaml algorithm.adv_estimator=grpo worker.rollout.n=5\n",
      ],
      ["SkyRL", "uv run -m skyrl_train.entrypoints.main_base\n"],
      ["prime-rl", "uv run rl @ configs/rl.toml\n"],
      ["torchtune", "tune run lora_finetune_single_device --config a\n"],
    ];
    for (const [name, text] of launches) put(`each/${name}.sh`, text);
    put("each/unsloth.ipynb", cell("from unsloth import FastLanguageModel", "import trl"));
    put("each/swift.py", "from swift.llm import rlhf_main\nif __name__ == '__main__':\n    rlhf_main()\n");
    put("each/setup.sh", "# axolotl train x\ngit clone https://example.org/slime\npip install ms-swift\n");
    const { stdout } = await gradus(["validate", "each", "--json"], own);
    const { files } = outputSchema.parse(JSON.parse(stdout));
    assert.deepEqual(
      Object.fromEntries(files.map(({ file, other }) => [file, other])),
      Object.fromEntries([
        ...launches.map(([name]) => [`each/${name}.sh`, name]),
        ["each/swift.py", "ms-swift"],
        ["each/unsloth.ipynb", "Unsloth"],
      ]),
    );
  });
});

describe("when gradus validate fails", () => {
  it("fails on more warnings than allowed, and says so", async () => {
    write("harmful.gradus.yaml", harmful);
    const with0 = await gradus(["validate", "harmful.gradus.yaml", "--max-warnings", "0"], folder);
    assert.equal(with0.code, 1);
    assert.match(
      with0.stderr,
      /warning: .*\[zero-weight\]\n1 warning: more than the 0 that `--max-warnings` allows/,
    );
    assert.equal((await gradus(["validate", "harmful.gradus.yaml", "--max-warnings", "1"], folder)).code, 0);
    assert.equal((await gradus(["validate", "harmful.gradus.yaml"], folder)).code, 0);
    assert.equal((await gradus(["validate", "harmful.gradus.yaml", "--max-warnings", "-1"], folder)).code, 2);
  });
});

describe("gradus validate --fix", () => {
  it("fixes what has one sensible fix, in both kinds of files, and reports the rest", async () => {
    write("fix/mine.gradus.yaml", `${bad}rollout: { group: many }\n`);
    write("fix/run.sh", launch);
    const { files, code } = await validate("fix", "--fix");
    assert.deepEqual(
      files.map(({ file, fixed }) => [file, fixed]),
      [
        ["fix/mine.gradus.yaml", true],
        ["fix/run.sh", true],
      ],
    );
    assert.equal(code, 1);
    assert.equal(files[0]?.diagnostics.length, 1);
    assert.equal(
      readFileSync(join(folder, "fix/mine.gradus.yaml"), "utf8"),
      `${good}rollout: { group: many }\n`,
    );
    assert.match(readFileSync(join(folder, "fix/run.sh"), "utf8"), /ppo_mini_batch_size=64/);
    assert.equal((await validate("fix/run.sh", "--fix")).files[0]?.fixed, false);
  });
});

describe("gradus validate --format sarif", () => {
  const ajv = new Ajv({
    allErrors: true,
    formats: {
      uri: (text: string) => URL.canParse(text),
      "uri-reference": (text: string) => !/[ "<>\\^`{|}]/.test(text),
    },
  });
  const valid = ajv.compile(sarifSchema);

  it("is a SARIF 2.1.0 file: rules with their pages, places below the folder, fixes", async () => {
    const { stdout, code } = await gradus(["validate", "all", "--format", "sarif"], folder);
    const log: unknown = JSON.parse(stdout);
    assert.ok(valid(log), ajv.errorsText(valid.errors));
    assert.equal(code, 1);
    const [run] = z
      .object({
        runs: z.array(
          z.object({
            tool: z.object({
              driver: z.object({
                rules: z.array(
                  z.object({
                    id: z.string(),
                    help: z.object({ text: z.string() }),
                    helpUri: z.string().optional(),
                  }),
                ),
              }),
            }),
            results: z.array(
              z.object({ ruleId: z.string(), ruleIndex: z.number(), locations: z.array(z.unknown()) }),
            ),
          }),
        ),
      })
      .parse(log).runs;
    assert.ok(run);
    const { rules } = run.tool.driver;
    for (const { ruleId, ruleIndex } of run.results) assert.equal(rules[ruleIndex]?.id, ruleId);
    const page = rules.find(({ id }) => id === "unknown-value")?.helpUri;
    assert.match(readFileSync(fileURLToPath(page ?? ""), "utf8"), /Unknown value/);
    assert.deepEqual(run.results.find(({ ruleId }) => ruleId === "unknown-value")?.locations, [
      {
        physicalLocation: {
          artifactLocation: { uri: "all/deep/%C3%BCber%20b.gradus.yml", uriBaseId: "%SRCROOT%" },
          region: { startLine: 1, startColumn: 16, endLine: 1, endColumn: 24 },
        },
        logicalLocations: [{ fullyQualifiedName: "tasks.countdwn.env", kind: "member" }],
      },
    ]);
  });

  it("is one where nothing was found, and where nothing could be read", async () => {
    for (const name of ["good.gradus.yaml", "missing.gradus.yaml"]) {
      const { stdout } = await gradus(["validate", name, "--format", "sarif"], folder);
      assert.ok(valid(JSON.parse(stdout)), ajv.errorsText(valid.errors));
    }
  });

  it("names the release that a file of another framework was checked against", async () => {
    const { stdout } = await gradus(["validate", join(folder, "all/deep/launch.sh")]);
    assert.match(stdout, /errors? \(checked against verl \d+\.\d+\.\d+, the newest known\)\n$/);
    const json = await gradus([
      "validate",
      "--json",
      join(folder, "all/deep/launch.sh"),
      join(folder, "good.gradus.yaml"),
    ]);
    const releases = z
      .object({ files: z.array(z.object({ release: z.record(z.string(), z.string()).optional() })) })
      .parse(JSON.parse(json.stdout))
      .files.map(({ release }) => release);
    assert.deepEqual({ ...releases[0], version: "" }, { framework: "verl", version: "", from: "newest" });
    assert.equal(releases[1], undefined);
  });
});
