/** A pattern that a config or a data set gives meets a model's text: each place ends, whatever the text, and never to the model's gain. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { RewardTerm } from "../../../../server/core/reward.ts";
import { endsIn, matchesIn } from "../../../../server/lib/textSpans.ts";
import { TextPattern } from "../../../../server/lib/texts/textPattern.ts";
import { answersDiffer } from "../../../../server/methods/generation/gates/answersDiffer.ts";
import { wording } from "../../../../server/methods/generation/gates/wording.ts";
import { majority } from "../../../../server/methods/generation/majority.ts";
import { abstain } from "../../../../server/methods/reward/calibration/abstain.ts";
import { format } from "../../../../server/methods/reward/format.ts";
import { winIn } from "../../../../server/methods/reward/judges/judgePairs.ts";
import { scoreIn, type Scale } from "../../../../server/methods/reward/judges/scores.ts";
import { rubric } from "../../../../server/methods/reward/rubric/rubric.ts";
import { verdict } from "../../../../server/methods/reward/verdict.ts";
import type { JsonObject } from "../../../../shared/lib/json.ts";
import { batchOf, made } from "../../support.ts";
import { noModels, plain, rowOf } from "./support.ts";

/** Goes back 2^n times on n letters and another. */
const endless = "(a+)+$";
const text = (n: number): string => `${"a".repeat(n)}!`;
/** Both forty and eighty letters take longer than anyone waits. */
const lengths = [40, 80];

const valueOf = async (term: RewardTerm, response: string, data: JsonObject = {}): Promise<unknown> => {
  const row = rowOf(response, { task: { data: { answer: "aa", ...data } } });
  const [one] = await term.score(batchOf([row]), noModels);
  return plain(one!);
};

test("a text that a pattern takes too long on earns the least that its term gives", async () => {
  for (const n of lengths) {
    assert.equal(await valueOf(made(format, { pattern: `${endless}x` }), text(n)), 0);
    assert.equal(await valueOf(made(format, { pattern: endless, present: -1, absent: 0 }), text(n)), -1);
    assert.equal(await valueOf(made(verdict, { pattern: endless }), text(n)), 0);
    const criteria = [
      { criterion: "right", points: 1, regex: endless },
      { criterion: "bad", points: -1, regex: endless },
    ];
    assert.equal(await valueOf(made(rubric, {}), text(n), { rubric: criteria }), -1);
  }
});

test("what is not known admits nothing, and finds nothing", () => {
  const gate = (params: object) =>
    made(wording, params as never).admit({ task: { prompt: text(60) } } as never);
  assert.equal(gate({ require: endless }).admitted, false);
  assert.equal(gate({ forbid: endless }).admitted, false);
  const tried = { answers: [{ response: text(60) }, { response: text(61) }] };
  assert.equal(made(answersDiffer, { pattern: endless }).admit({ tried } as never).admitted, false);
  assert.equal(majority([text(60)], { pattern: endless, at_least: 0 }), null);
  assert.equal(typeof winIn({ text: text(60) } as never, endless), "string");
  const scale: Scale = { pattern: endless, low: 0, high: 10, to_unit: true };
  assert.equal(typeof scoreIn({ text: text(60) } as never, scale), "string");
  assert.deepEqual(matchesIn(text(60), new TextPattern(endless)), []);
  assert.deepEqual(endsIn(text(60), new TextPattern(endless)), []);
  assert.ok(made(abstain, { of: "correct", refusal: endless }));
});

test("patterns keep what JavaScript makes of them", () => {
  const one = new TextPattern(String.raw`(?<=<b>)(?<word>\p{L}+)(?=</b>)(?!.*\1)`, "u");
  assert.equal(one.first("<b>eins</b> <b>zwei</b>")?.groups?.["word"], "eins");
  assert.equal(one.test("<b>eins</b> eins"), false);
  assert.deepEqual(
    new TextPattern("(\\d)(\\d)", "s").all("12 34").map(({ 1: first, index }) => [first, index]),
    [
      ["1", 0],
      ["3", 3],
    ],
  );
});
