/** prime-rl's rl.toml as a config: what people write, what prime-rl has by default, and what an export of ours has. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { UserError } from "../../../../shared/lib/errors.ts";
import { isObject, type Json, type JsonObject } from "../../../../shared/lib/json.ts";
import { needs } from "../../../../server/config/needs.ts";
import { convert, type Converted } from "../../../../server/frameworks/trainers/convert.ts";
import { loadConfig } from "../../../../server/rules/load.ts";
import { temporary } from "../../support.ts";

const folder = temporary();
const file = join(folder, "rl.toml");

const converted = (text: string): Converted => convert(file, text);

/** The converted config, which loads. */
function configOf(text: string): JsonObject {
  const { config } = converted(text);
  const { diagnostics } = loadConfig(join(folder, "a.gradus.yaml"), {
    text: `name: there\n${config}`.replace(/^name: there\n([\s\S]*^name:)/m, "$1"),
    recorded: true,
    needs: needs.written,
  });
  assert.deepEqual(
    diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message),
    [],
  );
  const read: Json = parse(config);
  return isObject(read) ? read : {};
}

const written = `
max_steps = 20
seq_len = 2048

[deployment]
num_train_gpus = 1
num_infer_gpus = 1

[model]
name = "Qwen/Qwen3-0.6B"

[run]
name = "reverse"

[orchestrator]
batch_size = 128
group_size = 16
max_off_policy_steps = 4

[orchestrator.train.sampling]
max_completion_tokens = 128

[[orchestrator.train.source]]
name = "reverse-text"

[orchestrator.train.source.env.taskset]
id = "reverse-text"

[orchestrator.train.source.env.agent.harness]
id = "null"

[trainer.optim]
lr = 3e-6
max_norm = "None"

[ckpt]

[inference]
`;

describe("rl.toml", () => {
  it("is a config, with prime-rl's own loss and what it has by default", () => {
    const { name, steps, rollout, advantage, objective, kl, update } = configOf(written);
    assert.deepEqual([name, steps], ["reverse", 20]);
    assert.deepEqual(rollout, { prompts: 8, group: 16, max_tokens: 128, temperature: 1 });
    // Tokens without an advantage are taken out of the mean.
    assert.deepEqual(advantage, { baseline: "group_mean", scale: "none", filter: { keep: "nonzero" } });
    assert.deepEqual(objective, {
      ...{ use: "dppo_tv", low: 0.2, high: 0.2, cap: null, anchor: "sampled", aggregate: "token_mean" },
    });
    assert.deepEqual(kl, [{ model: "behaviour", estimator: "k2", place: "loss", coefficient: 0.002 }]);
    assert.deepEqual(update, {
      optimizer: { use: "adamw", lr: 3e-6, betas: [0.9, 0.999], weight_decay: 0.01, clip_norm: null },
      epochs: 1,
    });
  });

  it("says what has no counterpart, and why", () => {
    const { unmapped } = converted(written);
    const reasons = new Map(unmapped.map(({ key, reason }) => [key, reason]));
    assert.match(reasons.get("orchestrator.max_off_policy_steps") ?? "", /no rollout is older/);
    assert.match(reasons.get("orchestrator.train.source.env.taskset.id") ?? "", /placeholders/);
    assert.match(reasons.get("deployment.num_train_gpus") ?? "", /cluster of GPUs/);
    assert.ok(!reasons.has("trainer.optim.max_norm"));
  });

  it("has settings of an environment before those of all, and of a part where all of it says none", () => {
    const text = written
      .replace("max_steps = 20", "")
      .replace("[trainer.optim]", "[trainer]\nmax_steps = 30\n[trainer.optim]")
      .replace(
        'name = "reverse-text"',
        'name = "reverse-text"\ngroup_size = 8\nalgo = { type = "max_rl" }\nsampling = { temperature = 0.6, extra_body = { top_k = 20 } }',
      );
    const { steps, rollout, advantage } = configOf(text);
    assert.equal(steps, 30);
    assert.deepEqual(rollout, { prompts: 16, group: 8, max_tokens: 128, temperature: 0.6, top_k: 20 });
    assert.equal(Object(advantage)["scale"], "mean_reward");
  });

  it("reads gates, schedules, adapters and other losses as far as there are such", () => {
    const { update, model } = configOf(
      `${written.replace("max_norm", 'type = "sgd"\nmax_norm')}
[trainer.scheduler]
type = "linear"
warmup_steps = 5
decay_steps = 10
[trainer.model.lora]
rank = 8
`,
    );
    assert.deepEqual(Object(model)["adapter"], { use: "lora", rank: 8, alpha: 32, dropout: 0 });
    assert.deepEqual(Object(update)["optimizer"], {
      ...{
        use: "sgd",
        lr: 3e-6,
        momentum: 0.9,
        nesterov: true,
        weight_decay: 0.01,
        warmup: 5,
        clip_norm: null,
      },
      schedule: { schedule: "linear", from: 1, to: 0, over: 9, start: 10 },
    });
    const gated = written.replace(
      'name = "reverse-text"',
      'name = "reverse-text"\ncurriculum = { gates = { signal = { type = "advantage_range" } } }',
    );
    assert.deepEqual(configOf(gated)["curriculum"], {
      admission: { use: "nonzero_variance", refill: "adaptive" },
    });
    const ipo = converted(`${written}\n[trainer.loss]\ntype = "ipo"\nipo_threshold = 0.1\n`);
    assert.deepEqual(
      ipo.unmapped.filter(({ key }) => key.startsWith("trainer.loss")).map(({ key }) => key),
      ["trainer.loss.type", "trainer.loss.ipo_threshold"],
    );
    const own = converted(`${written}\n[trainer.loss]\ntype = "custom"\nimport_path = "mine.loss"\n`);
    assert.ok(own.unmapped.some(({ key }) => key === "trainer.loss.import_path"));
  });
});

describe("which texts are prime-rl's", () => {
  it("are those in TOML with its parts, or those that are said to be", () => {
    const unknown = /not a configuration of verl, TRL, OpenRLHF, SkyRL or prime-rl/;
    assert.equal(converted(written).framework, "prime-rl");
    assert.throws(() => convert(join(folder, "pyproject.toml"), "[project]\nname = 'a'\n"), unknown);
    assert.throws(() => convert(join(folder, "a.txt"), written), unknown);
    assert.equal(convert(join(folder, "a.txt"), written, "prime-rl").framework, "prime-rl");
  });

  it("are refused at the place of their mistake", () => {
    assert.throws(
      () => convert(file, "max_steps = 3\n[orchestrator\n"),
      (error) => error instanceof UserError && /^not TOML/.test(error.message) && error.detail.line === 1,
    );
  });
});
