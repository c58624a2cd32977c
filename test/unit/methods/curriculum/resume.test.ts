/** Every combination of parts that fits goes on from saved state exactly as it would have gone on without, given-up steps or not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Capability, Declaration } from "../../../../server/core/declaration.ts";
import type { Curriculum } from "../../../../server/algorithm/curriculum/curriculum.ts";
import type { DrawnTask } from "../../../../server/algorithm/curriculum/draws.ts";
import {
  admissions,
  arms,
  budgets,
  estimators,
  refills,
  samplers,
  signals,
} from "../../../../server/methods/curriculum/index.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import type { Saved } from "../../../../server/core/basics.ts";
import type { Group } from "../../../../server/core/rollouts.ts";
import { some } from "../../../support/thorough.ts";
import { at, curriculaOf, group } from "./support.ts";

/** Parameters that some have to be given. */
const given: Readonly<Record<string, string>> = {
  label: "{ use: label, field: length }",
  fields: "{ use: fields, fields: [operator], pool: 60 }",
  prompt: "{ use: prompt, pool: 60 }",
  gmm: "{ use: gmm, fit_every: 20, components: [1, 2], probe_every: 10, probe_points: 5 }",
  again: "{ use: again, fit_every: 20, components: [1, 2], probe_every: 10, probe_points: 5 }",
  retain_hardest: "{ use: retain_hardest, keep: 8, every: 2 }",
};
/** They read files or models: their own tests save and load them. */
const elsewhere = new Set(["angle_concentration", "surrogate", "value_head", "label"]);

const text = ({ name }: Declaration): string => given[name] ?? name;
const giving = (...parts: readonly Declaration[]): Set<Capability> =>
  new Set(parts.flatMap(({ gives = [] }) => gives));
const fits = (...parts: readonly Declaration[]): boolean => {
  const all = giving(...parts);
  return parts.every(({ takes = [], name }) => takes.every((need) => all.has(need)) && !elsewhere.has(name));
};

const through = (saved: Saved): Saved => ({
  json: JSON.parse(JSON.stringify(saved.json)),
  arrays: Object.fromEntries(
    Object.entries(saved.arrays ?? {}).map(([name, array]) => [name, array.slice()]),
  ),
});

/** Fixed by step and place: what the policy does must not depend on who asks. */
function outcome(arm: string, task: Group["task"], step: number, i: number): Group {
  const random = randomStream("outcome", step, i);
  const rewards = Array.from({ length: 4 }, () => Number(random.next() < 0.5));
  return group(rewards, { arm, task, advantages: Float64Array.from(rewards, (r) => r - 0.5) });
}

/** Tasks of a step, after everything that is to be tried before it. */
async function draw(curriculum: Curriculum, now: number): Promise<DrawnTask[]> {
  const clock = at(now);
  for (let wish = curriculum.nextPilots(clock); wish !== undefined; wish = curriculum.nextPilots(clock)) {
    const tried = curriculum.tasksOf(wish, 1, clock);
    curriculum.observePilots(
      tried.map(({ arm, task }, i) => outcome(arm, task, now, i)),
      clock,
    );
  }
  return curriculum.draw(curriculum.asks(6, clock), randomStream("step", now), clock);
}

async function step(curriculum: Curriculum, now: number): Promise<string[]> {
  const clock = at(now);
  const drawn = await draw(curriculum, now);
  const groups = drawn.map(({ arm, task }, i) => outcome(arm, task, now, i));
  const verdicts = groups.map((one) => curriculum.admit(one));
  const more = curriculum.more({ wanted: 6, admitted: 1, drawn: groups.length, round: 1 });
  curriculum.observe(groups, verdicts, clock);
  return [...drawn.map(({ arm, task, rollouts }) => `${arm} ${task.prompt} ${rollouts ?? ""}`), String(more)];
}

async function resumes(text: string, steps = 6): Promise<void> {
  const make = curriculaOf(text, "[{ env: arithmetic, digits: [1, 2, 3] }]");
  const whole = make();
  let resumed = make();
  for (let now = 0; now < steps; now++) {
    const expected = await step(whole, now);
    assert.deepEqual(await step(resumed, now), expected, `${text}, step ${now}`);
    assert.ok(expected.length > 1, text);
    // What was saved before a step that is then given up is what a checkpoint holds, and what is put back.
    const boundary = resumed.save();
    const kept = through(boundary);
    await draw(resumed, now + 1);
    assert.deepEqual(through(boundary), kept, `${text}, given up in step ${now + 1}`);
    const next = now % 2 === 0 ? make() : resumed;
    next.load(next === resumed ? boundary : through(boundary));
    resumed = next;
  }
}

const common = "admission: none, budget: fixed";
for (const division of arms)
  test(`arms ${division.name}: every sampler over every estimator resumes exactly`, async () => {
    const fitting: string[] = [];
    for (const estimator of estimators)
      for (const sampler of samplers) {
        const signal = signals.find((one) => one.name === "success_rate")!;
        if (!fits(division, signal, estimator, sampler)) continue;
        // Arms of names have no numbers, and single tasks are distinguished by their lengths.
        const how =
          estimator.name !== "static"
            ? text(estimator)
            : division.name === "difficulty"
              ? "static"
              : division.name === "prompt"
                ? "{ use: static, by: prompt_length }"
                : undefined;
        if (how === undefined) continue;
        fitting.push(
          `{ arms: ${text(division)}, signal: success_rate, estimator: ${how}, sampler: ${text(sampler)}, ${common} }`,
        );
      }
    assert.ok(fitting.length > 10, String(fitting.length));
    for (const curriculum of some(fitting, 5)) await resumes(curriculum, 4);
  });

test("every signal, admission, refill and budget resumes exactly", async () => {
  const rest = "estimator: last, sampler: boltzmann";
  for (const signal of signals)
    if (!elsewhere.has(signal.name)) {
      const division = signal.takes?.includes("points") ? "parameters" : "difficulty";
      await resumes(`{ arms: ${division}, signal: ${text(signal)}, ${rest} }`);
    }
  for (const admission of admissions)
    await resumes(`{ arms: { use: prompt, pool: 60 }, admission: ${text(admission)}, ${rest} }`);
  for (const refill of refills)
    await resumes(`{ arms: difficulty, admission: { use: success_band, refill: ${text(refill)} }, ${rest} }`);
  for (const budget of budgets)
    await resumes(
      `{ arms: difficulty, signal: variance, budget: ${text(budget)}, estimator: beta, sampler: thompson }`,
    );
});
