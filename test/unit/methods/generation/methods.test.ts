/** Selectors, transforms, gates and the answers' vote, against their formulas by hand. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { answersDiffer, diversity } from "../../../../server/methods/generation/gates/answersDiffer.ts";
import { band } from "../../../../server/methods/generation/gates/band.ts";
import { builds } from "../../../../server/methods/generation/gates/builds.ts";
import { goldPasses } from "../../../../server/methods/generation/gates/goldPasses.ts";
import { judges } from "../../../../server/methods/generation/gates/judges.ts";
import { notTrivial } from "../../../../server/methods/generation/gates/notTrivial.ts";
import { roundTrip } from "../../../../server/methods/generation/gates/roundTrip.ts";
import { solvable } from "../../../../server/methods/generation/gates/solvable.ts";
import { wording } from "../../../../server/methods/generation/gates/wording.ts";
import { majority } from "../../../../server/methods/generation/majority.ts";
import { failures } from "../../../../server/methods/generation/selectors/failures.ts";
import { neverLearned, slope } from "../../../../server/methods/generation/selectors/neverLearned.ts";
import { rewardRange } from "../../../../server/methods/generation/selectors/rewardRange.ts";
import { successBand } from "../../../../server/methods/generation/selectors/successBand.ts";
import { weakSkills } from "../../../../server/methods/generation/selectors/weakSkills.ts";
import { similarity } from "../../../../server/methods/generation/similarity.ts";
import { critique } from "../../../../server/methods/generation/transforms/critique.ts";
import { evolve } from "../../../../server/methods/generation/transforms/evolve.ts";
import { feedback } from "../../../../server/methods/generation/transforms/feedback.ts";
import { maskSpan } from "../../../../server/methods/generation/transforms/maskSpan.ts";
import { recombine } from "../../../../server/methods/generation/transforms/recombine.ts";
import { simplify } from "../../../../server/methods/generation/transforms/simplify.ts";
import type { Candidate, Gate, RememberedTask } from "../../../../server/core/slots/generation.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { group, task } from "../curriculum/support.ts";
import { made, near } from "../../support.ts";

const seen = (
  rates: readonly number[],
  rewards: readonly [number, number, number] = [0, 1, 0.25],
): RememberedTask => ({
  task,
  rates,
  least: rewards[0],
  most: rewards[1],
  mean: rewards[2],
  answers: [],
});

test("selectors choose failures, bands and ranges by a task's last group, and tasks never learned by all of them", () => {
  const weights = (selector: { weigh(seen: RememberedTask): number }, rates: readonly number[]): number[] =>
    rates.map((rate) => selector.weigh(seen([1, rate])));
  assert.deepEqual(weights(made(failures, {}), [0, 0.1, 1]), [1, 0, 0]);
  assert.deepEqual(weights(made(failures, { at_most: 0.1 }), [0, 0.1, 0.2]), [1, 1, 0]);
  assert.deepEqual(weights(made(successBand, { low: 0, high: 0.3 }), [0, 0.3, 0.31]), [1, 1, 0]);
  assert.deepEqual(weights(made(successBand, { low: 0.3, high: 0.7 }), [0.3, 0.31, 0.7]), [0, 1, 1]);
  assert.equal(made(rewardRange, {}).weigh(seen([0.5], [-1, 2, 0.5])), 3);
  assert.equal(made(rewardRange, { below: "mean" }).weigh(seen([0.5], [-1, 2, 0.5])), 1.5);
  const never = made(neverLearned, {});
  assert.equal(never.weigh(seen([0.2, 0.1, 0.1])), 1);
  assert.equal(never.weigh(seen([0.1, 0.2, 0.3])), 0, "it gets better");
  assert.equal(never.weigh(seen([0.5, 0, 0])), 0, "it was half right once");
  assert.equal(never.weigh(seen([0])), 0, "one group tells nothing");
  assert.ok(near(slope([1, 3, 2, 6]), 1.4));
});

const candidate = (rewards: readonly number[], more: Partial<Candidate> = {}): Candidate => ({
  task,
  parent: task,
  tried: group(rewards),
  read: undefined,
  ...more,
});
const passes = (gate: Gate, ...candidates: readonly Candidate[]): boolean[] =>
  candidates.map((one) => gate.admit(one).admitted);

test("gates: some attempt solves it, some does not, the rate is in a band; errors alone pass none", () => {
  const tries = [candidate([0, 0]), candidate([0, 1]), candidate([1, 1]), candidate([])];
  assert.deepEqual(passes(made(solvable, {}), ...tries), [false, true, true, false]);
  assert.deepEqual(passes(made(notTrivial, {}), ...tries), [true, true, false, false]);
  assert.deepEqual(passes(made(band, { low: 0.5, high: 0.875 }), ...tries), [false, true, false, false]);
});

test("words that a prompt must have, or must not", () => {
  const says = (prompt: string) => candidate([], { task: { ...task, prompt } });
  const gate = made(wording, { forbid: "\\bprove\\b", require: "\\?$" });
  const proof = says("Prove that there are two?");
  assert.deepEqual(passes(gate, says("How many?"), proof, says("Count them.")), [true, false, false]);
  assert.deepEqual(passes(made(wording, { require: "count" }), proof, says("Count them.")), [false, true]);
  assert.throws(() => made(wording, {}), /require.*forbid/);
});

test("gates of the text: what no environment reads does not build; a wrong answer does not come back", () => {
  const read = { ...task, answer: "4" };
  const known = candidate([], { read, task: { ...task, answer: "4" } });
  const wrong = candidate([], { read, task: { ...task, answer: "5" } });
  const unread = candidate([], { read: null });
  assert.deepEqual(passes(made(builds, {}), known, wrong, unread, candidate([])), [true, true, false, false]);
  assert.deepEqual(passes(made(roundTrip, {}), known, wrong, unread), [true, false, false]);
});

test("a vote takes the answer that enough attempts give; those without one count against it", () => {
  const vote = { pattern: String.raw`(\S[^\n]*)\s*$`, at_least: 0.5 };
  assert.equal(majority(["so\n12", "12 ", "7", ""], vote), "12");
  assert.equal(majority(["12", "7", "", ""], vote), null);
  assert.equal(majority([], vote), null);
  assert.equal(majority(["x=3;", "y", "x=3; yes"], { pattern: "x=(\\d)", at_least: 0.6 }), "3");
});

test("requests carry the parents; a mask hides words of the text, which are the answer", () => {
  const parent = { ...task, prompt: "How many legs have two cats?", answer: "8" };
  const other = { ...task, prompt: "How many have three?" };
  assert.match(made(simplify, {}).ask([parent]), /two cats\?\n\nAnswer: 8/);
  assert.equal(made(simplify, { request: "{prompt}|{answer}|{other}" }).ask([parent]), `${parent.prompt}|8|`);
  assert.match(made(recombine, {}).ask([parent, other]), /two cats\?\nHow many have three\?/);
  assert.notEqual(made(evolve, {}).ask([parent]), made(evolve, { way: "breadth" }).ask([parent]));
  const text = { ...task, prompt: "a  quick brown ", solution: "fox" };
  const answers = new Set<string>();
  for (let i = 0; i < 40; i++) {
    const draft = made(maskSpan, { words: 2, request: "{text}" }).make?.(
      { ...seen([1]), task: text },
      randomStream(i),
    );
    assert.equal(draft?.prompt.replace("[MASK]", draft.answer ?? ""), "a  quick brown fox");
    answers.add(draft?.answer ?? "");
  }
  assert.deepEqual([...answers].sort(), ["a  quick", "brown fox", "quick brown"]);
  assert.equal(made(maskSpan, { words: 9 }).make?.({ ...seen([1]), task: text }, randomStream(1)), null);
});

test("kinds of task get parents by how often they fail, or by what part of them is never learned", () => {
  const skill = (tasks: number, chosen: number, rate: number) => ({ name: "k", tasks, chosen, rate });
  const { share } = made(weakSkills, { above: 0.3 });
  assert.deepEqual(
    [0, 0.25, 0.7, 0.71].map((rate) => share?.(skill(4, 4, rate))),
    [1, 0.75, 1 - 0.7, 0],
  );
  assert.equal(made(neverLearned, { budget: "failure_ratio" }).share?.(skill(8, 2, 0.1)), 0.25);
  assert.equal(made(neverLearned, {}).share, undefined);
});

test("parents are alike by their letters: equal texts 1, disjoint ones 0, a paraphrase between", () => {
  assert.ok(near(similarity("Make 7 from 3", "make  7 from 3 "), 1));
  assert.equal(similarity("abc def", "xyz uvw"), 0);
  // " ab", "abc", "bc " against " ab", "abd", "bd ": one of three in common.
  assert.ok(near(similarity("abc", "abd"), 1 / 3));
});

test("a critique shows a response and asks for its verdict, right and wrong ones alike often", () => {
  const answers = [
    ...["a", "b", "c"].map((response) => ({ response, right: true })),
    { response: "z", right: false },
  ];
  const verdicts = new Map<string, string>();
  let wrong = 0;
  const transform = made(critique, {});
  for (let i = 0; i < 400; i++) {
    const draft = transform.make?.({ ...seen([0.75]), answers }, randomStream(i));
    const response = String(draft?.data["response"]);
    assert.match(draft?.prompt ?? "", new RegExp(`A solution:\\n${response}\\n`));
    verdicts.set(response, draft?.answer ?? "");
    wrong += Number(draft?.answer === "F");
  }
  assert.deepEqual(Object.fromEntries([...verdicts].sort()), { a: "T", b: "T", c: "T", z: "F" });
  assert.ok(Math.abs(wrong - 200) < 4 * 10, String(wrong));
  const alike = { ...seen([1]), answers: [{ response: "a", right: true }] };
  assert.equal(transform.make?.(alike, randomStream(1))?.answer, "T");
  assert.equal(transform.make?.(seen([1]), randomStream(1)), null, "nothing was remembered");
});

test("a request says how often each kind of task is solved", () => {
  assert.match(
    made(feedback, {}).ask([task], "countdown/4: 12 % solved"),
    /solved:\ncountdown\/4: 12 % solved\n/,
  );
  assert.equal(made(evolve, { request: "{feedback}!" }).ask([task], "so"), "so!");
  assert.equal(made(evolve, { take: "`(.*)`" }).take?.first("so `a\nb`")?.[1], "a\nb", "over lines too");
});

test("a written solution must be right; enough judges must say yes", () => {
  const gold = made(goldPasses, {});
  const reasons = [group([1]), group([0]), group([]), undefined].map((one) => {
    const verdict = gold.admit(candidate([], { gold: one }));
    return verdict.admitted ? null : verdict.reason;
  });
  assert.deepEqual(reasons, [
    null,
    "its written solution is not a success",
    "its written solution could not be scored",
    "it has no written solution",
  ]);
  const most = made(judges, { judges: ["policy", "policy", "policy"], at_least: 0.6, temperature: 0.6 });
  assert.equal(most.panel?.temperature, 0.6);
  assert.equal(most.panel?.judges.length, 3);
  assert.match(most.panel.ask({ ...task, prompt: "1+1?", answer: "2" }), /1\+1\?\n\nAnswer: 2/);
  const said = (...texts: readonly string[]) => most.admit(candidate([], { said: texts })).admitted;
  assert.deepEqual(
    [said("Yes.", "no", " YES, it is"), said("yes", "no", "yesterday"), said()],
    [true, false, false],
  );
});

test("diversity is the entropy of the answers over that of all different", () => {
  assert.equal(diversity(["a", "b", "c"]), 1);
  assert.equal(diversity(["a", "a", "a"]), 0);
  assert.ok(near(diversity(["a", "a", "b", "b"]), Math.log(2) / Math.log(4)));
  assert.equal(diversity([]), 0);
  const tried = (...texts: readonly string[]) =>
    candidate([], {
      tried: group(
        texts.map(() => 0),
        { answers: texts.map((response) => ({ response, right: false })) },
      ),
    });
  const gate = made(answersDiffer, { at_least: 0.5 });
  assert.deepEqual(
    passes(gate, tried("so\n12", "7", "it is\n12", "7"), tried("12", "so\n12"), candidate([0, 0])),
    [true, false, false],
  );
});
