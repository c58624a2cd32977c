/** Judges on a scale, in pairs, of lists and of sentences, by a real server; and at one token of a model. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { judge } from "../../../../server/methods/reward/judges/judge.ts";
import { judgeList } from "../../../../server/methods/reward/judges/judgeList.ts";
import { judgeLogit } from "../../../../server/methods/reward/judges/judgeLogit.ts";
import { judgePairs } from "../../../../server/methods/reward/judges/judgePairs.ts";
import { judgeSentences, sentencesOf } from "../../../../server/methods/reward/judges/judgeSentences.ts";
import { kendall, rankAgreement } from "../../../../server/methods/reward/judges/rankAgreement.ts";
import type { RewardTerm } from "../../../../server/core/reward.ts";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import { chatServer } from "../../../support/chatServer.ts";
import { open, stir } from "../../engine/support.ts";
import { batchOf, made, near } from "../../support.ts";
import { noModels, rowOf, saidBy } from "./support.ts";

type Said = (number | string | readonly number[])[];

/** A term's rewards, with a server that answers, and how often it was asked. */
async function byServer(
  answer: Parameters<typeof chatServer>[0],
  term: (judge: { readonly url: string; readonly model: string }) => RewardTerm,
  rows: readonly RolloutRow[],
  more: Parameters<typeof saidBy>[2] = {},
): Promise<{ readonly said: Said; readonly asked: readonly string[] }> {
  const server = await chatServer(answer);
  try {
    const said = await saidBy(term({ url: server.url, model: "any" }), rows, more);
    return { said, asked: server.asked.map(({ text }) => text) };
  } finally {
    await server.close();
  }
}
const responses = (...texts: readonly string[]): RolloutRow[] =>
  texts.map((text, index) => rowOf(text, { index, prompt: "ask", task: { data: {} } }));

test("judge: the last score on the scale; one that is missing or outside is an error, not 0", async () => {
  const { said } = await byServer(
    (text) => /Answer: (.*)/.exec(text)![1]!,
    (own) => made(judge, { judge: own }),
    responses("Score: 2, no, Score: 8", "score = 0", "**Score:** 10", "Score: 11", "nothing", "SCORE 2.5/10"),
  );
  assert.deepEqual(
    said.map((one) => (typeof one === "number" ? one : String(one).slice(0, 30))),
    [0.8, 0, 1, "the judge's score 11 is not fr", "the judge gave no score that `", 0.25],
  );
});

test("several judges: mean, median or least; one without a score leaves the response an error", async () => {
  const of = async (merge: "mean" | "median" | "least", third = "Score: 9"): Promise<Said> => {
    const { said } = await byServer(
      (_, __, model) => ({ any: "Score: 1", second: "Score: 5" })[model] ?? third,
      (own) =>
        made(judge, {
          judge: own,
          also: ["second", "third"].map((model) => ({ ...own, model })),
          merge,
          to_unit: false,
        }),
      responses("x"),
    );
    return said;
  };
  assert.deepEqual([await of("mean"), await of("median"), await of("least")], [[5], [5], [1]]);
  assert.match(String((await of("mean", "?"))[0]), /no score/);
});

test("judge after a rule: asked only where the rule has not decided", async () => {
  const { said, asked } = await byServer(
    () => "Score: 5",
    (own) => made(judge, { judge: own, unless: "rule" }),
    responses("right", "open", "not asked of"),
    {
      said: () => [{ kind: "value", value: 1 }, { kind: "value", value: 0 }, { kind: "none" }],
    },
  );
  assert.deepEqual(said, ["none", 0.5, 0.5]);
  assert.equal(asked.length, 2);
});

test("a server that refuses is an error of each response, after one more request", async () => {
  const { said, asked } = await byServer(
    () => 500,
    (own) => made(judge, { judge: own }),
    responses("a", "a"),
  );
  assert.match(String(said[0]), /The judge at .* did not answer: 500/);
  assert.equal(said[0], said[1]);
  assert.equal(asked.length, 2);
});

/** Prefers what comes later in the alphabet; where `first`, whatever it reads first. */
const verdict =
  (first: boolean) =>
  (text: string): string => {
    const [, a, b] = /Answer A: (.*)\n\nAnswer B: (.*)\n/.exec(text)!;
    return first || a! > b! ? "I prefer A" : a === b ? "a tie" : "B";
  };

test("judge_pairs: win rates in the group; a judge that prefers the first answer prefers none", async () => {
  const rows = responses("b", "a", "c");
  const { said, asked } = await byServer(verdict(false), (own) => made(judgePairs, { judge: own }), rows);
  assert.deepEqual(said, [0.5, 0, 1]);
  assert.equal(asked.length, 6);
  const biased = await byServer(verdict(true), (own) => made(judgePairs, { judge: own }), rows);
  assert.deepEqual(biased.said, [0.5, 0.5, 0.5]);
  const once = await byServer(
    verdict(false),
    (own) => made(judgePairs, { judge: own, swap: false, opponents: 1 }),
    [...rows, rowOf("alone", { group: "other" })],
  );
  assert.equal(once.asked.length, 3);
  assert.match(String(once.said[3]), /no other response/);
});

