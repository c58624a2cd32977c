/**
 * Curricula put together at random, of every part and of parameters from all of their ranges: what does not fit is a
 * diagnostic that lists what does, and what fits goes through thirty simulated steps and goes on from saved state.
 */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import type { Curriculum } from "../../../../server/algorithm/curriculum/curriculum.ts";
import type { Declaration } from "../../../../server/core/declaration.ts";
import type { Diagnostic } from "../../../../server/config/check/diagnostic.ts";
import { loadConfig } from "../../../../server/rules/load.ts";
import type { StageBody } from "../../../../server/core/config/resolved.ts";
import {
  admissions,
  arms,
  budgets,
  estimators,
  refills,
  samplers,
  signals,
} from "../../../../server/methods/curriculum/index.ts";
import { starts } from "../../../../server/methods/curriculum/start/index.ts";
import { randomStream, type Random } from "../../../../server/lib/random.ts";
import type { Saved } from "../../../../server/core/basics.ts";
import { Learner } from "../../../../server/analysis/simulate/learner.ts";
import { scenarios } from "../../../../server/analysis/simulate/scenarios.ts";
import { Play, simulatedCurriculum, type Answering } from "../../../../server/analysis/simulate/simulate.ts";
import { simulatedOf } from "../../../../server/analysis/simulate/source.ts";
import { gainOf } from "../../../../server/analysis/simulate/groups.ts";

const steps = 30;
const slots = {
  arms,
  signal: signals,
  estimator: estimators,
  sampler: samplers,
  admission: admissions,
  refill: refills,
  budget: budgets,
  start: starts,
};
type Slot = keyof typeof slots;

/** Parameters that name a thing of the config or of its tasks, and those whose size is only time. */
const given: Readonly<Record<string, Record<string, unknown>>> = {
  "arms fields": { fields: ["operator"], pool: 40 },
  "arms prompt": { pool: 40 },
  "signal label": { field: "digits" },
  "estimator static": { by: "prompt_length" },
  "estimator value_head": { perceptron: "value" },
  "estimator surrogate": { pilots: "../config/few.jsonl" },
  "start guide": { model: "helper" },
  // Together they are at most 1.
  "sampler prerequisites": { review: 0.3, explore: 0.2 },
  "sampler gmm": { components: [1, 2, 3], fit_every: 20, probe_points: 5, probe_samples: 2 },
  "sampler again": {
    components: [1, 2, 3],
    fit_every: 20,
    probe_points: 5,
    probe_samples: 2,
    probe_every: 30,
  },
};

type Described = { type?: string; minimum?: number; maximum?: number; exclusiveMinimum?: number };
const farthest = 1e6;

/** A number of the range, its ends as often as what lies between; undefined: the default. */
function numberOf(of: Described & { exclusiveMaximum?: number; default?: unknown }, random: Random): unknown {
  const low = of.minimum ?? of.exclusiveMinimum ?? 0;
  const high = Math.min(of.maximum ?? of.exclusiveMaximum ?? farthest, farthest);
  const whole = of.type === "integer";
  switch (random.integer(4)) {
    case 0:
      return undefined;
    case 1:
      return of.minimum ?? (whole ? low + 1 : low + 1e-6);
    case 2:
      return of.exclusiveMaximum === undefined ? Math.min(high, Math.max(low, 4)) : high - 1e-3;
    default: {
      const value = low + (Math.min(high, low + 3) - low) * (0.05 + 0.9 * random.next());
      return whole ? Math.max(low, Math.round(value)) : value;
    }
  }
}

function valueOf(schema: Record<string, unknown>, random: Random): unknown {
  const choice = Array.isArray(schema["anyOf"]) ? (schema["anyOf"][0] as Record<string, unknown>) : schema;
  const names = choice["enum"];
  if (Array.isArray(names)) return names[random.integer(names.length)];
  if (choice["type"] === "boolean") return random.next() < 0.5;
  if (choice["type"] === "number" || choice["type"] === "integer") return numberOf(choice, random);
  return undefined;
}

