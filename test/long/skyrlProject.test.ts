/**
 * What `gradus export --to skyrl` writes, read and checked by SkyRL itself: its config classes, its validation, its dataset, its
 * generator with our environment, and its own start in a process of Ray's, up to the GPUs that are not there. Wants a Python with
 * skyrl, skyrl-gym and what they import on a CPU in GRADUS_PEER_PYTHON.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { before, describe, it } from "node:test";
import { stringify } from "yaml";
import { z } from "zod";
import { UserError } from "../../shared/lib/errors.ts";
import { needs } from "../../server/config/needs.ts";
import type { RunConfig } from "../../server/core/config/runConfig.ts";
import { nested } from "../../server/frameworks/lens/settings.ts";
import { skyrlPlan, type SkyrlPlan } from "../../server/frameworks/trainers/skyrl/lens/plan.ts";
import { tableRows } from "../../server/lib/datasets/tables.ts";
import { loadConfig } from "../../server/rules/load.ts";
import { gradus } from "../support/cli.ts";
import { skyrlConfigs } from "../support/skyrlConfigs.ts";
import { temporary } from "../unit/support.ts";

const python = process.env["GRADUS_PEER_PYTHON"] ?? "";
const modules = "skyrl_gym, skyrl.train.entrypoints.main_base";
const has = python !== "" && spawnSync(python, ["-c", `import ${modules}`]).status === 0;
const options = { skip: has ? false : "GRADUS_PEER_PYTHON names no Python with skyrl and what it imports" };

/** Room for the longest answers. */
const rest =
  "name: there\nmodel: { base: tiny, context: 1000000 }\ntasks: [{ env: countdown }]\nreward: { terms: { correct: equation } }\nsteps: 10\n";

/** Folders with a config.yaml through the settings of train.py and SkyRL's own check of them, with the words after `--`. */
const checks = `
import json, sys
split = sys.argv.index("--")
sys.path.insert(0, sys.argv[1])
import train
from pathlib import Path
from skyrl.train.utils import validate_cfg

found = {}
for folder in sys.argv[2:split]:
    train.HERE = Path(folder)
    try:
        cfg = train.settings(sys.argv[split + 1 :])
        validate_cfg(cfg)
        found[folder] = {"error": None, "loss": cfg.trainer.algorithm.policy_loss_type, "gpus": cfg.generator.inference_engine.num_engines}
    except Exception as error:
        found[folder] = {"error": "%s: %s" % (type(error).__name__, error), "loss": "", "gpus": 0}
print("found " + json.dumps(found))
`;

const checkSchema = z.record(
  z.string(),
  z.object({ error: z.string().nullable(), loss: z.string(), gpus: z.number() }),
);

