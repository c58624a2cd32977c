/**
 * What `gradus export --to prime-rl` writes, read by prime-rl's own configuration and scored by verifiers. Wants a Python 3.12 with
 * torch, with verifiers as prime-rl's submodule has it, and with prime_rl, in GRADUS_PEER_PYTHON.
 */
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { before, describe, it } from "node:test";
import { parse } from "smol-toml";
import { z } from "zod";
import { UserError } from "../../shared/lib/errors.ts";
import type { JsonObject } from "../../shared/lib/json.ts";
import { needs } from "../../server/config/needs.ts";
import { AnswerScorer } from "../../server/analysis/rewardChecks/answers.ts";
import { primeRlPlan } from "../../server/frameworks/trainers/primeRl/lens/plan.ts";
import { tomlText, treeOf } from "../../server/frameworks/trainers/primeRl/project/toml.ts";
import { loadConfig } from "../../server/rules/load.ts";
import { gradus } from "../support/cli.ts";
import { answers, configText, rewardProject } from "../support/exportedRewards.ts";
import { primeConfigs } from "../support/primeConfigs.ts";
import { drawnIn, primeProject, said, withPrime } from "../support/primePeer.ts";
import { rewardHost } from "../support/rewardHost.ts";
import { temporary } from "../unit/support.ts";

const acceptsSchema = z.record(
  z.string(),
  z.object({
    error: z.string().nullable(),
    toml: z.unknown(),
    says: z
      .object({
        run_dir: z.string(),
        step: z.number().nullable(),
        gpus: z.number(),
        loss: z.string(),
        max_norm: z.number().nullable(),
        gates: z.array(z.string()),
      })
      .nullable(),
  }),
);
describe("projects for prime-rl", withPrime, () => {
  const projects = new Map<string, string>();
  before(async () => {
    await rewardHost();
    const folder = temporary();
    for (const [name, text] of Object.entries(primeConfigs)) {
      writeFileSync(join(folder, `${name}.gradus.yaml`), text);
      const words = ["export", `${name}.gradus.yaml`, "--to", "prime-rl", "--out", `the ${name}`];
      const { code, stderr } = await gradus(words, folder);
      assert.equal(code, 0, stderr);
      projects.set(name, join(folder, `the ${name}`));
    }
  });

  it("are accepted by prime-rl's configuration, which reads the values that were written", () => {
    const found = said("accepts", { folders: [...projects.values()] }, acceptsSchema);
    for (const [name, folder] of projects) {
      const { error, toml, says } = found[folder]!;
      assert.equal(error, null, `${name}: ${String(error)}`);
      const written: unknown = JSON.parse(
        JSON.stringify(parse(readFileSync(join(folder, "rl.toml"), "utf8"))),
      );
      assert.deepEqual(toml, written, name);
      assert.equal(says?.run_dir, "out");
      assert.equal(says.gpus, name === "lora" ? 3 : 2);
      assert.equal(says.max_norm, name === "dppo" ? null : 1, name);
      assert.deepEqual(says.gates, name === "dapo" ? ["nonzero_variance"] : [], name);
    }
  });

  it("are refused where a setting is wrong, and go on as launch.sh asks", () => {
    const folders = [projects.get("dppo")!];
    const wrong = said("accepts", { folders, words: ["--trainer.loss.dppo-mask-low", "-1"] }, acceptsSchema);
    assert.match(Object.values(wrong)[0]?.error ?? "", /./);
    const right = said("accepts", { folders, words: ["--resume.step", "4"] }, acceptsSchema);
    assert.equal(Object.values(right)[0]?.says?.step, 4);
  });

  it("are accepted of every preset that has a stage for it", () => {
    const folder = temporary();
    const folders = readdirSync("presets").flatMap((file) => {
      const name = basename(file, ".yaml");
      const settings = file.endsWith(".yaml") ? settingsOf(folder, name) : undefined;
      if (settings === undefined) return [];
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, "rl.toml"), tomlText(treeOf(settings), name));
      cpSync(join(projects.get("grpo")!, "gradus_tasks.py"), join(folder, name, "gradus_tasks.py"));
      return [join(folder, name)];
    });
    assert.ok(folders.length > 250, `${folders.length}`);
    const errors = Object.entries(said("accepts", { folders }, acceptsSchema)).flatMap(([path, { error }]) =>
      error === null ? [] : [`${basename(path)}: ${error}`],
    );
    assert.deepEqual(errors, []);
  });

  it("have their tasks and their rewards from verifiers", async () => {
    const { folder, config } = rewardProject(
      configText(
        `{ terms: { number: { use: numeric, weight: 2 }, tags: { use: format, tags: [think, answer], weight: 0.5 }, near: { use: equation, tasks: [countdown] }, brief: { use: length, limit: 20 }, own: { use: ./rewards/own.py:compute_score, weight: 0.25 } } }`,
      ),
    );
    const text = readFileSync(config.file, "utf8");
    const out = await primeProject(text, folder);
    const asked = answers("data");
    const scorer = new AnswerScorer(config);
    const ours = await scorer.score(asked);
    await scorer.close();
    const found = said(
      "scores",
      {
        folder: out,
        answers: asked.map(({ task, response }) => ({
          task: { ...task, arm: "an arm" },
          response,
          tokens: response.length,
        })),
      },
      z.object({
        rendered: z.array(z.string()),
        tasks: z.array(z.tuple([z.string(), z.string().nullable(), z.string()])),
        held: z.array(z.string()),
        unique: z.number(),
        scores: z.array(
          z.object({
            error: z.string().nullable(),
            terms: z.record(z.string(), z.number().nullable()).nullable(),
            reward: z.number().nullable(),
          }),
        ),
      }),
    );
    assert.deepEqual(
      found.tasks.map(([, , id]) => id),
      drawnIn(out),
    );
    assert.equal(found.unique, found.tasks.length);
    assert.ok(found.held.length > 0);
    // What the policy is asked is the prompt alone, where there is no template.
    found.rendered.forEach((one, at) => assert.ok(one.includes(found.tasks[at]![0]), one));
    for (const [at, { error, terms, reward }] of found.scores.entries()) {
      const failed = Object.keys(ours[at]!.errors).length > 0;
      assert.equal(error !== null, failed, `${at}: ${String(error)}`);
      if (failed) continue;
      assert.deepEqual(terms, ours[at]!.terms);
      assert.ok(Math.abs(reward! - ours[at]!.reward!) < 1e-12);
    }
    assert.ok(found.scores.some(({ error }) => error !== null));
  });
});

/** Room for the longest answers. */
const rest =
  "name: there\nmodel: { base: tiny, context: 1000000 }\ntasks: [{ env: countdown }]\nreward: { terms: { correct: equation } }\nsteps: 10\n";

/** Of rl.toml; undefined where nothing trains by rewards. */
function settingsOf(folder: string, name: string): JsonObject | undefined {
  const { config } = loadConfig(join(folder, `${name}.gradus.yaml`), {
    text: `extends: ${name}\n${rest}`,
    recorded: true,
    needs: needs.written,
    set: ["engine.use=prime-rl"],
  });
  if (config === undefined) return undefined;
  try {
    const { settings } = primeRlPlan(config);
    const [train, held] = ["orchestrator.train.source", "orchestrator.eval.source"];
    return {
      inference: {},
      "orchestrator.renderer.name": "default",
      ...settings,
      [`${train}.env.taskset.id`]: "gradus_tasks",
      [`${held}.env.taskset.id`]: "gradus_tasks",
    };
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}
