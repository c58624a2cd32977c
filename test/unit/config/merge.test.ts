import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { UserError } from "../../../shared/lib/errors.ts";
import { clean, folder, load, start, value } from "../../support/loaded.ts";

/** Parameters of the clipped surrogate that no one wrote. */
const unsaid = { anchor: "behaviour", clamp_log_ratio: null, delta: null, dual: null, ratio: "token" };

describe("defaults", () => {
  it("are those of preset grpo", () => {
    const plain = clean(load({ "a.gradus.yaml": start }));
    const preset = clean(load({ "b.gradus.yaml": `extends: grpo\n${start}` }));
    assert.deepEqual({ ...plain.tree, name: "" }, { ...preset.tree, name: "" });
    assert.deepEqual(value(plain, "advantage.baseline"), { use: "group_mean" });
    assert.equal(value(plain, "advantage.scale.use"), "group_std");
    assert.deepEqual(value(plain, "objective"), {
      use: "clipped",
      low: 0.2,
      high: 0.2,
      ...unsaid,
      aggregate: { use: "sequence_mean", empty_rows: "count" },
      correction: [],
      entropy: 0,
    });
    assert.deepEqual(
      [value(plain, "kl"), value(plain, "mask"), value(plain, "curriculum.admission.use")],
      [[], [], "none"],
    );
  });

  it("make one rl stage of 100 steps where there are none", () => {
    const { config } = clean(load({ "a.gradus.yaml": start }));
    assert.deepEqual(
      config?.stages.map(({ kind, steps }) => [kind, steps]),
      [["rl", 100]],
    );
    assert.deepEqual(
      { pass_at: config?.evaluation.pass_at, samples: config?.evaluation.samples },
      { pass_at: [1, 8], samples: 8 },
    );
  });

  it("draw as many samples as the largest k", () => {
    assert.equal(
      clean(load({ "a.gradus.yaml": `${start}evaluation: { pass_at: [1, 5] }\n` })).config?.evaluation
        .samples,
      5,
    );
  });

  it("call a task by its env or its file's stem, and a run by its file's", () => {
    const { config } = clean(
      load({
        "deep/some.gradus.yaml":
          'tasks: [{ env: countdown }, { dataset: data/train.v2.jsonl, answer: "{answer}" }]\nreward: { terms: { right: exact_match } }\n',
        "deep/data/train.v2.jsonl": '{"prompt":"a","answer":"b"}\n',
      }),
    );
    assert.deepEqual(
      config?.top.tasks.map(({ name }) => name),
      ["countdown", "train.v2"],
    );
    assert.equal(config?.name, "some");
  });
});

