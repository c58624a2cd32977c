/** What `gradus export --to openrlhf` writes: no finding of ours in its flags, its rows, and how it is started. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { convert } from "../../../../server/frameworks/trainers/convert.ts";
import { exporters, writeProject, type Exported } from "../../../../server/frameworks/trainers/exporters.ts";
import { checkFrameworkDocument, readFrameworkDocument } from "../../../../server/frameworks/check/index.ts";
import { tableRows } from "../../../../server/lib/datasets/tables.ts";
import { openRlhfConfigs } from "../../../support/openRlhfConfigs.ts";
import { configOf, temporary } from "../../support.ts";

const exporter = exporters.openrlhf;

interface Project {
  readonly out: string;
  readonly exported: Exported;
}

async function project(text: string, python = "python3"): Promise<Project> {
  const folder = temporary();
  const out = join(folder, "the project");
  const config = configOf(text, folder);
  const request = { config, text, folder: out, python, launch: undefined, version: "0.0.0" };
  return { out, exported: await writeProject(exporter, request) };
}

const read = (...path: string[]): string => readFileSync(join(...path), "utf8");

describe("launch.sh's flags for OpenRLHF", () => {
  for (const [name, text] of Object.entries(openRlhfConfigs))
    it(`of ${name} have no finding, and are the config's algorithm`, async () => {
      const { out, exported } = await project(text);
      const file = join(out, "launch.sh");
      const document = readFrameworkDocument(file, read(file), { environment: "" });
      assert.equal(document?.framework, "openrlhf");
      assert.deepEqual(
        checkFrameworkDocument(document).map(({ rule, message }) => `${rule}: ${message}`),
        [],
      );
      assert.deepEqual(
        exported.missing.filter(({ changes }) => changes === "algorithm"),
        [],
      );
    });

  it("come back by `gradus convert`, with the steps and the files", async () => {
    const { out } = await project(openRlhfConfigs["dapo"]!);
    const file = join(out, "launch.sh");
    const { config, unmapped } = convert(file, read(file));
    const found = parse(config);
    assert.equal(found.steps, 3);
    assert.deepEqual(found.tasks, [{ dataset: "./train.parquet", prompt: "{prompt}", answer: "{gradus}" }]);
    assert.deepEqual(found.rollout, {
      ...{ prompts: 8, group: 4, max_tokens: 20, min_tokens: 1, temperature: 0.7, top_p: 0.9, chat: false },
    });
    assert.deepEqual(found.curriculum.admission, {
      ...{ use: "success_band", low: 0, high: 1, inclusive: false, refill: "adaptive" },
    });
    assert.ok(unmapped.some(({ key }) => key === "train.agent_func_path"));
  });

  it("put what `engine.args` says last, nested or dotted, and count its GPUs", async () => {
    const { out, exported } = await project(openRlhfConfigs["rloo"]!);
    const flags = read(out, "launch.sh");
    for (const flag of [
      ...[
        "--actor.num_gpus_per_node 2",
        "--ref.num_gpus_per_node 2",
        "--vllm.num_engines 2",
        "--ref.offload",
      ],
      ...["--vllm.gpu_memory_utilization 0.4", "--train.colocate_all", "--vllm.enable_sleep"],
    ])
      assert.ok(flags.includes(`\n  ${flag} \\\n`), flag);
    assert.doesNotMatch(flags, /gpu_memory_utilization 0\.6/);
    assert.equal(exported.needs.gpus, 2);
    assert.deepEqual(exported.needs.divides, [
      {
        ...{ whole: "rollout.batch_size * rollout.n_samples_per_prompt", part: "train.batch_size" },
        ...{ of: 32, by: 32 },
      },
      { whole: "train.batch_size", part: "train.micro_batch_size * GPUs", of: 32, by: 8 },
    ]);
    const apart = `${openRlhfConfigs["dapo"]!}engine: { use: openrlhf, args: { train.colocate_all: false } }\n`;
    assert.equal((await project(apart)).exported.needs.gpus, 3);
  });
});

describe("rows for OpenRLHF", () => {
  it("are prompts with what the reward reads, of tasks that train and of others", async () => {
    const { out } = await project(openRlhfConfigs["grpo"]!);
    const train = [...tableRows(join(out, "train.parquet"))];
    const held = [...tableRows(join(out, "val.parquet"))];
    assert.equal(train.length, 24);
    const labels = train.map((row) => JSON.parse(String(row["gradus"])));
    assert.deepEqual(
      labels.map(({ index, split }) => `${split} ${index}`),
      labels.map((_, at) => `train ${at}`),
    );
    const [own] = labels;
    assert.equal(train[0]?.["prompt"], own.prompt);
    assert.equal(train[0]?.["datasource"], "countdown");
    assert.deepEqual(Object.keys(own.data), ["numbers", "target"]);
    const trained = new Set(train.map(({ prompt }) => prompt));
    assert.ok(held.length > train.length);
    assert.ok(held.every(({ prompt }) => !trained.has(String(prompt))));
    assert.equal(JSON.parse(String(held[0]?.["gradus"])).split, "val");
    const flags = read(out, "launch.sh");
    // 44 of a prompt, 20 of a response. OpenRLHF reads so many held-out tasks, too.
    assert.match(flags, /--data\.max_len 64 /);
    assert.ok(flags.includes(`--data.max_samples ${held.length} `));
    assert.doesNotMatch(flags, /apply_chat_template/);
  });

  it("are the messages of a chat, the system's first", async () => {
    const text = openRlhfConfigs["grpo"]!.replace(
      "max_tokens: 20",
      "max_tokens: 20, chat: true, system: Think.",
    );
    const { out } = await project(text);
    const [first] = [...tableRows(join(out, "train.parquet"))];
    const [system, user] = Object(first)["prompt"];
    assert.deepEqual(system, { role: "system", content: "Think." });
    assert.equal(user.content, JSON.parse(String(first?.["gradus"])).prompt);
    assert.match(read(out, "launch.sh"), /--data\.apply_chat_template /);
  });
});

describe("launch.sh for OpenRLHF", () => {
  interface Started {
    readonly out: string;
    readonly start: (words: readonly string[], folder?: string) => ReturnType<typeof spawnSync>;
  }

  /** A Python that says what it is asked. */
  async function started(): Promise<Started> {
    const { out } = await project(
      openRlhfConfigs["grpo"]! +
        'engine: { use: openrlhf, args: { logger.wandb.group: "it\'s `a` $group" } }\n',
    );
    const python = join(out, "..", "python");
    writeFileSync(python, `#!/bin/sh\nprintf '%s\\n' "$@" "GRADUS_ROLLOUTS=$GRADUS_ROLLOUTS"\nexit 3\n`);
    chmodSync(python, 0o755);
    return {
      out,
      start: (words, folder = out) =>
        spawnSync("sh", [join(folder, "launch.sh"), ...words], {
          cwd: "/",
          encoding: "utf8",
          env: { ...process.env, GRADUS_PYTHON: python },
        }),
    };
  }

  it("starts train_ppo_ray with the project's files, and ends with its exit code", async () => {
    const { start } = await started();
    const { status, stdout } = start(["--train.seed", "2"]);
    assert.equal(status, 3);
    const lines = String(stdout).trim().split("\n");
    const folder = dirname(lines[0]!);
    assert.match(folder, /\/the project$/);
    assert.deepEqual(lines.slice(0, 5), [
      ...[join(folder, "train.py"), "-m", "openrlhf.cli.train_ppo_ray"],
      ...["--actor.model_name_or_path", join(folder, "model")],
    ]);
    const after = (flag: string): string | undefined => lines[lines.indexOf(flag) + 1];
    assert.equal(after("--train.agent_func_path"), join(folder, "agent.py"));
    assert.equal(after("--logger.wandb.group"), "it's `a` $group");
    assert.equal(lines.indexOf("--ckpt.load_enable"), -1);
    assert.deepEqual(lines.slice(-3), ["--train.seed", "2", `GRADUS_ROLLOUTS=${folder}/out/gradus-rollouts`]);
    assert.deepEqual(readdirSync(join(folder, "out")), ["gradus-rollouts"]);
  });

  it("goes on from checkpoints where it is asked to, and refuses them where it is not", async () => {
    const { out, start } = await started();
    assert.equal(start(["--resume"]).status, 3);
    mkdirSync(join(out, "out", "checkpoints", "_actor"), { recursive: true });
    writeFileSync(join(out, "out", "checkpoints", "_actor", "latest"), "global_step2");
    const refused = start([]);
    assert.equal(refused.status, 1);
    assert.match(String(refused.stderr), /add --resume/);
    assert.match(String(start(["--resume"]).stdout), /^--ckpt\.load_enable$/m);
  });

  it("refuses a folder whose path OpenRLHF would split", async () => {
    const { out, start } = await started();
    const other = join(out, "..", "a,b");
    renameSync(out, other);
    const { status, stderr } = start([], other);
    assert.equal(status, 1);
    assert.match(String(stderr), /move the project/);
  });
});
