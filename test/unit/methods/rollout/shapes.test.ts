/** What shapes of episodes say and allow, and what a term says of attempts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { attemptsIn, scoredByAttempts } from "../../../../server/algorithm/rewards/attempts.ts";
import { batchOfSamples } from "../../../../server/core/rows/sampledRows.ts";
import { termAttempts, type TermAttempts } from "../../../../server/core/blocks/reward.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { CharacterTokenizer } from "../../../../server/engine/tokenizers/characters.ts";
import { episodeShapes } from "../../../../server/methods/rollout/shapes/index.ts";
import type { EpisodeShape } from "../../../../server/core/slots/episodes.ts";
import type { Turn } from "../../../../server/core/slots/turn.ts";
import type { TermValue } from "../../../../server/core/slots/reward.ts";
import type { Lead } from "../../../../server/core/slots/guidance.ts";
import type { Batch } from "../../../../server/core/rollouts.ts";
import type { RewardContext } from "../../../../server/core/reward.ts";
import { Algorithm, contextOf } from "../../../../server/algorithm/algorithm.ts";
import { advantagesOfRow } from "../../../../server/algorithm/advantages/advantageColumns.ts";
import { outcome } from "../../../../server/algorithm/rewards/rewards.ts";
import { Scorer } from "../../../../server/algorithm/rewards/scoring.ts";
import { configOf } from "../../support.ts";

const made = (use: string, params: Readonly<Record<string, unknown>> = {}): EpisodeShape => {
  const declaration = episodeShapes.find(({ name }) => name === use)!;
  return declaration.create(declaration.params.parse(params), {
    folder: "",
    random: randomStream(1),
    max_tokens: 16,
    group: 4,
  });
};

test("attempts: as many as drawn, each number as likely, and over at the first right one", () => {
  const shape = made("multi_attempt", { low: 1, high: 5 });
  const counts = new Map<number, number>();
  for (let i = 0; i < 5000; i++) {
    const n = shape.tries(randomStream(1, "tries", i));
    counts.set(n, (counts.get(n) ?? 0) + 1);
  }
  assert.deepEqual([...counts.keys()].sort(), [1, 2, 3, 4, 5]);
  // Chi-square with 4 degrees of freedom, 99.9 %.
  const chi = [...counts.values()].reduce((sum, count) => sum + (count - 1000) ** 2 / 1000, 0);
  assert.ok(chi < 18.5, String(chi));
  assert.equal(shape.reply({ number: 1, tries: 3, right: true }), undefined);
  assert.equal(shape.reply({ number: 3, tries: 3, right: false }), undefined);
  assert.equal(shape.reply({ number: 1, tries: 3, right: undefined }), undefined, "nobody can tell");
  assert.match(shape.reply({ number: 1, tries: 3, right: false })!, /2 left/);
  assert.equal(made("multi_attempt", { low: 2, high: 2 }).tries(randomStream(1)), 2);
});

test("what is asked first may say how many attempts there are", () => {
  const shape = made("multi_attempt", { ask: "{prompt} ({left} tries)" });
  assert.equal(shape.ask!("1+1=", 4), "1+1= (4 tries)");
  assert.equal(made("multi_attempt").ask, undefined);
});

test("self_correct: two attempts, whatever the first was", () => {
  const shape = made("self_correct", { instruction: "again" });
  for (const right of [true, false, undefined])
    assert.equal(shape.reply({ number: 1, tries: 2, right }), "again");
  assert.equal(shape.reply({ number: 2, tries: 2, right: false }), undefined);
  assert.equal(made("single").most, 1);
});

const tokenizer = new CharacterTokenizer();
const written = (text: string): Extract<Lead, { kind: "own" }>["sample"] => {
  const tokens = Int32Array.from([...tokenizer.encode(text), tokenizer.eos]);
  const column = new Float64Array(tokens.length).fill(-1);
  return {
    tokens,
    logp_old: column,
    logp_sampled: column,
    entropy: column,
    versions: new Int32Array(tokens.length),
  };
};

/** An episode of these attempts, with "no" said between two of them. */
function episode(texts: readonly string[], group = "g"): Parameters<typeof batchOfSamples>[0][number] {
  const lead: Lead[] = [];
  const turns: Turn[] = [];
  let at = 0;
  texts.forEach((text, i) => {
    turns.push({ role: "assistant", start: at, end: at + text.length + 1, text, finish: "stop" });
    at += text.length + 1;
    if (i + 1 === texts.length) return;
    lead.push({ kind: "own", sample: written(text) }, { kind: "observed", tokens: tokenizer.encode("no") });
    turns.push({ role: "user", start: at, end: at + 2, text: "no" });
    at += 2;
  });
  return {
    record: {
      task: { id: "t", source: "t", env: "t", prompt: "?", data: {}, answer: "ok" },
      arm: "t",
      group,
      index: 0,
      prompt: "?",
      response: texts.join("no"),
      finish: "stop",
      source: "self",
      use: "train",
      turns,
      tries: 3,
    },
    sample: written(texts.at(-1)!),
    context: tokenizer.encode("?"),
    lead,
  };
}