/** @param project the folder with train.py */
function checked(
  project: string,
  folders: readonly string[],
  words: readonly string[] = [],
): z.output<typeof checkSchema> {
  const { status, stdout, stderr } = spawnSync(python, ["-c", checks, project, ...folders, "--", ...words], {
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  assert.equal(status, 0, stderr.slice(-3000));
  return checkSchema.parse(JSON.parse(/^found (.+)$/m.exec(stdout)?.[1] ?? ""));
}

describe("projects for SkyRL", options, () => {
  const projects = new Map<string, string>();
  before(async () => {
    const folder = temporary();
    for (const [name, text] of Object.entries(skyrlConfigs)) {
      writeFileSync(join(folder, `${name}.gradus.yaml`), text);
      const { code, stderr } = await gradus(
        ["export", `${name}.gradus.yaml`, "--to", "skyrl", "--out", `the ${name}`],
        folder,
      );
      assert.equal(code, 0, stderr);
      projects.set(name, join(folder, `the ${name}`));
    }
  });

  it("are accepted by SkyRL's config classes and validation", () => {
    const found = checked(projects.get("grpo")!, [...projects.values()]);
    for (const [name, folder] of projects) assert.equal(found[folder]?.error, null, name);
    assert.equal(found[projects.get("band")!]?.loss, "rollout_is");
    // One setting says how many GPUs there are.
    assert.equal(found[projects.get("lora")!]?.gpus, 2);
  });

  it("are refused where a setting is wrong", () => {
    const folder = projects.get("grpo")!;
    const error = (word: string): string | null => checked(folder, [folder], [word])[folder]!.error;
    assert.match(error("trainer.algorithm.loss_reduction=mean") ?? "", /loss_reduction/);
    assert.match(error("trainer.policy_mini_batch_size=3") ?? "", /divisible/);
    assert.match(error("trainer.nothing=3") ?? "", /nothing/);
  });

  it("have rows that SkyRL's dataset and trainer read in our order, and responses that its generator scores as we do", () => {
    const folder = projects.get("dapo")!;
    const place = temporary();
    const script = join(place, "generate.py");
    writeFileSync(script, generate);
    const { status, stdout, stderr } = spawnSync(python, [script, folder], {
      encoding: "utf8",
      env: { ...process.env, GRADUS_ROLLOUTS: place },
      maxBuffer: 1 << 28,
    });
    assert.equal(status, 0, stderr.slice(-3000));
    const { prompts, rendered, held, rewards, metrics, steps, resumed } = JSON.parse(
      /^found (.+)$/m.exec(stdout)?.[1] ?? "",
    );
    const rows = [...tableRows(join(folder, "train.parquet"))];
    const own = rows.map(({ gradus: text }) => JSON.parse(String(text)).prompt);
    assert.deepEqual(prompts, own);
    assert.deepEqual(resumed, own.slice(8, 16));
    assert.equal(rendered, own[0]);
    assert.equal(held, [...tableRows(join(folder, "val.parquet"))].length);
    assert.equal(steps, 3);
    // Of 20 tokens it has 6, of which the last ends it; the answer is no task's.
    assert.equal(metrics["environment/short"], 0.7);
    assert.equal(metrics["environment/correct"], 0);
    assert.deepEqual(new Set(rewards), new Set([metrics["environment/score"]]));
    assert.ok(Math.abs(rewards[0] - 0.07) < 1e-12);
    const lines = readdirSync(place)
      .filter((name) => name.startsWith("rollouts-"))
      .flatMap((name) => readFileSync(join(place, name), "utf8").trim().split("\n"))
      .map((line) => JSON.parse(line));
    assert.equal(lines.length, 2 * 8 * 4);
    assert.deepEqual(
      new Set(lines.map(({ step, response, use }) => `${step} ${response} ${use}`)),
      new Set(["2 3*5+7 train"]),
    );
    const [logged] = readdirSync(place).filter((name) => /^metrics-skyrl-\d+\.jsonl$/.test(name));
    const line = JSON.parse(readFileSync(join(place, logged!), "utf8"));
    assert.deepEqual([line.step, line.data], [2, { "policy/grad_norm": 1.5 }]);
  });

  it("start in a process of Ray's up to the GPUs, and go on from checkpoints only where it is asked", () => {
    const folder = projects.get("grpo")!;
    const start = (...words: string[]): ReturnType<typeof spawnSync> =>
      spawnSync("sh", [join(folder, "launch.sh"), ...words], {
        cwd: "/",
        encoding: "utf8",
        env: { ...process.env, GRADUS_PYTHON: python, SKYRL_RAY_PG_TIMEOUT_IN_S: "1" },
        maxBuffer: 1 << 28,
      });
    const { status, stderr } = start();
    assert.equal(status, 1);
    assert.match(String(stderr), /Experiment\(cfg\)[\s\S]*Failed to create placement group/);
    const place = join(folder, "out", "checkpoints");
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, "latest_ckpt_global_step.txt"), "2");
    assert.match(String(start().stderr), /add --resume/);
    assert.match(String(start("--resume", "trainer.train_batch_size=7").stderr), /divisible/);
    rmSync(place, { recursive: true });
  });

  it("are accepted of every preset that trains by rewards", () => {
    const folder = temporary();
    const names = readdirSync("presets").filter((name) => name.endsWith(".yaml"));
    const model = join(projects.get("grpo")!, "model");
    const folders = names.flatMap((file) => {
      const name = basename(file, ".yaml");
      const { config } = loadConfig(join(folder, `${name}.gradus.yaml`), {
        text: `extends: ${name}\n${rest}`,
        recorded: true,
        needs: needs.written,
        set: ["engine.use=skyrl"],
      });
      const plan = config === undefined ? undefined : planOf(config);
      if (plan === undefined) return [];
      mkdirSync(join(folder, name));
      const whole = {
        ...plan.settings,
        "trainer.policy.model.path": model,
        ...(plan.estimator === "gae" ? { "trainer.critic.model.path": model } : {}),
      };
      const text = stringify({ project: ".", ...nested(Object.entries(whole)) });
      writeFileSync(join(folder, name, "config.yaml"), text);
      return [join(folder, name)];
    });
    assert.ok(folders.length > 200, `${folders.length} of ${names.length}`);
    const errors = Object.entries(checked(projects.get("grpo")!, folders)).flatMap(([path, { error }]) =>
      error === null ? [] : [`${basename(path)}: ${error}`],
    );
    assert.deepEqual(errors, []);
  });
});

