/**
 * What `gradus export --to verl` writes, composed and checked by verl itself, and scored by its reward manager. Nothing trains,
 * for that wants GPUs. Wants a Python with verl, hydra, ray, torch and tensordict in GRADUS_PEER_PYTHON.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { before, describe, it } from "node:test";
import { parse, stringify } from "yaml";
import { z } from "zod";
import { needs } from "../../server/config/needs.ts";
import { nested } from "../../server/frameworks/lens/settings.ts";
import { verlPlan } from "../../server/frameworks/trainers/verl/lens/plan.ts";
import { loadConfig } from "../../server/rules/load.ts";
import { gradus } from "../support/cli.ts";
import { verlConfigs } from "../support/verlConfigs.ts";
import { temporary } from "../unit/support.ts";

const python = process.env["GRADUS_PEER_PYTHON"] ?? "";
const modules = "verl.utils.config, verl.trainer.main_ppo, verl.experimental.reward_loop";
const has = python !== "" && spawnSync(python, ["-c", `import ${modules}`]).status === 0;
const options = { skip: has ? false : "GRADUS_PEER_PYTHON names no Python with verl and what it imports" };

/** Room for the longest answers. */
const rest =
  "name: there\nmodel: { base: tiny, context: 1000000 }\ntasks: [{ env: countdown }]\nreward: { terms: { correct: equation } }\nsteps: 10\n";

/** verl's own checks of each folder that is named, with the settings of the words after `--`. */
const checks = `
import json, sys
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from verl.trainer.ppo.utils import need_critic, need_reference_policy
from verl.utils.config import omega_conf_to_dataclass, validate_config

split = sys.argv.index("--")
found = {}
for folder in sys.argv[1:split]:
    try:
        with initialize_config_dir(folder, version_base=None):
            config = compose("config", overrides=["project='%s'" % folder] + sys.argv[split + 1 :])
        critic, reference = need_critic(config), need_reference_policy(config)
        validate_config(config, reference, critic)
        OmegaConf.resolve(config)
        omega_conf_to_dataclass(config.algorithm)
        omega_conf_to_dataclass(config.actor_rollout_ref.rollout)
        found[folder] = {"critic": critic, "reference": reference, "error": None}
    except Exception as error:
        found[folder] = {"critic": False, "reference": False, "error": "%s: %s" % (type(error).__name__, error)}
print("found " + json.dumps(found))
`;

const checkSchema = z.record(
  z.string(),
  z.object({ critic: z.boolean(), reference: z.boolean(), error: z.string().nullable() }),
);