const context: RewardContext = {
  models: {
    names: [],
    get: () => assert.fail("no model is asked"),
    perceptron: () => assert.fail("no model is asked"),
  },
  tokenizer,
  clock: { step: 0, stageStep: 0 },
};

/** Pays the letters of a response; none: "-" does not apply, "!" fails. */
const letters = {
  score: (batch: Batch): Promise<TermValue[]> =>
    Promise.resolve(
      batch.records.map(({ response }): TermValue =>
        response === "-"
          ? { kind: "none" }
          : response === "!"
            ? { kind: "error", message: "no" }
            : { kind: "value", value: response.length },
      ),
    ),
};

test("an attempt is a row of its own, after all that came before it", () => {
  const batch = batchOfSamples([episode(["ab", "ok"]), episode(["cd"])]);
  const { batch: all, of } = attemptsIn(batch, "all");
  assert.deepEqual(
    of.map(({ row, turn }) => [row, turn]),
    [
      [0, 0],
      [0, 2],
      [1, 0],
    ],
  );
  const context = (row: number): string =>
    tokenizer.decode(all.context.values.subarray(all.context.offsets[row], all.context.offsets[row + 1]));
  assert.deepEqual([context(0), context(1), context(2)], ["?", "?abno", "?"]);
  const texts = of.map((_, i) => tokenizer.decode(all.tokens.subarray(all.offsets[i], all.offsets[i + 1])));
  assert.deepEqual(texts, ["ab", "ok", "cd"]);
  assert.ok(all.origin.every((kind) => kind === 0));
  assert.ok(all.records.every(({ turns }) => turns === undefined));
  assert.deepEqual(
    attemptsIn(batch, "last").batch.records.map(({ response }) => response),
    ["ok", "cd"],
  );
});

const scored = async (how: TermAttempts, ...rows: readonly (readonly string[])[]): Promise<unknown[]> => {
  const values = await scoredByAttempts(
    letters,
    how,
    batchOfSamples(rows.map((texts) => episode(texts))),
    context,
  );
  return values.map((value) =>
    value.kind === "value" ? value.value : value.kind === "values" ? value.values : value.kind,
  );
};

test("the last, each, the best, the sum, or the whole episode", async () => {
  const rows = [["a", "bbb", "cc"], ["dddd"]];
  const nan = Number.NaN;
  assert.deepEqual(await scored("last", ...rows), [2, 4]);
  assert.deepEqual(await scored("each", ...rows), [[1, nan, 3, nan, 2], [4]]);
  assert.deepEqual(await scored("best", ...rows), [3, 4]);
  assert.deepEqual(await scored("sum", ...rows), [6, 4]);
  assert.deepEqual(await scored("episode", ...rows), ["anobbbnocc".length, 4]);
});

test("an attempt that a term does not apply to counts for nothing, and one that fails fails the episode", async () => {
  const nan = Number.NaN;
  assert.deepEqual(await scored("each", ["-", "bb"]), [[nan, nan, 2]]);
  assert.deepEqual(await scored("best", ["-", "-"]), ["none"]);
  assert.deepEqual(await scored("last", ["!", "bb"]), [2]);
  for (const how of termAttempts.options.filter((one) => one !== "last" && one !== "episode"))
    assert.deepEqual(await scored(how, ["a", "!"]), ["error"]);
});

test("values by token of the last attempt are at its tokens", async () => {
  const byToken = {
    score: (batch: Batch): Promise<TermValue[]> =>
      Promise.resolve(
        batch.records.map((_, row): TermValue => ({
          kind: "values",
          level: "token",
          values: Array.from({ length: batch.offsets[row + 1]! - batch.offsets[row]! }, (_, i) => i),
        })),
      ),
  };
  const [value] = await scoredByAttempts(byToken, "last", batchOfSamples([episode(["a", "b"])]), context);
  const nan = Number.NaN;
  assert.deepEqual(value, { kind: "values", level: "token", values: [nan, nan, nan, nan, 0, 1] });
});

