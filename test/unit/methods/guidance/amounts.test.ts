/** Triggers, amounts and start states: the numbers that the papers give. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import type { Declaration, MethodContext } from "../../../../server/core/declaration.ts";
import { expected, fitCurve, shareFor } from "../../../../server/methods/guidance/amount/irt.ts";
import { guidanceAmounts, guidanceTriggers } from "../../../../server/methods/guidance/index.ts";
import { starts } from "../../../../server/methods/curriculum/start/index.ts";
import { firstText, firstTokens, partsOf } from "../../../../server/core/templates.ts";
import { randomStream, type Random } from "../../../../server/lib/random.ts";
import type { HelpCurve } from "../../../../server/core/help.ts";
import type {
  AmountQuestion,
  Finished,
  GuidanceAmount,
  HelpedRound,
  StartContext,
} from "../../../../server/core/slots/guidance.ts";
import type { Saved } from "../../../../server/core/basics.ts";
import { task } from "../../../support/batch.ts";
import { FakeModels, fakeTokenizer } from "../../../support/fakePolicy.ts";

const context: MethodContext = { folder: ".", random: randomStream(1), max_tokens: 10, group: 4 };
const made = <Slot extends "guidance_amount" | "guidance_trigger" | "start">(
  list: readonly Declaration<Slot>[],
  name: string,
  params: object = {},
): ReturnType<Declaration<Slot>["create"]> => {
  const declaration = list.find((one) => one.name === name)!;
  return declaration.create(declaration.params.parse(params), context);
};
const at = (step: number): { step: number; stageStep: number } => ({ step, stageStep: step });
const ask = (amount: GuidanceAmount, more: Partial<AmountQuestion> = {}): number | undefined =>
  amount.share({
    task: task("t"),
    member: 0,
    members: 1,
    round: 0,
    earlier: [],
    clock: at(0),
    steps: 100,
    random: randomStream(7),
    shared: randomStream(8),
    ...more,
  })?.share;

test("RuscaRL: the first of a group is shown all, the last nothing, and a sigmoid takes it away", () => {
  const whole = made(guidanceAmounts, "group_gradient", { slope: 0 });
  assert.equal(ask(whole, { member: 0, members: 8 })! * 2, 1, "slope 0 leaves half of all");
  assert.equal(ask(whole, { member: 7, members: 8 }), 0);
  assert.ok(Math.abs(ask(whole, { member: 2, members: 8 })! - 5 / 7 / 2) < 1e-12);
  assert.equal(ask(whole, { member: 0, members: 1 }), 0.5, "a group of one has the first one's share");
  const source = made(guidanceAmounts, "group_gradient", { over: 101 });
  assert.equal(ask(source, { members: 8, clock: at(20) }), 0.5);
  const early = 1 / (1 + Math.exp(125 * (0.1 - 0.2)));
  assert.ok(Math.abs(ask(source, { members: 8, clock: at(10) })! - early) < 1e-12);
  assert.ok(ask(source, { members: 8, clock: at(0) })! > 1 - 1e-10);
  assert.ok(ask(source, { members: 8, clock: at(40) })! < 1e-10);
});

test("GHPO: a quarter, a half, three quarters, and no more once a rollout has succeeded", () => {
  const ladder = made(guidanceAmounts, "ladder");
  const plain = { share: 0, rollouts: 4, successes: 0 };
  const failed = (share: number): typeof plain => ({ share, rollouts: 4, successes: 0 });
  assert.equal(ladder.rounds, 3);
  assert.equal(ladder.spread, "retries");
  assert.equal(ask(ladder, { earlier: [plain] }), 0.25);
  assert.equal(ask(ladder, { round: 1, earlier: [plain, failed(0.25)] }), 0.5);
  assert.equal(ask(ladder, { round: 2, earlier: [plain, failed(0.25), failed(0.5)] }), 0.75);
  assert.equal(
    ask(ladder, { round: 1, earlier: [plain, { ...failed(0.25), successes: 1 }] }),
    undefined,
    "it succeeded",
  );
});

test("SEELE: the fit recovers a known logistic, and the next share is where it meets the target", () => {
  const known = { chance: 0.1, slope: 12, middle: 0.6 };
  const shares = [0, 0.15, 0.3, 0.45, 0.55, 0.6, 0.65, 0.75, 0.9, 1];
  const seen = shares.map((share) => ({
    share,
    rollouts: 1e7,
    successes: 1e7 * expected(known, share),
  }));
  const fitted = fitCurve(seen);
  assert.ok(Math.abs(fitted.chance - known.chance) < 2e-3, `chance ${fitted.chance}`);
  assert.ok(Math.abs(fitted.slope - known.slope) < 0.15, `slope ${fitted.slope}`);
  assert.ok(Math.abs(fitted.middle - known.middle) < 2e-3, `middle ${fitted.middle}`);
  assert.ok(Math.abs(expected(known, shareFor(known, 0.5)) - 0.5) < 1e-12);
  assert.equal(shareFor(known, 0.05), 0, "below what chance gives nothing helps less");
  const irt = made(guidanceAmounts, "irt");
  assert.equal(irt.spread, "parts");
  assert.equal(irt.rounds, 4);
  assert.ok(Math.abs(ask(irt)! - 0.5) < 0.02, "nothing seen: half of the solution");
  const hard = ask(irt, { earlier: [{ share: 0.5, rollouts: 2, successes: 0 }] })!;
  const easy = ask(irt, { earlier: [{ share: 0.5, rollouts: 2, successes: 2 }] })!;
  assert.ok(hard > 0.55 && easy < 0.45, `${hard} and ${easy}`);
});

test("SEELE: least squares over the rates of the rounds, 0 at no help and 1 at all of it where none was asked", () => {
  const round = (share: number, successes: number): HelpedRound => ({ share, rollouts: 8, successes });
  const error = (curve: HelpCurve, points: readonly (readonly [number, number])[]): number =>
    points.reduce((sum, [share, rate]) => sum + (expected(curve, share) - rate) ** 2, 0);
  // Five points for three parameters: the least sum over a fine grid is the fit's, to what the grid can tell.
  const seen = [round(0.2, 1), round(0.5, 4), round(0.7, 5)];
  const points = [
    [0.2, 1 / 8],
    [0.5, 4 / 8],
    [0.7, 5 / 8],
    [0, 0],
    [1, 1],
  ] as const;
  const fitted = fitCurve(seen, "least_squares");
  let least = Number.POSITIVE_INFINITY;
  for (let chance = 0; chance <= 0.3; chance += 0.01)
    for (let slope = 1; slope <= 30; slope += 0.25)
      for (let middle = 0.2; middle <= 0.8; middle += 0.01)
        least = Math.min(least, error({ chance, slope, middle }, points));
  assert.ok(error(fitted, points) <= least + 1e-5, `${error(fitted, points)} and ${least}`);
  assert.ok(fitted.slope <= 50 && fitted.chance >= 0);
  // Two rounds of one share count as their mean, twice: as two rounds that had it.
  assert.deepEqual(
    fitCurve([round(0.4, 0), round(0.4, 8), round(0.8, 6)], "least_squares"),
    fitCurve([round(0.4, 4), round(0.4, 4), round(0.8, 6)], "least_squares"),
  );
  // All succeed after nearly all of it: between nothing and that the middle is taken.
  const next = shareFor(fitCurve([round(0.999, 8)], "least_squares"), 0.5);
  assert.ok(next > 0.4 && next < 0.6, `${next}`);
  // All fail even so: only all of it is known to help.
  assert.ok(shareFor(fitCurve([round(0.9, 0)], "least_squares"), 0.5) > 0.9);
});

test("SEELE: a task begins with all but the end of its solution, and when it comes again where it left off, after a reload too", () => {
  const params = { first: 0.999, remember: true, fit: "least_squares" };
  const irt = made(guidanceAmounts, "irt", params);
  const again = made(guidanceAmounts, "irt", params);
  const one: HelpedRound = { share: 0.999, rollouts: 8, successes: 8 };
  assert.equal(ask(irt), 0.999);
  const second = ask(irt, { round: 1, earlier: [one] })!;
  assert.ok(second < 0.7);
  assert.equal(ask(irt), second, "the last share, and no curve before there is a round");
  assert.equal(ask(irt, { task: task("other") }), 0.999);
  again.load!(JSON.parse(JSON.stringify(irt.save!())) as Saved);
  assert.equal(ask(again), second);
  assert.equal(made(guidanceAmounts, "irt").save, undefined, "what remembers nothing has nothing to save");
});

test("levels: all rollouts of a group have one share, and each level as many groups", () => {
  const levels = made(guidanceAmounts, "levels");
  const counts = new Map<number, number>();
  for (let group = 0; group < 5000; group++) {
    const shared = (): Random => randomStream("group", group);
    const share = ask(levels, { shared: shared(), random: randomStream("a", group) })!;
    assert.equal(ask(levels, { shared: shared(), random: randomStream("b", group), member: 1 }), share);
    counts.set(share, (counts.get(share) ?? 0) + 1);
  }
  assert.deepEqual(
    [...counts.keys()].sort((a, b) => a - b),
    [0, 0.25, 0.5, 0.75, 1],
  );
  const chi = [...counts.values()].reduce((sum, count) => sum + (count - 1000) ** 2 / 1000, 0);
  assert.ok(chi < 18.5, `χ² ${chi} of four degrees`);
});

test("shares are uniform between ends that may fall by a cosine, as in Prefix-RFT", () => {
  const uniform = made(guidanceAmounts, "uniform", {
    low: { schedule: "cosine", from: 0.95, to: 0, over: 100 },
    high: 0.95,
  });
  const draws = (step: number): number[] =>
    Array.from({ length: 4000 }, (_, i) => ask(uniform, { clock: at(step), random: randomStream("u", i) })!);
  assert.ok(draws(0).every((share) => Math.abs(share - 0.95) < 1e-12));
  const middle = draws(50);
  assert.ok(Math.min(...middle) >= 0.475 && Math.max(...middle) <= 0.95);
  const late = draws(100);
  const mean = late.reduce((sum, share) => sum + share, 0) / late.length;
  assert.ok(Math.abs(mean - 0.475) < 0.02 && Math.min(...late) < 0.01);
  assert.equal(ask(made(guidanceAmounts, "fixed", { share: 0.3 })), 0.3);
});

test("triggers choose members by what they see", () => {
  const group = { task: task("t"), size: 4, success: Uint8Array.of(0, 1, 0, 2) };
  const where = { clock: at(5), random: randomStream(3) };
  const chosen = (name: string, params: object = {}, seen: typeof group = group): number[] => [
    ...made(guidanceTriggers, name, params).members(seen, where),
  ];
  assert.deepEqual(chosen("none"), []);
  assert.deepEqual(chosen("always"), [0, 1, 2, 3]);
  assert.deepEqual(chosen("wrong"), [0, 2], "an unknown outcome is no failure");
  assert.deepEqual(chosen("all_fail"), []);
  const failed = { ...group, success: new Uint8Array(4) };
  assert.deepEqual(chosen("all_fail", {}, failed), [0, 1, 2, 3]);
  assert.deepEqual(chosen("all_fail", { after_step: 6 }, failed), []);
  const many = { ...group, size: 20_000 };
  const share = chosen("fraction", { share: 0.3 }, many).length / many.size;
  assert.ok(Math.abs(share - 0.3) < 0.015, `${share}`);
});

test("texts are cut in whole units, rounding of the share forgiven", () => {
  assert.equal(partsOf(0.29, 100), 29);
  assert.equal(partsOf(0.95, 7), 6);
  assert.equal(firstText("one two three four", 0.5, "word", fakeTokenizer), "one two");
  assert.equal(firstText("a\nb\nc\nd", 0.75, "line", fakeTokenizer), "a\nb\nc\n");
  assert.equal(firstText("One is. Two is! Three", 0.34, "sentence", fakeTokenizer), "One is.");
  assert.deepEqual([...firstTokens("abcd", 0.5, "token", fakeTokenizer)], [...fakeTokenizer.encode("ab")]);
});

const finished = (successes: number, of: number): Finished => ({
  task: task("t", { solution: "a\nb\nc\nd\n" }),
  arm: "x",
  rewards: new Float64Array(of),
  advantages: new Float64Array(0),
  successes,
  lengths: new Float64Array(of),
  rollouts: Array.from({ length: of }, (_, i) => ({
    tokens: Int32Array.of(10, 11, 12, 13),
    entropy: Float64Array.of(0.1, 0.9, 0.5, 0.2),
    success: i < successes,
    prefilled: false,
  })),
});
const startContext: StartContext = {
  models: new FakeModels(),
  tokenizer: fakeTokenizer,
  clock: at(0),
  max_tokens: 10,
  random: randomStream(5),
  write: () => Promise.reject(new Error("it writes nothing")),
  likelihood: () => Promise.reject(new Error("it scores nothing")),
};

test("a reverse start moves towards the prompt as an arm succeeds, and is itself after a reload", async () => {
  const params = { from: 0.75, step: 0.25, advance_at: 0.5, window: 8 };
  const reverse = made(starts, "reverse", params);
  const shareOf = async (one: typeof reverse): Promise<number | undefined> => {
    const { task: asked } = finished(0, 1);
    const [begun] = await one.begin([{ task: asked, arm: "x", key: ["k"] }], startContext);
    return begun!.help?.share;
  };
  assert.equal(await shareOf(reverse), 0.75);
  reverse.observe!([finished(3, 8)], at(0));
  assert.equal(await shareOf(reverse), 0.75, "three of eight are too few");
  reverse.observe!([finished(4, 4)], at(1));
  const saved = reverse.save!();
  const again = made(starts, "reverse", params);
  again.load!(saved);
  for (const one of [reverse, again]) one.observe!([finished(0, 4)], at(2));
  assert.equal(await shareOf(reverse), 0.5, "four of eight are enough");
  assert.equal(await shareOf(again), 0.5);
  for (let i = 0; i < 2; i++) reverse.observe!([finished(8, 8)], at(3));
  assert.equal(await shareOf(reverse), undefined, "nothing is given any more");
  const json = z.record(z.string(), z.object({ share: z.number() })).parse(reverse.save!().json);
  assert.equal(json["x"]!.share, 0);
});

test("a branch goes on from an earlier rollout at one of its most uncertain tokens", async () => {
  const branch = made(starts, "branch", { share: 1, k: 1, of: "failures" });
  const drawn = [{ task: task("new"), arm: "y", key: ["k"] }];
  const [first] = await branch.begin(drawn, startContext);
  assert.equal(first!.task.id, "new", "nothing is remembered yet");
  branch.observe!([finished(1, 2)], at(0));
  const [begun] = await branch.begin(drawn, startContext);
  assert.equal(begun!.task.id, "t");
  assert.equal(begun!.arm, "x");
  const [lead] = begun!.lead!;
  assert.ok(lead?.kind === "given");
  assert.deepEqual([...lead.tokens], [10], "cut before the token of entropy 0.9");
  const again = made(starts, "branch", { share: 1, k: 1, of: "failures" });
  again.load!(branch.save!());
  assert.deepEqual(await again.begin(drawn, startContext), await branch.begin(drawn, startContext));
});
