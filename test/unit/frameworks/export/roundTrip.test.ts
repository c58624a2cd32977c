/**
 * Every preset to a trainer and back: the algorithm is the same, or the preset is in its list with what the trainer does
 * instead. A list may only shrink: a preset that comes back is removed from it, and what is said of the others is true.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, it } from "node:test";
import { stringify } from "yaml";
import { UserError } from "../../../../shared/lib/errors.ts";
import { isObject, type Json, type JsonObject } from "../../../../shared/lib/json.ts";
import { needs } from "../../../../server/config/needs.ts";
import type { StageBody } from "../../../../server/core/config/resolved.ts";
import type { RunConfig } from "../../../../server/core/config/runConfig.ts";
import { convert, type ConvertedFrom } from "../../../../server/frameworks/trainers/convert.ts";
import { nested } from "../../../../server/frameworks/lens/settings.ts";
import type { Missing } from "../../../../server/frameworks/trainers/exporters.ts";
import { flagLines } from "../../../../server/frameworks/trainers/openrlhf/project/launchText.ts";
import { openRlhfPlan } from "../../../../server/frameworks/trainers/openrlhf/lens/plan.ts";
import { primeRlPlan } from "../../../../server/frameworks/trainers/primeRl/lens/plan.ts";
import { tomlText, treeOf } from "../../../../server/frameworks/trainers/primeRl/project/toml.ts";
import { skyrlPlan } from "../../../../server/frameworks/trainers/skyrl/lens/plan.ts";
import { trlPlan } from "../../../../server/frameworks/trainers/trl/lens/plan.ts";
import { verlPlan } from "../../../../server/frameworks/trainers/verl/lens/plan.ts";
import { loadConfig } from "../../../../server/rules/load.ts";
import { temporary } from "../../support.ts";
import { some } from "../../../support/thorough.ts";

const folder = temporary();
const presets = readdirSync("presets")
  .filter((name) => name.endsWith(".yaml"))
  .map((name) => basename(name, ".yaml"));

interface Plan {
  readonly settings: JsonObject;
  readonly missing: readonly Missing[];
  readonly stage: { readonly body: StageBody };
}

interface Trainer {
  readonly name: string;
  readonly engine: ConvertedFrom;
  readonly list: string;
  readonly set: readonly string[];
  readonly plan: (config: RunConfig) => Plan;
  /** The configuration that it is given. */
  readonly text: (settings: JsonObject) => string;
  /** What has no effect in it, alike on both sides. */
  readonly alike: (algorithm: JsonObject, body: StageBody) => JsonObject;
}

const trainers: readonly Trainer[] = [
  {
    name: "TRL",
    engine: "trl",
    list: "notInTrl.txt",
    // TRL corrects where vLLM generates.
    set: ["engine.use=trl", "engine.args={ use_vllm: true }"],
    plan: trlPlan,
    text: (settings) => stringify({ model_name_or_path: "model", ...settings }),
    alike: (algorithm) => algorithm,
  },
  {
    name: "verl",
    engine: "verl",
    list: "notInVerl.txt",
    set: ["engine.use=verl"],
    plan: verlPlan,
    text: (settings) =>
      stringify({
        defaults: ["ppo_trainer", "_self_"],
        ...nested(Object.entries({ ...settings, "data.train_files": "train.parquet" })),
      }),
    alike: alikeInVerl,
  },
  {
    name: "OpenRLHF",
    engine: "openrlhf",
    list: "notInOpenRlhf.txt",
    set: ["engine.use=openrlhf"],
    plan: openRlhfPlan,
    text: (settings) =>
      [
        "python -m openrlhf.cli.train_ppo_ray",
        ...flagLines({
          "actor.model_name_or_path": "model",
          "data.prompt_dataset": "data.jsonl",
          ...settings,
        }),
      ].join(" \\\n  "),
    alike: alikeInOpenRlhf,
  },
  {
    name: "prime-rl",
    engine: "prime-rl",
    list: "notInPrimeRl.txt",
    set: ["engine.use=prime-rl"],
    plan: primeRlPlan,
    text: (settings) => tomlText(treeOf({ "model.name": "model", ...settings }), "there"),
    alike: alikeInPrimeRl,
  },
  {
    name: "SkyRL",
    engine: "skyrl",
    list: "notInSkyRl.txt",
    set: ["engine.use=skyrl"],
    plan: skyrlPlan,
    text: (settings) =>
      stringify(nested(Object.entries({ ...settings, "data.train_data": ["train.parquet"] }))),
    // Its constants are those of verl.
    alike: alikeInVerl,
  },
];