function paramsOf(method: Declaration, random: Random): Record<string, unknown> {
  const { properties = {} } = z.toJSONSchema(method.params, { io: "input", unrepresentable: "any" });
  const drawn = Object.entries(properties).flatMap(([name, schema]) => {
    const value = valueOf(schema as Record<string, unknown>, random);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(drawn), ...given[`${method.slot} ${method.name}`] };
}

const several = { shape: { use: "multi_attempt", high: 2 }, max_tokens: 8 };

type Parts = Record<Slot, { use: string } & Record<string, unknown>>;

function partsOf(random: Random): Parts {
  const chosen = Object.entries(slots).map(([slot, methods]) => {
    const method: Declaration = methods[random.integer(methods.length)]!;
    return [slot, { use: method.name, ...paramsOf(method, random) }] as const;
  });
  return Object.fromEntries(chosen) as Parts;
}

function load({ refill, admission, ...parts }: Parts): ReturnType<typeof loadConfig> {
  const config = {
    model: { base: "tiny" },
    models: {
      helper: { base: "tiny" },
      value: { kind: "mlp", inputs: 8, widths: [4], outputs: 1, trains: true, optimizer: "adamw" },
    },
    tasks: [{ env: "arithmetic", digits: [1, 2] }],
    // A start in the middle of episodes needs some with a middle.
    rollout: { prompts: 5, group: 4, ...(parts.start.use === "mid_episode" && several) },
    reward: { terms: { right: { use: "format", tags: ["a"] } } },
    curriculum: { ...parts, admission: { ...admission, refill } },
  };
  return loadConfig(resolve("test/fixtures/curriculum/any.gradus.yaml"), { text: JSON.stringify(config) });
}

const through = (saved: Saved): Saved => ({
  json: JSON.parse(JSON.stringify(saved.json)),
  arrays: Object.fromEntries(
    Object.entries(saved.arrays ?? {}).map(([name, array]) => [name, array.slice()]),
  ),
});

/** Two of the same life: the one goes on, the other is saved and made again after every step. */
class Twin {
  curriculum: Curriculum;
  private readonly learner: Learner;
  private readonly random = randomStream(7, "twin");
  private readonly world = scenarios[0]!.world(randomStream(7));

  constructor(private readonly body: StageBody) {
    this.learner = new Learner(this.world);
    this.curriculum = this.fresh();
  }
  private fresh(): Curriculum {
    return simulatedCurriculum(this.body, this.world, this.random);
  }
  renew(): void {
    const saved = through(this.curriculum.save());
    this.curriculum = this.fresh();
    this.curriculum.load(saved);
  }
  async step(step: number): Promise<unknown> {
    const { learner } = this;
    const answering: Answering = {
      attempt: ({ task }, count, random) => {
        const { level, extra } = simulatedOf(task);
        return learner.attempt(level, extra, count, random);
      },
      train: (groups) =>
        learner.update(groups.map((one) => ({ level: simulatedOf(one.task).level, gain: gainOf(one) }))),
    };
    const clock = { step, stageStep: step };
    const { groups, verdicts } = await new Play(this.body, this.curriculum, answering, this.random).step(
      clock,
    );
    const probabilities = this.curriculum.probabilities({ step: step + 1, stageStep: step + 1 });
    return {
      drawn: groups.map(({ arm, task, rewards }) => [arm, task.id, task.data, [...rewards]]),
      verdicts,
      probabilities: [...probabilities],
      estimates: [...probabilities.keys()].map((arm) => this.curriculum.estimate(arm)),
      faults: this.curriculum.faults(),
      ability: [...learner.ability],
    };
  }
}

/** After how many steps it is made again. */
function pauses({ estimator: { use } }: Parts): number {
  // A perceptron's weights lie with the models, not with the curriculum; a surrogate fits its pilots each time.
  return use === "value_head" ? Number.POSITIVE_INFINITY : use === "surrogate" ? 13 : 1;
}

const say = (parts: Parts): string => JSON.stringify(parts);

async function lives(body: StageBody, parts: Parts): Promise<void> {
  const [whole, resumed] = [new Twin(body), new Twin(body)];
  for (let step = 0; step < steps; step++) {
    const [expected, actual] = [await whole.step(step), await resumed.step(step)];
    assert.deepEqual(actual, expected, `${say(parts)}, resumed before step ${step}`);
    const { probabilities, drawn, faults } = expected as { probabilities: number[] } & Record<
      string,
      unknown[]
    >;
    const sum = probabilities.reduce((total, p) => total + p, 0);
    assert.ok(
      probabilities.every((p) => p >= 0) && (Math.abs(sum - 1) < 1e-9 || sum === 0),
      `${say(parts)}, step ${step}: probabilities sum to ${sum}`,
    );
    // An admission that tries tasks first may find that nothing is left to learn.
    const screens = parts.admission.use === "greedy_wrong";
    assert.ok(screens || drawn!.length > 0, `${say(parts)}, step ${step}: nothing drawn`);
    assert.deepEqual(faults, [], say(parts));
    if ((step + 1) % pauses(parts) === 0) resumed.renew();
  }
}

/** What a message offers in the place of a part, and of which slot. */
function offered(message: string): { slot: string; names: string[] } {
  const [, slot = "", list = ""] = /, or the (\w+) (.*)\.$/u.exec(message) ?? [];
  return { slot, names: [...list.matchAll(/`([^`]+)`/gu)].map(([, name]) => name!) };
}

const misfits = (parts: Parts): Diagnostic[] =>
  load(parts).diagnostics.filter(({ rule }) => rule === "curriculum-parts");

/** What is offered leaves no diagnostic of its own. */
function helps({ message }: Diagnostic, parts: Parts): void {
  const { slot, names } = offered(message);
  assert.ok(names.length > 0, `${say(parts)}: ${message}`);
  for (const use of names) {
    const changed = { ...parts, [slot]: { use, ...given[`${slot} ${use}`] } };
    assert.ok(
      misfits(changed).every((other) => offered(other.message).slot !== slot),
      `${say(parts)}: ${message} But ${use} does not fit.`,
    );
  }
}

/** Each lives thirty steps twice: a few at every run of the tests, and as many as one likes by hand. */
const tries = Number(process.env["GRADUS_COMBINATIONS"] ?? 2);
const seed = Number(process.env["GRADUS_SEED"] ?? 1);

/** Parts around an estimator: any, or such as it fits with. */
function around(estimator: Declaration, random: Random, fitting: boolean): Parts {
  for (let i = 0; ; i++) {
    const parts: Parts = {
      ...partsOf(random.fork(i)),
      estimator: { use: estimator.name, ...paramsOf(estimator, random.fork("estimator", i)) },
    };
    if (!fitting || load(parts).diagnostics.every(({ severity }) => severity !== "error")) return parts;
  }
}

for (const estimator of estimators)
  test(`with the estimator ${estimator.name}, ${tries} curricula at random fit or say what does`, async () => {
    const count = { misfits: 0, lives: 0 };
    for (let i = 0; i < tries; i++) {
      const parts = around(estimator, randomStream(seed, "combination", estimator.name, i), i % 2 === 0);
      const { config, diagnostics } = load(parts);
      const errors = diagnostics.filter(({ severity }) => severity === "error");
      for (const one of errors.filter(({ rule }) => rule === "curriculum-parts")) helps(one, parts);
      if (errors.length > 0) count.misfits++;
      else {
        await lives(config!.top, parts);
        count.lives++;
      }
    }
    assert.ok(count.lives >= tries / 2, JSON.stringify(count));
  });
