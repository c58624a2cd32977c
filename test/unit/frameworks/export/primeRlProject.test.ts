/** What `gradus export --to prime-rl` writes: its settings, its tasks, and how it is started. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { parse } from "smol-toml";
import { exporters, writeProject, type Exported } from "../../../../server/frameworks/trainers/exporters.ts";
import { objectOf, type Json, type JsonObject } from "../../../../shared/lib/json.ts";
import { primeConfigs } from "../../../support/primeConfigs.ts";
import { configOf, temporary } from "../../support.ts";

const exporter = exporters["prime-rl"];

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
const rows = (out: string, split: string): JsonObject[] =>
  read(out, `${split}.jsonl`)
    .trim()
    .split("\n")
    .map((line): JsonObject => JSON.parse(line));

/** The value at a path of rl.toml; a number is a place in a list. */
function at(out: string, path: string): Json | undefined {
  let value: Json | undefined = JSON.parse(JSON.stringify(parse(read(out, "rl.toml"))));
  for (const key of path.split(".")) value = Array.isArray(value) ? value[Number(key)] : objectOf(value)[key];
  return value;
}

describe("rl.toml", () => {
  for (const [name, text] of Object.entries(primeConfigs))
    it(`of ${name} is the config's algorithm`, async () => {
      const { exported } = await project(text);
      assert.deepEqual(
        exported.missing.filter(({ changes }) => changes === "algorithm"),
        [],
      );
    });

  it("says what prime-rl's own loss, algorithm and optimiser are", async () => {
    const { out, exported } = await project(primeConfigs["dppo"]!);
    assert.deepEqual(at(out, "trainer.loss"), {
      ...{ type: "default", dppo_mask_low: 0.1, dppo_mask_high: 0.3, adv_tau: 0.5, kl_tau: 0.005 },
    });
    assert.deepEqual(at(out, "trainer.optim"), {
      ...{ type: "adamw", betas2: 0.95, lr: 1e-5, weight_decay: 0.1, max_norm: "None" },
    });
    assert.deepEqual(at(out, "trainer.scheduler"), { type: "cosine", warmup_steps: 0, min_lr: 1e-6 });
    assert.equal(at(out, "orchestrator.train.filter_zero_advantages"), true);
    assert.match(read(out, "curriculum.py"), /^FILTERED = True$/m);
    for (const own of ["gradus_loss.py", "gradus_algorithm.py"]) assert.ok(!existsSync(join(out, own)), own);
    assert.deepEqual(exported.needs.divides, [
      { whole: "orchestrator.batch_size", part: "orchestrator.group_size", of: 16, by: 4 },
    ]);
  });

  it("has what prime-rl does not do from the project's own files", async () => {
    const { out } = await project(primeConfigs["grpo"]!);
    assert.deepEqual(at(out, "trainer.loss"), {
      type: "custom",
      import_path: "gradus_loss.clipped",
      kwargs: { low: 0.2, high: 0.2, ratio: "token", adv_tau: 1, kl_tau: 0 },
    });
    assert.deepEqual(at(out, "orchestrator.train.source.0.env.taskset"), {
      id: "gradus_tasks",
      algorithm: { scale: "group_std", epsilon: 1e-4, population: false, aggregate: "sequence_mean" },
    });
    assert.equal(at(out, "orchestrator.algo.type"), "grpo");
    assert.equal(at(out, "orchestrator.eval.source.0.env.taskset.split"), "val");
    for (const own of ["gradus_loss.py", "gradus_algorithm.py"]) assert.ok(existsSync(join(out, own)), own);
  });

  it("keeps rollouts to the weights that they train, and begins all of a step at once", async () => {
    const { out } = await project(primeConfigs["grpo"]!);
    assert.equal(at(out, "orchestrator.max_off_policy_steps"), 0);
    assert.deepEqual(at(out, "orchestrator.concurrency"), {
      ...{ initial_inflight: 160, min_inflight: 160, max_inflight: 160 },
    });
    assert.match(read(out, "curriculum.py"), /^PROMPTS = 4$/m);
  });

  it("samples as the config says", async () => {
    const { out } = await project(primeConfigs["dapo"]!);
    assert.deepEqual(at(out, "orchestrator.train.sampling"), {
      ...{ max_completion_tokens: 20, temperature: 0.7, extra_body: { top_k: 20, min_p: 0.05 } },
    });
    assert.equal(at(out, "orchestrator.train.source.0.env.agent.sampling.top_p"), 0.9);
    assert.deepEqual(Object.keys(objectOf(at(out, "orchestrator.train.source.0.curriculum.gates"))), [
      "nonzero_variance",
    ]);
    const narrowed = await project(primeConfigs["dapo"]!.replace("anchor: sampled, ", ""));
    assert.deepEqual(
      narrowed.exported.missing.flatMap(({ key, changes }) => (changes === "algorithm" ? [key] : [])),
      ["objective.anchor"],
    );
  });

  it("puts what `engine.args` says last, nested or dotted, and counts its GPUs", async () => {
    const { out, exported } = await project(primeConfigs["lora"]!);
    assert.equal(at(out, "inference.vllm.gpu_memory_utilization"), 0.4);
    const { target_modules: modules, ...lora } = objectOf(at(out, "trainer.model.lora"));
    assert.deepEqual(lora, { rank: 8, alpha: 16, dropout: 0.1 });
    assert.equal(Object(modules)[0], "q_proj");
    assert.equal(exported.needs.gpus, 3);
  });

  it("says what there is no counterpart for", async () => {
    const { exported } = await project(
      primeConfigs["grpo"]!.replace("steps: 6", "steps: 6\nupdate: { mini_batch: 8, epochs: 2 }").replace(
        "seed: 7",
        "seed: 7\nkl: [{ model: reference }]\nobjective: { entropy: 0.01 }\nmask: [overlong]",
      ),
    );
    assert.deepEqual(
      exported.missing.flatMap(({ key, changes }) => (changes === "algorithm" ? [key] : [])),
      ["update.mini_batch", "update.epochs", "kl.0", "objective.entropy", "mask.overlong"],
    );
  });
});

