/**
 * Every preset to TRL and back: the algorithm is the same, or the preset is in notInTrl.txt with what TRL does instead.
 * The list may only shrink: a preset that comes back is removed from it.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, it } from "node:test";
import { stringify } from "yaml";
import { UserError } from "../../../../shared/lib/errors.ts";
import type { Json, JsonObject } from "../../../../shared/lib/json.ts";
import type { StageBody } from "../../../../server/core/config/resolved.ts";
import type { RunConfig } from "../../../../server/core/config/runConfig.ts";
import { convert } from "../../../../server/frameworks/convert/index.ts";
import { trlPlan, type TrlPlan } from "../../../../server/frameworks/export/trl/plan.ts";
import { loadConfig } from "../../../../server/rules/load.ts";
import { temporary } from "../../support.ts";

const folder = temporary();
const presets = readdirSync("presets")
  .filter((name) => name.endsWith(".yaml"))
  .map((name) => basename(name, ".yaml"));
const list = new Map(
  readFileSync("test/fixtures/frameworks/notInTrl.txt", "utf8")
    .split("\n")
    .flatMap((line) => {
      const [, name, reason] = /^([\w.-]+): (.+)$/.exec(line) ?? [];
      return name === undefined ? [] : [[name, reason] as const];
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

function read(name: string, text: string): RunConfig | string {
  const { config, diagnostics } = loadConfig(join(folder, `${name}.gradus.yaml`), {
    text,
    recorded: true,
    absent: ["data", "model"],
    // TRL corrects where vLLM generates.
    set: ["engine.use=trl", "engine.args={ use_vllm: true }"],
  });
  return config ?? diagnostics.find(({ severity }) => severity === "error")?.message ?? "it cannot be read";
}

/** What Gradus would train of the settings that TRL is given. */
function back(name: string, { settings }: TrlPlan): StageBody | string {
  const file = join(folder, `${name}.yaml`);
  const { config } = convert(file, stringify({ model_name_or_path: "model", ...settings }), "trl");
  const found = read(name, `${config}\n`);
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

type Outcome = { readonly kind: "same" } | { readonly kind: "other"; readonly why: string };

function outcome(name: string): Outcome {
  const config = read(name, `extends: ${name}\n${rest}`);
  if (typeof config === "string") return { kind: "other", why: config };
  let plan: TrlPlan;
  try {
    plan = trlPlan(config);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { kind: "other", why: error.message };
  }
  const changed = plan.missing.filter(({ changes }) => changes === "algorithm");
  if (changed.length > 0)
    return { kind: "other", why: changed.map(({ key, value }) => `${key} ${value}`).join("; ") };
  const there = back(name, plan);
  if (typeof there === "string") return { kind: "other", why: there };
  const [wanted, found] = [algorithm(plan.stage.body), algorithm(there)];
  for (const block of Object.keys(wanted)) {
    try {
      assert.deepEqual(found[block], wanted[block]);
    } catch {
      return {
        kind: "other",
        why: `${block}: ${JSON.stringify(found[block])} instead of ${JSON.stringify(wanted[block])}`,
      };
    }
  }
  return { kind: "same" };
}

describe("presets to TRL and back", () => {
  for (const name of presets)
    it(name, () => {
      const found = outcome(name);
      const listed = list.get(name);
      if (process.env["GRADUS_SHOW"] !== undefined && found.kind === "other" && listed === undefined)
        console.log(`${name}: ${found.why}`);
      if (found.kind === "same")
        assert.equal(listed, undefined, `it comes back: remove the line \`${name}: …\` of notInTrl.txt`);
      else assert.ok(listed !== undefined, `it does not come back the same: ${found.why}`);
    });

  it("names no preset that there is not", () => {
    assert.deepEqual(
      [...list.keys()].filter((name) => !presets.includes(name)),
      [],
    );
  });
});