function checked(folders: readonly string[], words: readonly string[] = []): z.output<typeof checkSchema> {
  const { status, stdout, stderr } = spawnSync(python, ["-c", checks, ...folders, "--", ...words], {
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  assert.equal(status, 0, stderr.slice(-3000));
  return checkSchema.parse(JSON.parse(/^found (.+)$/m.exec(stdout)?.[1] ?? ""));
}

describe("projects for verl", options, () => {
  const projects = new Map<string, string>();
  before(async () => {
    const folder = temporary();
    for (const [name, text] of Object.entries(verlConfigs)) {
      writeFileSync(join(folder, `${name}.gradus.yaml`), text);
      const { code, stderr } = await gradus(
        ["export", `${name}.gradus.yaml`, "--to", "verl", "--out", `the ${name}`],
        folder,
      );
      assert.equal(code, 0, stderr);
      projects.set(name, join(folder, `the ${name}`));
    }
  });

  it("are accepted by verl's validation", () => {
    const found = checked([...projects.values()]);
    for (const [name, folder] of projects) {
      const { error, critic, reference } = found[folder]!;
      // The last of the checks asks vLLM for the ranks that it has, after all others have passed.
      if (name === "lora" && error !== null) {
        assert.match(error, /^ValueError: vllm version None not supported/);
        continue;
      }
      assert.equal(error, null, `${name}: ${String(error)}`);
      assert.equal(critic, name === "ppo", name);
      assert.equal(reference, name === "ppo" || name === "dapo", name);
    }
  });

  it("are refused where a setting is wrong", () => {
    const found = checked([projects.get("grpo")!], ["actor_rollout_ref.actor.loss_agg_mode=mean"]);
    assert.match(Object.values(found)[0]?.error ?? "", /loss_agg_mode/);
  });

  it("are composed by main_ppo as launch.sh starts it", () => {
    const folder = projects.get("grpo")!;
    const { status, stdout, stderr } = spawnSync(
      "sh",
      [join(folder, "launch.sh"), "--resume", "--cfg", "job"],
      {
        encoding: "utf8",
        env: { ...process.env, GRADUS_PYTHON: python },
        maxBuffer: 1 << 28,
      },
    );
    assert.equal(status, 0, stderr.slice(-3000));
    const { project, trainer, ray_kwargs, actor_rollout_ref } = parse(stdout);
    assert.equal(project, folder);
    assert.equal(trainer.resume_mode, "auto");
    assert.equal(trainer.total_training_steps, 3);
    assert.equal(actor_rollout_ref.actor.ppo_mini_batch_size, 4);
    const { GRADUS_ROLLOUTS: rollouts } = ray_kwargs.ray_init.runtime_env.env_vars;
    assert.equal(rollouts, join(folder, "out", "gradus-rollouts"));
  });

  it("are scored by verl's reward manager, and recorded", () => {
    const folder = projects.get("gdpo")!;
    const place = temporary();
    const { status, stdout, stderr } = spawnSync(python, ["-c", manager, folder], {
      encoding: "utf8",
      env: { ...process.env, GRADUS_ROLLOUTS: place },
    });
    assert.equal(status, 0, stderr.slice(-3000));
    const { prompt, asked, result } = JSON.parse(/^found (.+)$/m.exec(stdout)?.[1] ?? "");
    assert.equal(prompt, asked);
    const { short, correct, score } = result.reward_extra_info;
    // Of 20 tokens it has 5.
    assert.equal(short, 0.75);
    assert.equal(correct, 0);
    assert.equal(score, correct + 0.1 * short);
    assert.equal(result.reward_score, score);
    const lines = readdirSync(place).flatMap((name) =>
      readFileSync(join(place, name), "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    );
    assert.deepEqual(
      lines.map(({ step, rewards }) => [step, rewards]),
      [
        [7, { correct: 0 }],
        [7, { short: 0.75 }],
      ],
    );
  });

  it("are accepted of every preset that comes back from verl", () => {
    const folder = temporary();
    const listed = readFileSync("test/fixtures/frameworks/notInVerl.txt", "utf8").split("\n");
    const others = new Set(listed.map((line) => `${line.split(":")[0]}.yaml`));
    const names = readdirSync("presets").filter((name) => name.endsWith(".yaml") && !others.has(name));
    const model = join(projects.get("grpo")!, "model");
    const folders = names.map((file) => {
      const name = basename(file, ".yaml");
      const { config } = loadConfig(join(folder, `${name}.gradus.yaml`), {
        text: `extends: ${name}\n${rest}`,
        recorded: true,
        needs: needs.written,
        set: ["engine.use=verl"],
      });
      assert.ok(config !== undefined, name);
      mkdirSync(join(folder, name));
      const settings = { ...verlPlan(config).settings, "actor_rollout_ref.model.path": model };
      const hydra = {
        hydra: { searchpath: ["pkg://verl.trainer.config"] },
        defaults: ["ppo_trainer", "_self_"],
      };
      const text = stringify({ ...hydra, project: ".", ...nested(Object.entries(settings)) });
      writeFileSync(join(folder, name, "config.yaml"), text);
      return join(folder, name);
    });
    assert.ok(folders.length > 50);
    const errors = Object.entries(checked(folders)).flatMap(([path, { error }]) =>
      error === null ? [] : [`${basename(path)}: ${error}`],
    );
    assert.deepEqual(errors, []);
  });
});

/** A response to the first row through the manager that the config names. */
const manager = `
import asyncio, json, sys
import numpy, torch
import pyarrow.parquet as parquet
from hydra import compose, initialize_config_dir
from transformers import AutoTokenizer
from verl.protocol import DataProto
from verl.trainer.ppo.reward import load_reward_manager

folder = sys.argv[1]
with initialize_config_dir(folder, version_base=None):
    config = compose("config", overrides=["project='%s'" % folder])
tokenizer = AutoTokenizer.from_pretrained(config.actor_rollout_ref.model.path)
row = parquet.read_table(config.data.train_files).to_pylist()[0]
tokenizer.chat_template = config.actor_rollout_ref.model.custom_chat_template
prompt = tokenizer.apply_chat_template(row["prompt"], tokenize=False, add_generation_prompt=True)
ids = tokenizer("3*5+7", add_special_tokens=False).input_ids
padded = ids + [tokenizer.pad_token_id] * 3
tensors = {
    "responses": torch.tensor([padded]),
    "attention_mask": torch.tensor([[1] * 4 + [1] * len(ids) + [0] * 3]),
}
columns = {name: numpy.array([value], dtype=object) for name, value in row.items()}
columns.update({"global_steps": numpy.array([7]), "__num_turns__": numpy.array([2])})
loop = asyncio.new_event_loop()
asyncio.set_event_loop(loop)
reward = load_reward_manager(config, tokenizer)
reward.loop = loop
result = loop.run_until_complete(reward.run_single(DataProto.from_dict(tensors=tensors, non_tensors=columns)))
print("found " + json.dumps({"prompt": prompt, "asked": row["prompt"][0]["content"], "result": result}))
`;