test("judge_pairs against an anchor of the task", async () => {
  const rows = ["a", "b", "c"].map((text) => rowOf(text, { task: { answer: "b", data: { sft: "a" } } }));
  const of = (anchor: string): Promise<{ said: Said }> =>
    byServer(verdict(false), (own) => made(judgePairs, { judge: own, anchor }), rows);
  assert.deepEqual((await of("answer")).said, [0, 0.5, 1]);
  assert.deepEqual((await of("sft")).said, [0.5, 1, 1]);
  assert.match(String((await of("none")).said[0]), /field `none`/);
});

test("judge_list: one question a group, a score for each; another number of scores is an error of all", async () => {
  const rows = [...responses("x", "y"), rowOf("z", { group: "other" })];
  const { said, asked } = await byServer(
    (text) => (text.includes("z") ? "scores [1, 2]" : "Reasons [a]. [10, 2.5]"),
    (own) => made(judgeList, { judge: own }),
    rows,
  );
  assert.deepEqual(said.slice(0, 2), [1, 0.25]);
  assert.match(String(said[2]), /2 scores for 1 answers/);
  assert.equal(asked.length, 2);
});

test("rank_agreement is Kendall's τ with the gold order", async () => {
  assert.equal(kendall([3, 2, 1], [9, 5, 1]), 1);
  assert.equal(kendall([3, 2, 1], [1, 5, 9]), -1);
  assert.ok(near(kendall([4, 3, 2, 1], [4, 3, 1, 2]), 4 / 6));
  assert.ok(near(kendall([2, 2, 1], [1, 2, 1]), 1 / 2));
  const row = (text: string): RolloutRow => rowOf(text, { task: { data: { scores: [3, 1] } } });
  const term = made(rankAgreement, {});
  assert.deepEqual(
    await saidBy(term, ["[8, 2]", "<think>[1, 2]</think> [1 2]", "8, 2", "[8]"].map(row)),
    [1, -1, -1, -1],
  );
});

test("judge_sentences: each sentence in two steps, and the verdict by sentence is kept", async () => {
  assert.deepEqual(sentencesOf("It is 3.5. So\nthere! Yes"), ["It is 3.5.", "So", "there!", "Yes"]);
  const row = rowOf("Good one. Bad one.", { task: { data: { documents: "doc" } } });
  const answer = (text: string): string => {
    if (text.startsWith("Documents: doc")) return text.includes("Bad") ? "It is not there: no." : "yes";
    assert.match(text, /support it: (yes|It is not there: no\.)/);
    return text.includes("Bad") ? "No." : "Yes.";
  };
  const of = (aggregate: "mean" | "min"): Promise<{ said: Said; asked: readonly string[] }> =>
    byServer(answer, (own) => made(judgeSentences, { judge: own, aggregate }), [row]);
  const { said, asked } = await of("mean");
  assert.deepEqual(said, [0.5]);
  assert.equal(asked.length, 4);
  assert.deepEqual((await of("min")).said, [0]);
  const open = await byServer(
    () => "perhaps",
    (own) => made(judgeSentences, { judge: own }),
    [row],
  );
  assert.match(String(open.said[0]), /neither yes nor no/);
});

test("judge_logit: log p(yes) − log p(no) at one token, by principle", async () => {
  const policy = await open();
  stir(policy);
  const models = { names: ["policy"], get: () => policy, perceptron: () => assert.fail() };
  const term = made(judgeLogit, { ask: "{response} {principle}", field: "principles", of: "policy" });
  const row = rowOf("good", {
    task: { data: { principles: ["is short", { criterion: "is long", points: -2 }] } },
  });
  const [value] = await term.score(batchOf([row]), { ...noModels, models });
  assert.ok(value?.kind === "value" && value.criteria?.length === 2);
  const odds = value.criteria.map(({ met }) => Math.log(met! / (1 - met!)));
  assert.ok(near(value.value, odds[0]! - 2 * odds[1]!, 1e-9));
  const flipped = made(judgeLogit, {
    ask: "{response} {principle}",
    field: "principles",
    yes: "No",
    no: "Yes",
    of: "policy",
  });
  const [other] = await flipped.score(batchOf([row]), { ...noModels, models });
  assert.ok(other?.kind === "value" && near(other.value, -value.value, 1e-9));
  const same = made(judgeLogit, { of: "policy", no: "Yet" });
  assert.ok(Math.abs(value.value) > 1e-3);
  await assert.rejects(same.score(batchOf([row]), { ...noModels, models }), /alike/);
});