const listOf = (name: string): ReadonlyMap<string, string> =>
  new Map(
    readFileSync(`test/fixtures/frameworks/${name}`, "utf8")
      .split("\n")
      .flatMap((line) => {
        const [, preset = "", reason = ""] = /^([\w.-]+): (.+)$/.exec(line) ?? [];
        return preset === "" ? [] : [[preset, reason] as const];
      }),
  );

/** Room for the longest answers; the tasks and their reward are not what is compared. */
const rest = `
name: there
model: { base: tiny, context: 1000000 }
tasks: [{ env: countdown }]
reward: { terms: { correct: equation } }
steps: 10
`;

function read(name: string, text: string, set: readonly string[]): RunConfig | string {
  const { config, diagnostics } = loadConfig(join(folder, `${name}.gradus.yaml`), {
    text,
    recorded: true,
    needs: needs.written,
    set: [...set],
  });
  return config ?? diagnostics.find(({ severity }) => severity === "error")?.message ?? "it cannot be read";
}

/** What Gradus would train of the settings that a trainer is given. */
function back(name: string, { engine, text, set }: Trainer, { settings }: Plan): StageBody | string {
  const file = join(folder, `${name}.${engine === "openrlhf" ? "sh" : "yaml"}`);
  const { config } = convert(file, text(settings), engine);
  const found = read(name, `${config}\n`, set);
  return typeof found === "string" ? found : found.stages[0]!.body;
}

/** A method as it is written: its name with its parameters. */
function plain(value: unknown): Json {
  const text = JSON.stringify(value, (_, one: unknown) => {
    if (typeof one !== "object" || one === null || !("declaration" in one) || !("params" in one)) return one;
    const {
      declaration,
      params,
      use: _use,
      folder: _folder,
      ...own
    } = one as {
      readonly declaration: { readonly name: string };
      readonly params: object;
      readonly use: string;
      readonly folder: string;
    };
    return { use: declaration.name, ...params, ...own };
  });
  const read: Json = JSON.parse(text);
  return read;
}

/** What trains, without what has no effect here. */
function algorithm({ objective, advantage, kl, mask, rollout, update }: StageBody): JsonObject {
  const { prompts, group, max_tokens, temperature, top_p, top_k, min_p, repetition_penalty } = rollout;
  // One term that applies to all tasks scores every rollout, and none branches off within another.
  const { unscored: _unscored, prefix: _prefix, ...advantages } = advantage;
  const { micro_tokens: _micro, mini_batch = prompts * group, ...updates } = update;
  const { aggregate } = objective;
  const { name } = aggregate.declaration;
  // Only a mask of whole responses makes one without a token that trains.
  const emptied = mask.some(({ declaration }) => declaration.name === "overlong");
  const normaliser = {
    ...aggregate.params,
    ...(emptied ? {} : { empty_rows: "count" }),
    ...(name === "sequence_sum_norm" ? { budget: aggregate.params["budget"] ?? max_tokens } : {}),
  };
  return {
    objective: plain({ ...objective, aggregate: { ...aggregate, params: normaliser } }),
    advantage: plain(advantages),
    kl: plain(kl),
    mask: plain(mask),
    rollout: {
      prompts,
      group,
      max_tokens,
      temperature: plain(temperature),
      top_p,
      top_k,
      min_p,
      repetition_penalty,
    },
    update: plain({ ...updates, mini_batch }),
  };
}

/** Without the constants that keep numbers finite, which are verl's own; with one name for what is equal. */
function alikeInVerl(whole: JsonObject, { rollout: { group } }: StageBody): JsonObject {
  const text = JSON.stringify(whole, (key, value: unknown) => {
    if (key === "clamp_log_ratio" || key === "clamp") return undefined;
    if (key === "scale" && isObject(value)) return { ...value, epsilon: null };
    if (key === "single" && group > 1) return undefined;
    if ((key === "dual" || key === "clip_norm" || key === "high") && value === 1e9) return null;
    if (key === "ratio" && value === "sequence_token") return "sequence";
    return value;
  });
  const read: JsonObject = JSON.parse(text);
  return read;
}