/** undefined: nothing of it trains by rewards. */
function planOf(config: RunConfig): SkyrlPlan | undefined {
  try {
    return skyrlPlan(config);
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

/** A step's responses by SkyRL's generator. Of SkyRL only the engine is stood in for: it answers with the same tokens. */
const generate = `
import asyncio, json, sys
folder = sys.argv[1]
sys.path.insert(0, folder)

if __name__ == "__main__":
    import experiment, train
    from skyrl.backends.skyrl_train.inference_servers.engine_utils import get_sampling_params_for_backend
    from skyrl.train.generators.utils import prepare_generator_input
    from skyrl.train.utils import validate_cfg

    # Both ask Ray for its GPUs.
    cfg = train.settings(["generator.inference_engine.enable_ray_prometheus_stats=false", "trainer.enable_ray_gpu_monitor=false"])
    validate_cfg(cfg)

    class OnCpu(experiment.Experiment):
        def get_colocate_pg(self, timeout=0):
            return None

    class Engine:
        weight_version = 1

        async def generate(self, given, model=None):
            ids = [tokenizer("3*5+7", add_special_tokens=False).input_ids + [tokenizer.eos_token_id] for _ in given["prompt_token_ids"]]
            logprobs = [[-0.1] * len(one) for one in ids]
            return {"responses": tokenizer.batch_decode(ids), "response_ids": ids, "stop_reasons": ["stop"] * len(ids), "response_logprobs": logprobs}

        async def finish_session(self, session):
            pass

    own = OnCpu(cfg)
    tokenizer = own.tokenizer
    generator = own.get_generator(cfg, tokenizer, Engine())
    made = lambda: own.get_trainer(cfg=cfg, tracker=None, tokenizer=tokenizer, train_dataset=own.train_dataset, eval_dataset=own.eval_dataset, inference_engine_client=Engine(), generator=generator, colocate_pg=None)
    trainer, later = made(), made()
    of = lambda batch: [json.loads(one["env_extras"]["gradus"])["prompt"] for one in batch]
    batches = []
    for batch in trainer.train_dataloader:
        batches.append(batch)
        if len(batches) == 1:
            later.train_dataloader.load_state_dict(trainer.train_dataloader.state_dict())
    resumed = of(next(iter(later.train_dataloader)))
    trainer.global_step = 2
    trainer._fire("on_step_start")
    params = get_sampling_params_for_backend("vllm", cfg.generator.sampling_params)
    given, uids = prepare_generator_input(batches[0], cfg.generator.n_samples_per_prompt, params, cfg.environment.env_class, "train", 2)
    output = asyncio.run(generator.generate(given))
    trainer._fire("on_log", logs={"policy/grad_norm": 1.5, "text": "left out"})
    print("found " + json.dumps({
        "prompts": [one for batch in batches for one in of(batch)],
        "resumed": resumed,
        "rendered": tokenizer.decode(output["prompt_token_ids"][0]),
        "held": len(own.eval_dataset),
        "rewards": [sum(one) for one in output["rewards"]],
        "metrics": output["rollout_metrics"],
        "steps": trainer.total_training_steps,
    }))
`;