describe("tasks for prime-rl", () => {
  it("are those of all steps as they are drawn, and others that are held out", async () => {
    const { out } = await project(primeConfigs["grpo"]!);
    const train = rows(out, "train");
    assert.equal(train.length, 24);
    assert.deepEqual(Object.keys(train[0]!), ["id", "prompt", "answer", "source", "arm", "data"]);
    const trained = new Set(train.map(({ id }) => id));
    const held = rows(out, "val");
    assert.ok(held.length > 0 && held.every(({ id }) => !trained.has(id!)));
    // A tiny model has no chat template.
    for (const key of ["tokenizer.chat_template", "orchestrator.renderer.chat_template"])
      assert.match(String(at(out, key)), /message\['content'\]/);
    assert.equal(at(out, "orchestrator.renderer.name"), "default");
  });

  it("have the system message of a chat", async () => {
    const text = primeConfigs["grpo"]!.replace(
      "max_tokens: 20",
      "max_tokens: 20, chat: true, system: Think.",
    );
    const { out } = await project(text);
    assert.match(read(out, "gradus_tasks.py"), /^SYSTEM = "Think\."$/m);
    assert.equal(at(out, "orchestrator.renderer.chat_template"), undefined);
  });

  it("come from the service where the curriculum observes", async () => {
    const text = `${primeConfigs["grpo"]!}curriculum: { arms: difficulty, sampler: { use: boltzmann } }\n`;
    const { out, exported } = await project(text);
    assert.ok(exported.needs.node && existsSync(join(out, "service", "service.mjs")));
    assert.match(read(out, "gradus_tasks.py"), /^SERVICE = True$/m);
    assert.deepEqual(
      exported.missing.filter(({ changes }) => changes === "algorithm"),
      [],
    );
    assert.match(read(out, "MISSING.md"), /GRADUS_SERVICE=off trains on train\.jsonl/);
    assert.match(read((await project(primeConfigs["grpo"]!)).out, "gradus_tasks.py"), /^SERVICE = False$/m);
  });
});

describe("launch.sh for prime-rl", () => {
  /** A Python that says what it is asked, below a folder of its own. */
  async function started() {
    const { out } = await project(primeConfigs["grpo"]!);
    const bin = join(out, "..", "bin");
    mkdirSync(bin);
    const python = join(bin, "python");
    writeFileSync(python, `#!/bin/sh\nprintf '%s\\n' "$@" "PATH=$PATH" "PYTHONPATH=$PYTHONPATH"\nexit 3\n`);
    chmodSync(python, 0o755);
    const start = (words: readonly string[]) =>
      spawnSync("sh", [join(out, "launch.sh"), ...words], {
        cwd: "/",
        encoding: "utf8",
        env: { ...process.env, GRADUS_PYTHON: python, PYTHONPATH: "/other" },
      });
    return { out, bin, start };
  }

  it("starts prime-rl where it finds its programs and the tasks, and ends with its exit code", async () => {
    const { bin, start } = await started();
    const { status, stdout } = start(["--max-steps", "2"]);
    assert.equal(status, 3);
    const lines = stdout.trim().split("\n");
    assert.deepEqual(lines.slice(0, 6), [
      "-m",
      "prime_rl.entrypoints.rl",
      "@",
      "rl.toml",
      "--max-steps",
      "2",
    ]);
    assert.ok(lines.find((line) => line.startsWith("PATH="))?.startsWith(`PATH=${bin}:`));
    assert.match(lines.at(-1) ?? "", /^PYTHONPATH=\/.+\/the project:\/other$/);
  });

  it("goes on from the last whole checkpoint where it is asked to, and refuses them where it is not", async () => {
    const { out, start } = await started();
    assert.match(start(["--resume"]).stdout, /^--clean$/m, "there is none: it begins anew");
    const save = (step: number, ...parts: string[]): void => {
      for (const part of parts) {
        const file = join(out, "out", "checkpoints", `step_${step}`, part);
        mkdirSync(join(file, ".."), { recursive: true });
        writeFileSync(file, "");
      }
    };
    save(9, "trainer/.metadata", "orchestrator/progress.pt");
    save(10, "trainer/.metadata", "orchestrator/progress.pt");
    save(11, "orchestrator/progress.pt");
    const refused = start([]);
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, /add --resume/);
    assert.match(start(["--resume", "--max-steps", "12"]).stdout, /^--resume\.step\n10\n--max-steps\n12$/m);
  });
});