describe("merging", () => {
  it("goes deep into maps, replaces lists and scalars, and removes by null", () => {
    const loaded = clean(
      load({
        "a.gradus.yaml":
          `extends: ./base.yaml\n${start}rollout: { stop: [b] }\nreward: { terms: { brevity: null } }\nseed: 3\n`.replace(
            "reward: { terms: { correct: equation } }\n",
            "",
          ),
        "base.yaml":
          "seed: 2\nrollout: { prompts: 4, stop: [x, y] }\nreward: { terms: { correct: equation, brevity: { use: length, weight: 0.1 } } }\n",
      }),
    );
    assert.deepEqual(
      [value(loaded, "rollout.prompts"), value(loaded, "rollout.stop"), value(loaded, "seed")],
      [4, ["b"], 3],
    );
    assert.deepEqual(Object.keys(value(loaded, "reward.terms") as object), ["correct"]);
  });

  it("reports a key that no place has even where nothing follows it", () => {
    const { diagnostics } = load({
      "a.gradus.yaml": `${start}curriculm:\nrollout: { grup: null }\ncurriculum: { sampler: { use: boltzmann, floor: null, tau: null } }\n`,
    });
    assert.deepEqual(
      diagnostics.map(({ rule, key }) => [rule, key]),
      [
        ["unknown-key", "curriculm"],
        ["unknown-key", "rollout.grup"],
        ["unknown-key", "curriculum.sampler.tau"],
      ],
      "`floor` is another sampler's: what a parent says of it is taken back",
    );
  });

  it("gives a removed block back to the defaults, in a stage too", () => {
    const loaded = clean(load({ "a.gradus.yaml": `extends: grpo-paper\n${start}kl: null\n` }));
    assert.deepEqual(value(loaded, "kl"), []);
    const staged = clean(
      load({
        "a.gradus.yaml": `extends: grpo-paper\n${start}stages: [{ name: a, steps: 1 }, { name: b, steps: 1, kl: null, rollout: null }]\n`,
      }),
    );
    assert.deepEqual(
      staged.config?.stages.map(({ body }) => [body.kl.length, body.rollout.group]),
      [
        [1, 8],
        [0, 8],
      ],
    );
  });

  it("gives a default back to a null inside a list", () => {
    const { config } = clean(
      load({
        "a.gradus.yaml":
          "tasks: [{ env: countdown, numbers: null, weight: }]\nreward: { terms: { correct: equation } }\nkl: [{ model: null, coefficient: , place: loss }]\n",
      }),
    );
    assert.deepEqual(
      {
        model: config?.top.kl[0]?.model,
        coefficient: config?.top.kl[0]?.coefficient,
        weight: config?.top.tasks[0]?.weight,
      },
      { model: "reference", coefficient: 0.001, weight: 1 },
    );
  });

  it("keeps a null that is a value of its own", () => {
    const { config } = clean(
      load({ "a.gradus.yaml": `${start}update: { optimizer: { clip_norm: null } }\n` }),
    );
    assert.equal(config?.top.update.optimizer.params["clip_norm"], null);
  });

  it("takes the short form for { use }", () => {
    const short = load({ "a.gradus.yaml": `${start}curriculum: { sampler: boltzmann }\n` });
    const long = load({ "a.gradus.yaml": `${start}curriculum: { sampler: { use: boltzmann } }\n` });
    assert.deepEqual(short.tree, long.tree);
  });

  it("keeps a method's parameters while it stays, drops them when it changes, and keeps the slot's own", () => {
    const base = "objective: { use: clipped, low: 0.1, high: 0.5, aggregate: token_mean, entropy: 0.01 }\n";
    const same = clean(
      load({
        "a.gradus.yaml": `extends: ./base.yaml\n${start}objective: { high: 0.3 }\n`,
        "base.yaml": base,
      }),
    );
    assert.deepEqual(value(same, "objective"), {
      use: "clipped",
      low: 0.1,
      high: 0.3,
      ...unsaid,
      aggregate: { use: "token_mean" },
      correction: [],
      entropy: 0.01,
    });
    const changed = clean(
      load({ "a.gradus.yaml": `extends: ./base.yaml\n${start}objective: reinforce\n`, "base.yaml": base }),
    );
    assert.deepEqual(value(changed, "objective"), {
      use: "reinforce",
      aggregate: { use: "token_mean" },
      correction: [],
      entropy: 0.01,
    });
  });

  it("drops a task's own parameters when its environment changes and keeps its name and weight", () => {
    const loaded = clean(
      load({
        "a.gradus.yaml": `extends: ./base.yaml\ntasks: { one: { env: arithmetic } }\nreward: { terms: { correct: exact_match } }\n`,
        "base.yaml": "tasks: [{ name: one, env: countdown, numbers: [5], weight: 3 }]\n",
      }),
    );
    assert.equal(value(loaded, "tasks.one.numbers"), undefined);
    assert.deepEqual([value(loaded, "tasks.one.env"), value(loaded, "tasks.one.weight")], ["arithmetic", 3]);
  });

  it("applies a list of parents left to right", () => {
    const loaded = clean(
      load({
        "a.gradus.yaml": `extends: [dapo, ./left.yaml, ./right.yaml]\n${start}`,
        "left.yaml": "rollout: { prompts: 2, group: 3 }\n",
        "right.yaml": "rollout: { group: 6 }\n",
      }),
    );
    assert.deepEqual(
      [value(loaded, "rollout.prompts"), value(loaded, "rollout.group"), value(loaded, "objective.high")],
      [2, 6, 0.28],
    );
  });

  it("starts relative paths from the file that wrote them", () => {
    const loaded = clean(
      load({
        "run/a.gradus.yaml": `extends: ../shared/base.yaml\n${start.replace("reward: { terms: { correct: equation } }\n", "")}`,
        "shared/base.yaml": "reward: { terms: { short: { use: ./r.ts }, set: equation } }\n",
        "shared/r.ts": "export const score = (): number => 1;\n",
      }),
    );
    assert.equal(value(loaded, "reward.terms.short.use"), join(folder, "shared/r.ts"));
    assert.equal(loaded.config?.top.reward.terms[0]?.term.folder, join(folder, "shared"));
  });

  it("starts paths in parameters from who wrote them, also where somebody else chose the method", () => {
    const loaded = clean(
      load({
        "run/a.gradus.yaml": `extends: [again, ../shared/base.yaml]\n${start}curriculum: { sampler: { from: [past.jsonl] } }\nreplay: { path: own.jsonl }\n`,
        "shared/base.yaml": "replay: { use: file, path: theirs.jsonl }\n",
        "run/past.jsonl": "",
        "run/own.jsonl": "",
      }),
    );
    // A preset's paths start there too, so this one may stay as it is.
    assert.deepEqual(value(loaded, "curriculum.sampler.from"), ["past.jsonl"]);
    assert.equal(loaded.config?.top.curriculum.sampler.folder, join(folder, "run"));
    assert.equal(value(loaded, "replay.path"), join(folder, "run/own.jsonl"));
    assert.equal(loaded.config?.top.replay.source.params["path"], join(folder, "run/own.jsonl"));
  });

  it("resolves a resolved tree to itself", () => {
    const first = clean(
      load({
        "a.gradus.yaml": `extends: sec\n${start}stages: [{ name: w, kind: sft, steps: 3 }, { name: r, steps: 4, rollout: { group: 2 } }]\n`,
      }),
    );
    const again = clean(load({ "b.gradus.yaml": JSON.stringify(first.tree) }));
    assert.deepEqual(again.tree, first.tree);
  });
});

