/** What `gradus export --to verl` writes: no finding of ours in its settings, its rows, and how it is started. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { exporters, writeProject, type Exported } from "../../../../server/frameworks/trainers/exporters.ts";
import { checkFrameworkDocument, readFrameworkDocument } from "../../../../server/frameworks/check/index.ts";
import { tableRows } from "../../../../server/lib/datasets/tables.ts";
import { verlConfigs } from "../../../support/verlConfigs.ts";
import { configOf, temporary } from "../../support.ts";

const exporter = exporters.verl;

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

describe("config.yaml for verl", () => {
  for (const [name, text] of Object.entries(verlConfigs))
    it(`of ${name} has no finding, and is the config's algorithm`, async () => {
      const { out, exported } = await project(text);
      const file = join(out, "config.yaml");
      const document = readFrameworkDocument(file, read(file), { environment: "" });
      assert.equal(document?.framework, "verl");
      assert.equal(document.version.text, "0.9.1");
      assert.deepEqual(
        checkFrameworkDocument(document).map(({ rule, message }) => `${rule}: ${message}`),
        [],
      );
      assert.deepEqual(
        exported.missing.filter(({ changes }) => changes === "algorithm"),
        [],
      );
    });

  it("puts what `engine.args` says last, nested or dotted, and counts its GPUs", async () => {
    const { out, exported } = await project(verlConfigs["lora"]!);
    const settings = parse(read(out, "config.yaml"));
    assert.equal(settings.trainer.n_gpus_per_node, 2);
    assert.equal(settings.actor_rollout_ref.rollout.gpu_memory_utilization, 0.4);
    assert.deepEqual(exported.needs.divides, [
      { whole: "data.train_batch_size * rollout.n", part: "GPUs", of: 32, by: 2 },
      { whole: "data.train_batch_size", part: "actor.ppo_mini_batch_size", of: 8, by: 8 },
      { whole: "actor.ppo_mini_batch_size * rollout.n", part: "GPUs", of: 32, by: 2 },
    ]);
    assert.equal(exported.needs.gpus, 2);
  });

  it("weights the terms of gdpo by their names", async () => {
    const { algorithm } = parse(read((await project(verlConfigs["gdpo"]!)).out, "config.yaml"));
    assert.deepEqual(algorithm.gdpo_reward_keys, ["correct", "short"]);
    assert.deepEqual(algorithm.gdpo_reward_weights, [1, 0.1]);
    await assert.rejects(project(verlConfigs["gdpo"]!.replace("correct:", "score:")), /called `score`/);
  });
});

describe("rows for verl", () => {
  it("are messages with what the reward reads, of tasks that train and of others", async () => {
    const { out } = await project(verlConfigs["grpo"]!);
    const train = [...tableRows(join(out, "train.parquet"))];
    const held = [...tableRows(join(out, "val.parquet"))];
    assert.equal(train.length, 24);
    const [first] = train;
    const own = JSON.parse(String(Object(first?.["extra_info"])["gradus"]));
    assert.deepEqual(first?.["prompt"], [{ role: "user", content: own.prompt }]);
    assert.equal(first["data_source"], "countdown");
    assert.deepEqual(Object.keys(own.data), ["numbers", "target"]);
    const trained = new Set(train.map(({ prompt }) => JSON.stringify(prompt)));
    assert.ok(held.length > 0);
    assert.ok(held.every(({ prompt }) => !trained.has(JSON.stringify(prompt))));
    assert.equal(Object(held[0]?.["extra_info"])["split"], "val");
    const { data, actor_rollout_ref } = parse(read(out, "config.yaml"));
    assert.equal(data.max_prompt_length, 44);
    // A tiny model has no chat template: verl renders the text alone.
    assert.match(actor_rollout_ref.model.custom_chat_template, /message\['content'\]/);
  });

  it("have the system message of a chat", async () => {
    const text = verlConfigs["grpo"]!.replace("max_tokens: 20", "max_tokens: 20, chat: true, system: Think.");
    const { out } = await project(text);
    const [first] = [...tableRows(join(out, "train.parquet"))];
    assert.deepEqual(Object(first)["prompt"][0], { role: "system", content: "Think." });
    assert.equal(parse(read(out, "config.yaml")).actor_rollout_ref.model.custom_chat_template, undefined);
  });
});

describe("launch.sh for verl", () => {
  /** A Python that says what it is asked. */
  async function started(): Promise<(words: readonly string[]) => ReturnType<typeof spawnSync>> {
    const { out } = await project(verlConfigs["grpo"]!);
    const python = join(out, "..", "python");
    writeFileSync(
      python,
      `#!/bin/sh\nprintf '%s\\n' "$@" "GRADUS_ROLLOUTS=$GRADUS_ROLLOUTS" "LOG=$VERL_FILE_LOGGER_PATH"\nexit 3\n`,
    );
    chmodSync(python, 0o755);
    return (words) =>
      spawnSync("sh", [join(out, "launch.sh"), ...words], {
        cwd: "/",
        encoding: "utf8",
        env: { ...process.env, GRADUS_PYTHON: python },
      });
  }

  it("starts main_ppo with the project's folder, and ends with its exit code", async () => {
    const start = await started();
    const { status, stdout } = start(["trainer.nnodes=2"]);
    assert.equal(status, 3);
    const lines = String(stdout).trim().split("\n");
    const [, folder = ""] = /^project='(.+)'$/m.exec(String(stdout)) ?? [];
    assert.match(folder, /\/the project$/);
    assert.deepEqual(lines.slice(0, 8), [
      ...["-m", "verl.trainer.main_ppo", "--config-path", folder, "--config-name", "config"],
      ...[`project='${folder}'`, "trainer.resume_mode=disable"],
    ]);
    assert.ok(lines.includes("trainer.nnodes=2"));
    assert.ok(lines.includes(`GRADUS_ROLLOUTS=${folder}/out/gradus-rollouts`));
    assert.match(lines.at(-1) ?? "", /^LOG=.+\/out\/gradus-rollouts\/metrics-verl-\d{13}\.jsonl$/);
    assert.deepEqual(readdirSync(join(folder, "out")), ["gradus-rollouts"]);
  });

  it("goes on from checkpoints where it is asked to, and refuses them where it is not", async () => {
    const start = await started();
    const folder = /^project='(.+)'$/m.exec(String(start([]).stdout))?.[1] ?? "";
    const place = join(folder, "out", "checkpoints");
    mkdirSync(place);
    writeFileSync(join(place, "latest_checkpointed_iteration.txt"), "2");
    const refused = start([]);
    assert.equal(refused.status, 1);
    assert.match(String(refused.stderr), /add --resume/);
    assert.match(String(start(["--resume"]).stdout), /^trainer\.resume_mode=auto$/m);
    rmSync(place, { recursive: true });
    assert.match(String(start(["--resume"]).stdout), /^trainer\.resume_mode=auto$/m);
  });
});
