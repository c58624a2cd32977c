import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { loadConfig } from "../../../server/rules/load.ts";
import { clean, folder, load, start, value } from "../../support/loaded.ts";

describe("origins", () => {
  it("give file, line and the way a value came", () => {
    const { origins } = clean(
      load({
        "a.gradus.yaml": `extends: ./b.yaml\n${start}rollout:\n  prompts: 4\n`,
        "b.yaml": "extends: dapo\nseed: 5\n",
      }),
    );
    assert.deepEqual(origins["rollout.prompts"], { file: join(folder, "a.gradus.yaml"), line: 5, via: [] });
    assert.deepEqual(origins["seed"], { file: join(folder, "b.yaml"), line: 2, via: ["./b.yaml"] });
    assert.deepEqual(origins["objective.high"]?.via, ["./b.yaml", "dapo"]);
    assert.match(origins["objective.high"]?.file ?? "", /presets\/dapo\.yaml$/);
    assert.deepEqual(origins["tasks.countdown.numbers"]?.line, 2);
    assert.deepEqual(origins["update.optimizer.lr"], { file: "default", line: 0, via: [] });
  });
});

describe("values", () => {
  it("count a stage's schedules in that stage and the others in the run", () => {
    const ramp = "{ schedule: linear, from: 0, to: 1, over: 4 }";
    const { config } = clean(
      load({
        "a.gradus.yaml": `${start}objective: { entropy: ${ramp} }\nstages: [{ name: a, steps: 5, rollout: { temperature: ${ramp} } }, { name: b, steps: 5 }]\n`,
      }),
    );
    const [a] = config?.stages ?? [];
    assert.deepEqual(a?.body.rollout.temperature, {
      schedule: "linear",
      from: 0,
      to: 1,
      over: 4,
      start: 0,
      clock: "stage",
    });
    assert.equal(typeof a?.body.objective.entropy === "object" && "clock" in a.body.objective.entropy, false);
  });

  it("let the learning rate fall over what it counts", () => {
    const cosine = "update: { optimizer: { schedule: cosine } }";
    const { config } = clean(
      load({
        "a.gradus.yaml": `${start}stages: [{ name: w, kind: sft, steps: 9, ${cosine} }, { name: a, steps: 5 }]\n${cosine}\n`,
      }),
    );
    assert.deepEqual(
      config?.stages.map(({ body }) => body.update.schedule),
      [
        { schedule: "cosine", from: 1, to: 0, over: 9, start: 0, clock: "stage" },
        { schedule: "cosine", from: 1, to: 0, over: 5, start: 0 },
      ],
    );
  });

  it("let the learning rate's course begin where the warm-up ends, mini-batches counted", () => {
    const wsd =
      "update: { mini_batch: 4, optimizer: { warmup: 6, schedule: { shape: wsd, decay: 5, floor: 0.1 } } }";
    const { config } = clean(
      load({ "a.gradus.yaml": `${start}steps: 20\nrollout: { prompts: 2, group: 4 }\n${wsd}\n` }),
    );
    assert.deepEqual(config?.top.update.schedule, {
      shape: "wsd",
      stable: 12,
      decay: 5,
      decay_shape: "linear",
      floor: 0.1,
      start: 3,
    });
  });

  it("never resolve a secret", () => {
    process.env["GRADUS_TEST_SECRET"] = "hunter2";
    const loaded = load({ "a.gradus.yaml": `${start}name: "\${env:GRADUS_TEST_SECRET}"\n` });
    assert.equal(loaded.tree["name"], "${env:GRADUS_TEST_SECRET}");
    assert.doesNotMatch(JSON.stringify(loaded.tree), /hunter2/);
  });

  it("expand anchors and merge keys, and survive an alias of itself", () => {
    const loaded = clean(
      load({
        "a.gradus.yaml":
          "tasks: [{ env: countdown }]\nreward:\n  terms:\n    a: &a { use: equation, weight: 2 }\n    b: { <<: *a, weight: 3 }\n",
      }),
    );
    assert.deepEqual(
      [value(loaded, "reward.terms.b.use"), value(loaded, "reward.terms.b.weight")],
      ["equation", 3],
    );
    assert.equal(load({ "a.gradus.yaml": "tasks: &t [*t]\n" }).config, undefined);
  });

  it("survive any beginning of a file", () => {
    const text = `extends: sec\n${start}kl: [{ model: reference, coefficient: { schedule: linear, from: 0, to: 1, over: 4 } }]\nstages:\n  - { name: easy, tasks: { countdown: { numbers: [3] } }, steps: 4 }\n`;
    for (let end = 0; end <= text.length; end++)
      assert.doesNotThrow(
        () => loadConfig(join(folder, "cut.gradus.yaml"), { text: text.slice(0, end) }),
        text.slice(0, end),
      );
  });
});
