/** What `gradus export --to skyrl` writes: keys that SkyRL has, its rows, and how it is started. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { flatKeys } from "../../../../server/frameworks/lens/engineKeys.ts";
import { exporters, writeProject, type Exported } from "../../../../server/frameworks/trainers/exporters.ts";
import { skyrlPlan, type SkyrlPlan } from "../../../../server/frameworks/trainers/skyrl/lens/plan.ts";
import { flat } from "../../../../server/frameworks/text/values.ts";
import { tableRows } from "../../../../server/lib/datasets/tables.ts";
import { HookFeed } from "../../../../server/store/imported/feeds/hook/hookFeed.ts";
import { skyrlConfigs } from "../../../support/skyrlConfigs.ts";
import { configOf, temporary } from "../../support.ts";

const exporter = exporters.skyrl;

interface Project {
  readonly out: string;
  readonly exported: Exported;
}

async function project(text: string): Promise<Project> {
  const folder = temporary();
  const out = join(folder, "the project");
  const config = configOf(text, folder);
  const request = { config, text, folder: out, python: "python3", launch: undefined, version: "0.0.0" };
  return { out, exported: await writeProject(exporter, request) };
}

const read = (...path: string[]): string => readFileSync(join(...path), "utf8");

describe("config.yaml for SkyRL", () => {
  for (const [name, text] of Object.entries(skyrlConfigs))
    it(`of ${name} has keys of SkyRL, and is the config's algorithm`, async () => {
      const { out, exported } = await project(text);
      const { project: here, ...settings } = parse(read(out, "config.yaml"));
      assert.equal(here, ".");
      const known = flatKeys("skyrl");
      assert.deepEqual(
        flat(settings)
          .map(([key]) => key)
          .filter((key) => !known.has(key)),
        [],
      );
      assert.deepEqual(
        exported.missing.filter(({ changes }) => changes === "algorithm"),
        [],
      );
    });

  it("puts what `engine.args` says last, nested or dotted, and counts its GPUs", async () => {
    const { out, exported } = await project(skyrlConfigs["lora"]!);
    const { trainer, generator } = parse(read(out, "config.yaml"));
    assert.equal(trainer.placement.policy_num_gpus_per_node, 2);
    assert.equal(trainer.placement.ref_num_gpus_per_node, "${trainer.placement.policy_num_gpus_per_node}");
    assert.equal(generator.inference_engine.gpu_memory_utilization, 0.4);
    assert.deepEqual(trainer.policy.model.lora.target_modules.slice(0, 2), ["q_proj", "k_proj"]);
    assert.deepEqual(exported.needs.divides, [
      { whole: "trainer.train_batch_size", part: "trainer.policy_mini_batch_size", of: 8, by: 8 },
      {
        whole: "trainer.policy_mini_batch_size * generator.n_samples_per_prompt",
        part: "GPUs",
        of: 32,
        by: 2,
      },
    ]);
    assert.equal(exported.needs.gpus, 2);
    assert.equal(exported.needs.python, ">=3.11");
  });
});

describe("SkyRL's settings", () => {
  const planOf = (text: string): SkyrlPlan =>
    skyrlPlan(
      configOf(
        `tasks: [{ env: countdown, numbers: [3] }]\nreward: { terms: { correct: equation } }\nsteps: 10\n${text}`,
      ),
    );
  const settings = (text: string): Readonly<Record<string, unknown>> => planOf(text).settings;
  const changed = (text: string): string[] =>
    planOf(text).missing.flatMap(({ key, changes }) => (changes === "algorithm" ? [key] : []));
  const loss = "trainer.algorithm";

  it("switch off what SkyRL has by default, and train at temperature 1", () => {
    const found = settings("rollout: { temperature: 0.6 }\n");
    assert.equal(found[`${loss}.use_kl_loss`], false);
    assert.equal(found[`${loss}.temperature`], 1);
    assert.equal(found["generator.sampling_params.temperature"], 0.6);
    assert.equal(found["trainer.resume_mode"], "none");
  });

  it("count prompts", () => {
    const found = settings("rollout: { prompts: 6, group: 4 }\nupdate: { mini_batch: 12, epochs: 2 }\n");
    assert.deepEqual(
      ["train_batch_size", "policy_mini_batch_size", "update_epochs_per_batch", "max_training_steps"].map(
        (key) => found[`trainer.${key}`],
      ),
      [6, 3, 2, 10],
    );
    assert.deepEqual(changed("rollout: { prompts: 6, group: 4 }\nupdate: { mini_batch: 6 }\n"), [
      "update.mini_batch",
    ]);
  });

  it("are a policy gradient by a weight that is always 1", () => {
    const found = settings("objective: reinforce\n");
    assert.deepEqual(
      [found[`${loss}.policy_loss_type`], found[`${loss}.cispo.cispo_eps_clip_high`]],
      ["cispo", 0],
    );
    assert.deepEqual(changed("objective: reinforce\n"), []);
  });

  it("divide a response's sum by a whole number", () => {
    const length = (aggregate: string): unknown =>
      settings(`rollout: { prompts: 2, group: 4, max_tokens: 30 }\nobjective: { aggregate: ${aggregate} }\n`)[
        `${loss}.max_seq_len`
      ];
    assert.equal(length("sequence_sum_norm"), 30);
    assert.equal(length("sequence_sum"), 1);
    assert.equal(length("{ use: token_budget, budget: 80 }"), 10);
    assert.equal(length("token_mean"), undefined);
    assert.deepEqual(changed("objective: { aggregate: { use: sequence_sum_norm, budget: 30.5 } }\n"), [
      "objective.aggregate.budget",
    ]);
    assert.deepEqual(changed("objective: { aggregate: token_sum }\n"), ["objective.aggregate"]);
  });

  it("average a penalty in the loss, and the entropy, by response", () => {
    const kl = (more: string): string[] => changed(`kl: [{ estimator: k2 }]\n${more}`);
    assert.deepEqual(kl("objective: { aggregate: { use: sequence_mean } }\n"), []);
    assert.deepEqual(kl("objective: { aggregate: token_mean }\n"), ["kl.0.aggregate"]);
    assert.deepEqual(changed("objective: { aggregate: token_mean, entropy: 0.01 }\n"), [
      "objective.entropy.aggregate",
    ]);
    assert.deepEqual(changed("kl: [{ estimator: k2 }, { estimator: k2, place: reward }]\n"), ["kl.1"]);
  });

  it("say what SkyRL computes otherwise", () => {
    assert.deepEqual(changed("objective: { use: clip_cov }\n"), ["objective"]);
    assert.deepEqual(changed("advantage: { scale: none, whiten: tokens }\n"), ["advantage.whiten"]);
    assert.deepEqual(changed("objective: { use: dppo_tv }\n"), ["objective.cap"]);
    assert.deepEqual(
      changed(
        "rollout: { top_p: 0.9 }\nobjective: { correction: [{ use: truncate, level: token, high: 2 }] }\n",
      ),
      ["objective.correction.denominator"],
    );
  });

  it("hand vLLM the penalties that SkyRL itself does not", () => {
    const found = settings("rollout: { repetition_penalty: 1.2, presence_penalty: 0.5 }\n");
    assert.deepEqual(found["generator.sampling_params.additional_kwargs"], {
      repetition_penalty: 1.2,
      presence_penalty: 0.5,
    });
  });

  it("follow the learning rate over updates", () => {
    const course = (text: string): unknown[] => {
      const found = settings(`update: { epochs: 2, optimizer: { ${text} } }\n`);
      const section = "trainer.policy.optimizer_config";
      return [found[`${section}.scheduler`], found[`${section}.num_warmup_steps`]];
    };
    assert.deepEqual(course("warmup: 4, schedule: constant"), [undefined, 4]);
    assert.deepEqual(course("warmup: 4, schedule: linear"), ["linear", 4]);
    assert.deepEqual(course("schedule: cosine"), ["cosine", undefined]);
    assert.deepEqual(changed("update: { optimizer: { schedule: { shape: cosine, floor: 0.1 } } }\n"), [
      "update.optimizer.schedule",
    ]);
  });
});

describe("rows for SkyRL", () => {
  it("are messages with what the environment reads, of tasks that train and of others", async () => {
    const { out } = await project(skyrlConfigs["grpo"]!);
    const train = [...tableRows(join(out, "train.parquet"))];
    const held = [...tableRows(join(out, "val.parquet"))];
    assert.equal(train.length, 24);
    const own = JSON.parse(String(train[0]?.["gradus"]));
    assert.deepEqual(train[0]?.["prompt"], [{ role: "user", content: own.prompt }]);
    assert.equal(train[0]["data_source"], "countdown");
    assert.deepEqual(Object.keys(own.data), ["numbers", "target"]);
    const trained = new Set(train.map(({ prompt }) => JSON.stringify(prompt)));
    assert.ok(held.length > 0 && held.every(({ prompt }) => !trained.has(JSON.stringify(prompt))));
    assert.equal(held[0]?.["split"], "val");
    // A tiny model has no chat template: the text alone is rendered.
    assert.match(read(out, "experiment.py"), /^CHAT_TEMPLATE = ".*message\['content'\].*"$/m);
  });

  it("have the system message of a chat", async () => {
    const text = skyrlConfigs["grpo"]!.replace(
      "max_tokens: 20",
      "max_tokens: 20, chat: true, system: Think.",
    );
    const { out } = await project(text);
    const [first] = [...tableRows(join(out, "train.parquet"))];
    assert.deepEqual(Object(first)["prompt"][0], { role: "system", content: "Think." });
    assert.match(read(out, "experiment.py"), /^CHAT_TEMPLATE = None$/m);
  });
});

describe("launch.sh for SkyRL", () => {
  it("starts train.py by its place, with its words, and ends with its exit code", async () => {
    const { out } = await project(skyrlConfigs["grpo"]!);
    const python = join(out, "..", "python");
    writeFileSync(
      python,
      `#!/bin/sh\nprintf '%s\\n' "$@" "GRADUS_ROLLOUTS=$GRADUS_ROLLOUTS" "$(pwd)"\nexit 3\n`,
    );
    chmodSync(python, 0o755);
    mkdirSync(join(out, "out"));
    writeFileSync(join(out, "out", "stop"), "");
    const { status, stdout } = spawnSync("sh", [join(out, "launch.sh"), "--resume", "trainer.seed=3"], {
      cwd: "/",
      encoding: "utf8",
      env: { ...process.env, GRADUS_PYTHON: python },
    });
    assert.equal(status, 3);
    const lines = stdout.trim().split("\n");
    const here = lines.at(-1) ?? "";
    assert.match(here, /\/the project$/);
    assert.deepEqual(lines.slice(0, 4), [
      `${here}/train.py`,
      "--resume",
      "trainer.seed=3",
      `GRADUS_ROLLOUTS=${here}/out/gradus-rollouts`,
    ]);
    assert.deepEqual(readdirSync(join(out, "out")), []);
  });
});

describe("metrics of SkyRL", () => {
  it("are read under our names", () => {
    const folder = temporary();
    const data = {
      "reward/avg_raw_reward": 0.5,
      "generate/avg_num_tokens": 12,
      "policy/policy_entropy": 0.3,
      "policy/policy_kl": 0.01,
      "policy/grad_norm": 1.5,
      "policy/loss_metrics/clip_ratio": 0.1,
      "timing/step": 9,
    };
    writeFileSync(
      join(folder, `metrics-skyrl-${Date.now()}.jsonl`),
      `${JSON.stringify({ step: 2, time: 1, data })}\n`,
    );
    const [part] = new HookFeed(folder, { config: undefined }).next(true).parts;
    assert.equal(part?.step, 2);
    assert.deepEqual(part.values, {
      "reward/total": 0.5,
      "rollout/length": 12,
      "policy/entropy": 0.3,
      "policy/kl/reference": 0.01,
      "update/grad_norm": 1.5,
      "update/clip_fraction": 0.1,
      "time/total": 9,
    });
  });
});
