/** Identities of the papers on guidance, through the parts that presets choose. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { contextOf } from "../../../../server/algorithm/algorithm.ts";
import { create } from "../../../../server/core/create.ts";
import { expected, shareFor } from "../../../../server/methods/guidance/amount/irt.ts";
import { instruction } from "../../../../server/methods/guidance/source/instruction.ts";
import { firstTokens } from "../../../../server/core/templates.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import type { AmountQuestion, HelpedRound } from "../../../../server/core/slots/guidance.ts";
import { task } from "../../../support/batch.ts";
import { FakeModels, fakeTokenizer } from "../../../support/fakePolicy.ts";
import { configOf, near } from "../../support.ts";

const bodyOf = (preset: string, more = "") =>
  configOf(
    `extends: ${preset}\ntasks: [{ env: arithmetic }]\nreward: { terms: { correct: numeric } }\n${more}`,
  ).top;
const amountOf = (preset: string, more = "") => {
  const body = bodyOf(preset, more);
  return create(body.guidance.amount, contextOf(body, { random: randomStream(1) }));
};
const triggerOf = (preset: string, more = "") => {
  const body = bodyOf(preset, more);
  return create(body.guidance.trigger, contextOf(body, { random: randomStream(1) }));
};
const at = (step: number) => ({ step, stageStep: step });
const question: AmountQuestion = {
  task: task("t"),
  member: 0,
  members: 8,
  round: 0,
  earlier: [],
  clock: at(0),
  steps: 100,
  random: randomStream(1),
  shared: randomStream(2),
};
const chiSquare = (counts: readonly number[], shares: readonly number[]): number => {
  const all = counts.reduce((sum, count) => sum + count, 0);
  return counts.reduce((sum, count, i) => sum + (count - all * shares[i]!) ** 2 / (all * shares[i]!), 0);
};

test("RuscaRL: λ = (G − i)/(G − 1) · 1/(1 + exp(125 (t − 0.2))) for every member of eight, over the run", () => {
  const amount = amountOf("ruscarl", "guidance: { amount: { over: 51 } }\n");
  for (const step of [0, 5, 9, 10, 11, 15, 50, 80])
    for (let i = 1; i <= 8; i++) {
      const asked = amount.share({ ...question, member: i - 1, clock: at(step) })?.share;
      const fading = 1 / (1 + Math.exp(125 * (Math.min(1, step / 50) - 0.2)));
      assert.ok(near(asked, ((8 - i) / 7) * fading), `step ${step}, member ${i}`);
    }
  const first = amount.share({ ...question, clock: at(0) })!.share;
  assert.ok(first > 1 - 1e-10 && first <= 1);
  assert.equal(amount.share({ ...question, member: 7 })?.share, 0);
});

test("GHPO: nothing, then a quarter, a half and three quarters while all fail, then no more", () => {
  const amount = amountOf("ghpo");
  const earlier: HelpedRound[] = [{ share: 0, rollouts: 8, successes: 0 }];
  const shares: number[] = [];
  for (let round = 0; round < 5; round++) {
    const share = amount.share({ ...question, round, earlier: [...earlier] })?.share;
    if (share === undefined) break;
    shares.push(share);
    earlier.push({ share, rollouts: 8, successes: 0 });
  }
  assert.deepEqual(shares, [0.25, 0.5, 0.75]);
  assert.equal(amount.rounds, 3);
});

test("SEELE: a(1 − a) is largest at its target, and every curve meets the target where it says", () => {
  const target = Number(bodyOf("seele").guidance.amount.params["target"]);
  for (let a = 0; a <= 1; a += 0.05) assert.ok(a * (1 - a) <= target * (1 - target) + 1e-12);
  for (const chance of [0, 0.2, 0.45])
    for (const slope of [1, 8, 50])
      for (const middle of [0.1, 0.5, 0.9]) {
        const curve = { chance, slope, middle };
        const share = shareFor(curve, target);
        const met = expected(curve, share);
        // Where the target lies beyond the ends, the end is taken.
        assert.ok(near(met, target, 1e-9) || (share === 0 && met > target) || (share === 1 && met < target));
      }
});

test("Prefix-RFT: ⌊ℓ n⌋ tokens, ℓ ~ U(low, 0.95), low = 0.95 (1 + cos πt)/2 (100,000 draws)", () => {
  const amount = amountOf("prefix-rft");
  for (const step of [25, 50, 75]) {
    const low = (0.95 * (1 + Math.cos((Math.PI * step) / 100))) / 2;
    const counts = new Array<number>(5).fill(0);
    for (let i = 0; i < 100_000; i++) {
      const { share } = amount.share({ ...question, clock: at(step), random: randomStream("l", i) })!;
      assert.ok(share >= low - 1e-12 && share <= 0.95);
      counts[Math.min(4, Math.floor((5 * (share - low)) / (0.95 - low)))]! += 1;
    }
    const chi = chiSquare(counts, [0.2, 0.2, 0.2, 0.2, 0.2]);
    assert.ok(chi < 18.5, `step ${step}: χ² = ${chi}`);
  }
  const tokens = (share: number): number => firstTokens("abcdefghij", share, "token", fakeTokenizer).length;
  assert.deepEqual([0.95, 0.39, 0.1, 0.09, 0].map(tokens), [9, 3, 1, 0, 0]);
});

test("PPO++ and REX-RAG: as many are helped as the probability says (100,000 rollouts)", () => {
  for (const [preset, share] of [
    ["rlgf", 0.5],
    ["rex-rag", 20 / 101],
  ] as const) {
    const failed = { task: task("t"), size: 100_000, success: new Uint8Array(100_000) };
    const helped = triggerOf(preset).members(failed, { clock: at(0), random: randomStream(preset) }).length;
    const chi = chiSquare([helped, 100_000 - helped], [share, 1 - share]);
    assert.ok(chi < 10.8, `${preset}: χ² = ${chi}`);
  }
  const solved = { task: task("t"), size: 8, success: new Uint8Array(8).fill(1) };
  const where = { clock: at(0), random: randomStream(1) };
  for (const preset of ["rex-rag", "ghpo", "guide", "egsr", "ampo", "agent-rlvr"])
    assert.deepEqual([...triggerOf(preset).members(solved, where)], [], preset);
  const one = { ...solved, success: Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 1) };
  for (const preset of ["ghpo", "guide", "egsr", "ampo", "agent-rlvr"])
    assert.deepEqual([...triggerOf(preset).members(one, where)], [], `${preset}: one is right`);
});

test("pPE: five behaviours, each asked for by its tag", async () => {
  for (const [prior, tag] of Object.entries({
    think: "think",
    plan: "plan",
    code: "code",
    knowledge: "knowledge",
    null_examples: "examples",
  })) {
    const body = bodyOf("ppe", `guidance: { source: { prior: ${prior} } }\n`);
    assert.equal(body.guidance.source.declaration.name, instruction.name);
    const source = create(body.guidance.source, contextOf(body, { random: randomStream(1) }));
    const asked = { ...task("t"), prompt: "2+2=" };
    const [help] = await source.help(
      [{ task: asked, share: 1, member: 0, random: randomStream(1), key: [prior] }],
      {
        models: new FakeModels(),
        tokenizer: fakeTokenizer,
        clock: at(0),
        max_tokens: 8,
        plain: 0,
        write: () => Promise.reject(new Error("it writes nothing")),
        likelihood: () => Promise.reject(new Error("it scores nothing")),
      },
    );
    assert.match(JSON.stringify(help), new RegExp(`<${tag}>.*</${tag}>.*2\\+2=`));
  }
});