test("spans that a term finds in an attempt count from the response's beginning", async () => {
  const spans = {
    score: (batch: Batch): Promise<TermValue[]> =>
      Promise.resolve(batch.records.map((): TermValue => ({ kind: "none", spans: { error: [[0, 1]] } }))),
  };
  const [value] = await scoredByAttempts(spans, "each", batchOfSamples([episode(["ab", "cd"])]), context);
  assert.deepEqual(value, {
    kind: "none",
    spans: {
      error: [
        [0, 1],
        [4, 5],
      ],
    },
  });
});

test("what is made of criteria is reported of the last attempt", async () => {
  const judged = {
    score: (batch: Batch): Promise<TermValue[]> =>
      Promise.resolve(
        batch.records.map(({ response }): TermValue => ({
          kind: "value",
          value: 1,
          criteria: [{ text: response, points: 1, met: 1 }],
        })),
      ),
  };
  for (const how of termAttempts.options.filter((one) => one !== "episode")) {
    const [value] = await scoredByAttempts(judged, how, batchOfSamples([episode(["ab", "cd"])]), context);
    assert.deepEqual(value?.criteria, [{ text: "cd", points: 1, met: 1 }], how);
  }
});

/** What a reward gives episodes, and the advantages of a config without a baseline. */
async function paid(
  reward: string,
  rows: readonly (readonly string[])[],
): Promise<{ batch: Batch; totals: number[]; success: number[]; advantages: Float64Array }> {
  const config = configOf(`
tasks: [{ env: countdown }]
model: { context: 512 }
rollout: { shape: self_correct }
advantage: { level: turn, baseline: none, scale: none }
reward: ${reward}
`);
  const made = contextOf(config.top, { random: randomStream(1) });
  const batch = batchOfSamples(rows.map((texts, i) => episode(texts, `g${i}`)));
  const columns = await new Scorer(config.top.reward, made).score(batch, context);
  const algorithm = new Algorithm(config.top, made);
  const scored = algorithm.rewards(columns, batch, context.clock);
  const found = algorithm.advantages(scored.combined, batch, {}, context.clock);
  return {
    batch,
    totals: [...scored.combined.total],
    success: [...scored.success],
    advantages: Float64Array.from(
      Array.from({ length: batch.rows }, (_, row) => [...advantagesOfRow(found, batch, row)]).flat(),
    ),
  };
}

const cases = [
  ["no", "no"],
  ["no", "ok"],
  ["ok", "no"],
  ["ok", "ok"],
];
/** Of each episode the values at the first token of its first and of its second attempt. */
const ofTurns = ({ batch, advantages }: Awaited<ReturnType<typeof paid>>): number[][] =>
  cases.map((_, row) =>
    batch.records[row]!.turns!.filter(({ role }) => role === "assistant").map(
      ({ start }) => advantages[batch.offsets[row]! + start]!,
    ),
  );

test("SCoRe: the second attempt earns its reward and ten times what it gained", async () => {
  const found = await paid(
    "{ terms: { correct: exact_match }, attempts: each, combine: { use: progress, alpha: 10 } }",
    cases,
  );
  const second = [0, 11, -10, 1];
  assert.deepEqual(found.totals, [0, 11, 1 - 10, 2]);
  assert.deepEqual(ofTurns(found), [
    [0, 0],
    [11, 11],
    [1 - 10, -10],
    [2, 1],
  ]);
  assert.deepEqual(
    ofTurns(found).map(([, last]) => last),
    second,
  );
});

test("a success is what the last attempt is, also where each is scored", async () => {
  for (const attempts of ["last", "each"]) {
    const { success } = await paid(
      `{ terms: { correct: { use: exact_match, attempts: ${attempts} } } }`,
      cases,
    );
    assert.deepEqual(success, [outcome.wrong, outcome.right, outcome.wrong, outcome.right]);
  }
  const { success } = await paid("{ terms: { correct: exact_match }, attempts: best }", cases);
  assert.deepEqual(success, [outcome.wrong, outcome.right, outcome.right, outcome.right]);
});

test("tiers: 1 where an attempt is right, −0.5 where one has the form and none is right, −1 otherwise", async () => {
  const reward =
    "{ terms: { correct: exact_match, form: { use: format, pattern: 'ok|no' } }, attempts: best, combine: { use: tiers, values: [1, -0.5], otherwise: -1 } }";
  const { totals } = await paid(reward, [["??", "ok"], ["no", "??"], ["??", "?!"], ["ok"]]);
  assert.deepEqual(totals, [1, -0.5, -1, 1]);
});