describe("addressing", () => {
  const staged = `${start}kl: [{ model: reference, coefficient: 0.1 }]\nstages: [{ name: easy, steps: 5, tasks: { countdown: { numbers: [3] } } }, { name: full, steps: 7 }]\n`;

  it("reaches named things by their names and unnamed lists by index", () => {
    const loaded = clean(
      load(
        { "a.gradus.yaml": staged },
        {
          set: [
            "tasks.countdown.numbers=[5]",
            "stages.full.steps=9",
            "kl.0.coefficient=0.5",
            "curriculum.sampler=boltzmann",
            "reward.terms.correct.weight=2",
          ],
        },
      ),
    );
    assert.deepEqual(value(loaded, "tasks.countdown.numbers"), [5]);
    assert.deepEqual(
      loaded.config?.stages.map(({ steps }) => steps),
      [5, 9],
    );
    assert.equal(loaded.config?.top.kl[0]?.coefficient, 0.5);
    assert.equal(loaded.config?.top.curriculum.sampler.use, "boltzmann");
    assert.deepEqual(loaded.origins["kl.0.coefficient"], {
      file: "--set kl.0.coefficient=0.5",
      line: 0,
      via: [],
    });
  });

  it("overrides a stage's tasks by name and leaves the others alone", () => {
    const { config } = clean(load({ "a.gradus.yaml": staged }));
    assert.deepEqual(
      config?.stages.map(({ body }) => body.tasks[0]?.source.params["numbers"]),
      [[3], [3, 4]],
    );
  });

  it("removes by null", () => {
    const loaded = load({ "a.gradus.yaml": staged }, { set: ["stages.easy=null"] });
    assert.deepEqual(
      clean(loaded).config?.stages.map(({ name }) => name),
      ["full"],
    );
  });

  for (const [set, message] of [
    ["tasks.contdown.numbers=[3]", /no task named `contdown`\. Did you mean `countdown`/],
    ["kl.3.coefficient=1", /no index 3/],
    ["rollout.grop=3", /`grop` is not a key of `rollout`\. Did you mean `group`/],
    ["rollout.group=many", /must be a whole number/],
  ] as const) {
    it(`says what is wrong with --set ${set}`, () => {
      const { diagnostics, config } = load({ "a.gradus.yaml": staged }, { set: [set] });
      assert.equal(config, undefined);
      assert.match(diagnostics[0]?.message ?? "", message);
      assert.match(diagnostics[0]?.message ?? "", /in `--set /);
    });
  }

  it("refuses an assignment that cannot be read", () => {
    assert.throws(() => load({ "a.gradus.yaml": staged }, { set: ["rollout.group"] }), UserError);
    assert.throws(
      () => load({ "a.gradus.yaml": staged }, { set: ["tasks.countdown.numbers=[3"] }),
      /never closed/,
    );
  });

  it("caps rl steps over all stages and leaves sft its own", () => {
    const text = `${start}stages: [{ name: w, kind: sft, steps: 30 }, { name: a, steps: 5 }, { name: b, steps: 7 }, { name: c, steps: 2 }]\n`;
    const { config } = clean(load({ "a.gradus.yaml": text }, { steps: 8, seed: 11 }));
    assert.deepEqual(
      config?.stages.map(({ name, steps }) => [name, steps]),
      [
        ["w", 30],
        ["a", 5],
        ["b", 3],
      ],
    );
    assert.equal(config?.seed, 11);
    assert.equal(clean(load({ "a.gradus.yaml": start }, { steps: 4 })).config?.stages[0]?.steps, 4);
  });
});

describe("extends", () => {
  it("names the whole circle", () => {
    const { diagnostics, config } = load({
      "a.gradus.yaml": `extends: ./b.yaml\n${start}`,
      "b.yaml": "extends: ./c.yaml\n",
      "c.yaml": "extends: ./a.gradus.yaml\n",
    });
    assert.equal(config, undefined);
    const [cycle] = diagnostics;
    assert.equal(cycle?.rule, "extends-cycle");
    assert.match(cycle?.message ?? "", /a\.gradus\.yaml → b\.yaml → c\.yaml → a\.gradus\.yaml/);
    assert.deepEqual(cycle?.range.start, { line: 0, character: 9 });
  });

  it("catches a file that extends itself", () => {
    const { diagnostics } = load({ "a.gradus.yaml": `extends: ./a.gradus.yaml\n${start}` });
    assert.match(diagnostics[0]?.message ?? "", /a\.gradus\.yaml → a\.gradus\.yaml/);
  });

  it("allows two ways to the same parent", () => {
    clean(
      load({
        "a.gradus.yaml": `extends: [./b.yaml, ./c.yaml]\n${start}`,
        "b.yaml": "extends: ./d.yaml\n",
        "c.yaml": "extends: ./d.yaml\n",
        "d.yaml": "rollout: { prompts: 2 }\n",
      }),
    );
  });

  it("shows a parent's syntax error at the entry that brought it in", () => {
    const { diagnostics } = load({
      "a.gradus.yaml": `extends: ./b.yaml\n${start}`,
      "b.yaml": "rollout: { prompts: [3\nseed: 1\n",
    });
    assert.equal(diagnostics.length, 1);
    assert.match(diagnostics[0]?.message ?? "", /b\.yaml:1:21: This `\[` is never closed/);
    assert.deepEqual(diagnostics[0]?.range.start, { line: 0, character: 9 });
  });
});

describe("a parameter that is one of several maps", () => {
  const judged = (judge: string): ReturnType<typeof load> =>
    load({
      "a.gradus.yaml":
        `extends: ./b.yaml\n${start}reward: { terms: { quality: { judge: ${judge} } } }\n`.replace(
          /^reward: \{ terms: \{ correct.*\n/m,
          "",
        ),
      "b.yaml": "reward: { terms: { quality: { use: rubric, judge: { of: reference, max_tokens: 8 } } } }\n",
    });

  it("is replaced by another of them, and goes deep within the same", () => {
    const of = (judge: string): unknown => value(clean(judged(judge)), "reward.terms.quality.judge");
    assert.deepEqual(of("{ max_tokens: 9 }"), { of: "reference", max_tokens: 9 });
    assert.deepEqual(of("{ of: policy }"), { of: "policy", max_tokens: 8 });
    const served = of('{ url: "http://localhost:8000/v1", model: m }');
    assert.ok(typeof served === "object" && served !== null && !("of" in served) && "url" in served);
  });
});