/** Without the constants that keep numbers finite, which are OpenRLHF's own; with one name for what is equal. */
function alikeInOpenRlhf(whole: JsonObject, body: StageBody): JsonObject {
  const { kl, rollout, advantage } = body;
  const charged = kl.some(({ place }) => place === "reward");
  const whitens = typeof advantage.whiten === "object";
  const byToken = advantage.baseline.declaration.name === "critic";
  const text = JSON.stringify(whole, (key, value: unknown) => {
    if (key === "clamp_log_ratio" || key === "clamp") return undefined;
    if (key === "scale" && isObject(value)) return { ...value, epsilon: null };
    if (key === "single" && rollout.group > 1) return undefined;
    // There are no observations in responses of one turn.
    if (key === "observations") return undefined;
    // Charged apart or not, there is nothing to charge; a token's own reward is charged as it is.
    if (key === "penalty" && (!charged || byToken)) return undefined;
    if (key === "clip" && isObject(value) && value["high"] === 1e9) return "none";
    if (key === "clip_norm" && value === 0) return null;
    if ((key === "dual" || key === "clip") && value === 1e9) return null;
    if (key === "ratio" && value === "sequence_token") return "sequence";
    if (key === "level" && value === "auto") return byToken ? "token" : "response";
    // Of one token both weights are the same, and no ratio is below 0.
    if (key === "weight" && value === "statistic") return "token";
    if (key === "low" && value === 0) return null;
    if (key === "whiten" && whitens && isObject(value)) return { ...value, epsilon: null, inside: null };
    return value;
  });
  const read: JsonObject = JSON.parse(text);
  return read;
}

/** Without the constants that keep numbers finite; the one update of a step begins with the policy that generated. */
function alikeInPrimeRl(whole: JsonObject): JsonObject {
  const text = JSON.stringify(whole, (key, value: unknown) => {
    if (key === "clamp_log_ratio" || key === "single") return undefined;
    if (key === "cap" && Number(value) >= 1000) return null;
    if (key === "anchor" && (value === "behaviour" || value === "proximal")) return "sampled";
    return value;
  });
  const read: JsonObject = JSON.parse(text);
  return read;
}

/** In whatever order. */
const isSame = (one: string, other: string): boolean =>
  JSON.stringify(one.split("; ").sort()) === JSON.stringify(other.split("; ").sort());

type Outcome =
  | { readonly kind: "same" }
  /** `block`: what comes back otherwise, and nobody says so; absent where the export names what is missing. */
  | { readonly kind: "other"; readonly why: string; readonly block?: string };

function outcome(name: string, trainer: Trainer): Outcome {
  const config = read(name, `extends: ${name}\n${rest}`, trainer.set);
  if (typeof config === "string") return { kind: "other", why: config };
  let plan: Plan;
  try {
    plan = trainer.plan(config);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { kind: "other", why: error.message };
  }
  const changed = plan.missing.filter(({ changes }) => changes === "algorithm");
  if (changed.length > 0)
    return { kind: "other", why: changed.map(({ key, value }) => `${key} ${value}`).join("; ") };
  const there = back(name, trainer, plan);
  if (typeof there === "string") return { kind: "other", why: there };
  const [wanted, found] = [plan.stage.body, there].map((body) => trainer.alike(algorithm(body), body));
  for (const block of Object.keys(wanted!)) {
    try {
      assert.deepEqual(found![block], wanted![block]);
    } catch {
      return {
        kind: "other",
        block,
        why: `${block}: ${JSON.stringify(found![block])} instead of ${JSON.stringify(wanted![block])}`,
      };
    }
  }
  return { kind: "same" };
}

for (const trainer of trainers)
  describe(`presets to ${trainer.name} and back`, () => {
    const list = listOf(trainer.list);
    for (const name of some(presets, 70))
      it(name, () => {
        const found = outcome(name, trainer);
        const listed = list.get(name);
        if (found.kind === "same")
          return assert.equal(
            listed,
            undefined,
            `it comes back: remove the line \`${name}: …\` of ${trainer.list}`,
          );
        const { why, block } = found;
        assert.ok(listed !== undefined, `it does not come back the same: ${why}`);
        // What comes back otherwise is said in words of our own, which begin with the block.
        const isTrue = block === undefined ? isSame(listed, why) : listed.startsWith(block);
        assert.ok(
          isTrue,
          `${trainer.list} says what is not so. Write \`${name}: ${why}\`, not \`${listed}\``,
        );
      });

    it("names no preset that there is not", () => {
      assert.deepEqual(
        [...list.keys()].filter((name) => !presets.includes(name)),
        [],
      );
    });
  });
