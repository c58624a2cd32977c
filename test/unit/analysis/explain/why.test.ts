import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../../../shared/lib/errors.ts";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import type { TermShares, Why } from "../../../../shared/rollouts/why.ts";
import { whyText, wrapped } from "../../../../server/cli/text/whyText.ts";
import { shapley } from "../../../../server/analysis/explain/shapley.ts";
import { parseWhich, why } from "../../../../server/analysis/explain/why.ts";
import { configOf, near } from "../../support.ts";

const explained = (text: string, rows: readonly RolloutRow[], which = "g#0"): Why =>
  why(
    configOf(`tasks: [{ env: countdown }]\n${text}`),
    rows.map((row, line) => ({ row, place: { file: "rollouts.jsonl", line } })),
    parseWhich(which),
  );
const sharesOf = (shares: TermShares): Record<string, number> => {
  assert.equal(shares.kind, "exact", JSON.stringify(shares));
  return shares.kind === "exact"
    ? Object.fromEntries(shares.terms.map(({ term, share }) => [term, share]))
    : {};
};
const close = (actual: number | undefined, expected: number): void =>
  assert.ok(near(actual, expected, 1e-9), `${actual} is not ${expected}`);
const two = `reward: { terms: { right: { use: equation }, short: { use: length, weight: 0.5 } } }\n`;
const row = (index: number, rewards: RolloutRow["rewards"], more: Partial<RolloutRow> = {}): RolloutRow => ({
  step: 0,
  group: "g",
  index,
  logp_old: [-1, -1],
  ...(rewards === undefined ? {} : { rewards }),
  ...more,
});

test("Shapley values: the glove game, and shares that sum to the whole", () => {
  // One left glove, two right ones: a pair is worth 1.
  const glove = shapley(3, (coalition) => ((coalition & 1) !== 0 && (coalition & 6) !== 0 ? 1 : 0));
  [2 / 3, 1 / 6, 1 / 6].forEach((share, player) => close(glove.shares[player], share));
  const worth = [0.5, 3, -1, 4, 7, 0, 2, 9];
  const any = shapley(3, (coalition) => worth[coalition]!);
  close(
    any.shares.reduce((sum, share) => sum + share, 0),
    9 - 0.5,
  );
  assert.equal(any.none, 0.5);
  assert.deepEqual(
    shapley(0, () => 3),
    { shares: new Float64Array(0), none: 3 },
  );
  assert.throws(() => shapley(13, () => 0), RangeError);
});

test("without a scale a term's share is its weighted payment above the group's mean", () => {
  const { shares, advantage } = explained(`${two}advantage: { scale: none }\n`, [
    row(0, { right: 1, short: -0.4 }),
    row(1, { right: 0, short: -0.2 }),
    row(2, { right: 0, short: -1.2 }),
  ]);
  const { right, short } = sharesOf(shares);
  close(right, 1 - 1 / 3);
  close(short, 0.5 * (-0.4 + 0.6));
  close(Number(advantage), 2 / 3 + 0.1);
});

test("with a scale the shares are no ratios of payments, and still sum to the advantage", () => {
  const rows = [
    row(0, { right: 1, short: -0.4 }),
    row(1, { right: 0, short: 0.9 }),
    row(2, { right: 1, short: 0 }),
  ];
  const { shares, advantage } = explained(
    `${two}advantage: { scale: { use: group_std, epsilon: 0 } }\n`,
    rows,
  );
  const { right, short } = sharesOf(shares);
  // By hand, over both orders: A by right alone, by short alone, by both.
  const scaled = (values: readonly number[]): number => {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
    return (values[0]! - mean) / Math.sqrt(variance);
  };
  const [one, other, both] = [scaled([1, 0, 1]), scaled([-0.2, 0.45, 0]), scaled([0.8, 0.45, 1])];
  close(right, (one + both - other) / 2);
  close(short, (other + both - one) / 2);
  close(Number(advantage), both);
});

test("terms that weigh nothing, apply nowhere or pay everyone alike have no share", () => {
  const { shares } = explained(
    `reward: { terms: { right: { use: equation }, short: { use: length, weight: 0 }, tags: { use: format }, same: { use: numeric } } }\n`,
    [
      row(0, { right: 1, short: 3, tags: null, same: 1 }),
      row(1, { right: 0, short: 0, tags: null, same: 1 }),
    ],
  );
  const { right, ...rest } = sharesOf(shares);
  assert.ok(right! > 0.7);
  for (const share of Object.values(rest)) close(share, 0);
  assert.deepEqual(shares.kind === "exact" && shares.terms.map(({ note }) => note), [
    null,
    "weight 0",
    "does not apply",
    null,
  ]);
});

test("more terms than coalitions can be counted: the reason instead of shares", () => {
  const names = Array.from({ length: 13 }, (_, i) => `t${i}`);
  const terms = names.map((name) => `${name}: { use: equation }`).join(", ");
  const paid = (value: number) => Object.fromEntries(names.map((name, i) => [name, value * i]));
  const { shares, words } = explained(`reward: { terms: { ${terms} } }\n`, [
    row(0, paid(1)),
    row(1, paid(0)),
  ]);
  assert.ok(shares.kind === "none" && /13 terms .* 8,192 coalitions/.test(shares.reason));
  assert.ok(words.some(({ about, text }) => about === "terms" && text.includes("up to 12 terms")));
});

test("a spread over the batch is taken over the batch, in the shares as well", () => {
  const rows = [
    row(0, { right: 1, short: 0 }),
    row(1, { right: 0, short: 1 }),
    row(0, { right: 5, short: 0 }, { group: "h" }),
    row(1, { right: 0, short: 2 }, { group: "h" }),
  ];
  const { shares, advantage } = explained(`${two}advantage: { scale: batch_std }\n`, rows);
  close(
    Object.values(sharesOf(shares)).reduce((sum, share) => sum + share, 0),
    Number(advantage),
  );
  const alone = explained(`${two}advantage: { scale: batch_std }\n`, rows.slice(0, 2));
  assert.ok(Math.abs(Number(alone.advantage) - Number(advantage)) > 0.1);
});

test("what other baselines and scales give is what they give when they are chosen", () => {
  const rows = [1, 0, 0.5].map((right, index) => row(index, { right, short: -right * index }));
  const own = explained(two, rows);
  assert.deepEqual(
    own.alternatives.filter(({ chosen }) => chosen).map(({ baseline, scale }) => [baseline, scale]),
    [["group_mean", "group_std"]],
  );
  for (const { baseline, scale, advantage, reason } of own.alternatives) {
    if (advantage === null) assert.ok(reason !== null);
    else
      close(
        Number(explained(`${two}advantage: { baseline: ${baseline}, scale: ${scale} }\n`, rows).advantage),
        Number(advantage),
      );
  }
  assert.ok(own.alternatives.length >= 9);
});

test("a rollout with a failed term: no advantage, and the sentence says why", () => {
  const told = explained(two, [
    row(0, { short: 1 }, { errors: { right: "timeout after 2 s" } }),
    row(1, { right: 1, short: 0 }),
    row(2, { right: 0, short: 0 }),
  ]);
  assert.equal(told.advantage, null);
  assert.match(told.words[0]!.text, /^It has no advantage: right failed: timeout after 2 s\./);
  assert.equal(told.shares.kind, "none");
  assert.deepEqual(
    told.tokens.rules.map(({ rule, count }) => [rule, count]),
    [["no_advantage", 2]],
  );
  const sibling = explained(two, [
    row(0, { right: 1, short: 0 }),
    row(1, { short: 1 }, { errors: { right: "timeout" } }),
    row(2, { right: 0, short: 0 }),
  ]);
  close(
    Object.values(sharesOf(sibling.shares)).reduce((sum, share) => sum + share, 0),
    Number(sibling.advantage),
  );
  assert.equal(sibling.siblings[1]!.note, "right failed: timeout");
});

test("equal rewards, rejected groups and recorded advantages have sentences of their own", () => {
  const same = explained(two, [row(0, { right: 1, short: 0 }), row(1, { right: 1, short: 0 })]);
  assert.match(
    same.words[0]!.text,
    /All 2 rollouts of its group have the reward 1, so .* nothing is learned/,
  );
  const rejected = explained(two, [
    row(0, { right: 1, short: 0 }, { admitted: false }),
    row(1, { right: 0, short: 0 }, { admitted: false }),
    row(0, { right: 0, short: 0 }, { group: "h" }),
    row(1, { right: 1, short: 0 }, { group: "h" }),
  ]);
  assert.equal(rejected.trains, false);
  assert.match(rejected.words[0]!.text, /not admitted/);
  assert.ok(Number(rejected.advantage) > 0);
  const given = explained(`${two}advantage: { baseline: given }\n`, [
    row(0, { right: 1 }, { advantage: 0.25 }),
    row(1, { right: 0 }, { advantage: -1 }),
  ]);
  assert.match(given.words[0]!.text, /0\.250 is the recorded one/);
  assert.deepEqual(given.alternatives, []);
});

test("tokens: who masked them, and which the clip held", () => {
  const told = explained(`${two}objective: { use: clipped, aggregate: token_mean }\nmask: [written]\n`, [
    row(
      0,
      { right: 1, short: 0 },
      {
        logp_old: [-1, -1, -1, -1],
        logp_new: [-0.1, -1, -1, -0.2],
        origin: ["written", "observed", "given", "written"],
      },
    ),
    row(1, { right: 0, short: 0 }, { logp_new: [-1, -1] }),
  ]);
  assert.deepEqual(
    { total: told.tokens.total, trained: told.tokens.trained, clips: told.tokens.clips },
    { total: 4, trained: 2, clips: "computed" },
  );
  const rules = Object.fromEntries(told.tokens.rules.map(({ rule, spans }) => [rule, spans]));
  assert.deepEqual(rules["observed"], [[1, 2]]);
  assert.deepEqual(rules["given"], [[2, 3]]);
  const recorded = explained(two, [
    row(0, { right: 1, short: 0 }, { touched: { clip_high: [[1, 2]] } }),
    row(1, { right: 0, short: 0 }),
  ]);
  assert.equal(recorded.tokens.clips, "recorded");
  assert.deepEqual(
    recorded.tokens.rules.map(({ rule, effect, count }) => [rule, effect, count]),
    [["clip_high", "clipped", 1]],
  );
});

test("what is 0 but for rounding is 0, by every baseline and scale", () => {
  const rows = [0, 1, 2].map((index) => row(index, { right: 0.1 }));
  const { advantage, siblings, alternatives } = explained(two, rows);
  const all = [
    advantage,
    ...siblings.map((one) => one.advantage),
    ...alternatives.map((one) => one.advantage),
  ];
  const sizes = all.flatMap((value) => (value === null ? [] : [Math.abs(Number(value))]));
  assert.ok(sizes.length > 20 && sizes.every((size) => size === 0 || size > 1e-9), String(sizes));
});

test("a rollout that is not there, or in several steps, or in none that trains: what to write instead", () => {
  const rows = [row(0, { right: 1 }), row(1, { right: 0 })];
  const refuses = (which: string, given: readonly RolloutRow[], message: RegExp, action: RegExp): void => {
    assert.throws(
      () => explained(two, given, which),
      (error) =>
        error instanceof UserError && message.test(error.message) && action.test(error.detail.action ?? ""),
    );
  };
  refuses("g#7", rows, /no rollout g#7/, /The group has g#0, g#1/);
  refuses("x#0", rows, /no rollout x#0/, /The rollouts are g#0, g#1/);
  refuses("x", rows, /does not name a rollout/, /GROUP#INDEX/);
  const other = { ...rows[0]!, group: "h" };
  refuses(
    "4#2",
    [...rows, other],
    /no rollout 4#2/,
    /^Step 0 has groups 0 to 1 of 1 to 2 rollouts: write 0#0 to 1#0, or /,
  );
  refuses("0#9", rows, /no rollout 0#9/, /The group has 0#0, 0#1/);
  const later = rows.map((one) => ({ ...one, step: 4 }));
  refuses("g#0", [...rows, ...later], /steps 0, 4/, /0\/g#0/);
  assert.equal(explained(two, [...rows, ...later], "4/g#0").step, 4);
  refuses("g#0", [row(0, { right: 1 }, { use: "evaluate" })], /use is evaluate/, /that trains/);
});

test("lines fit the terminal, whatever its width", () => {
  const many = Array.from({ length: 40 }, (_, index) =>
    row(index, { right: index % 3 === 0 ? 1 : 0, short: -index / 40 }, { touched: { clip_low: [[0, 1]] } }),
  );
  const told = explained(two, many, "g#21");
  for (const width of [40, 80, 120, 300]) {
    const lines = whyText(told, width);
    for (const line of lines) assert.ok(line.length <= Math.max(40, width), `${width}: ${line}`);
    assert.ok(lines.some((line) => line.includes("▸ #21")));
    assert.ok(lines.some((line) => line.includes("and 24 more in its group")));
  }
  assert.deepEqual(wrapped("a bb ccc dddd", 6), ["a bb", "ccc", "dddd"]);
});

test("what a mask of the config took is reported by its name and summary; a value loss has its own derivatives", () => {
  const told = explained(`${two}mask: [{ use: overlong }]\n`, [
    row(0, { right: 1, short: 0 }, { finish: "length" }),
    row(1, { right: 0, short: 0 }),
    row(2, { right: 1, short: 0 }),
  ]);
  assert.deepEqual(
    told.tokens.rules.map(({ rule, effect, count }) => [rule, effect, count]),
    [["mask: overlong", "masked", 2]],
  );
  assert.ok(!told.tokens.rules[0]!.text.startsWith("touched by"));
});

test("a baseline that remembers is explained with the earlier steps of the file in mind", () => {
  const config = `${two}advantage: { baseline: { use: moving_average }, scale: none }\n`;
  const rows = [0, 1].flatMap((step) =>
    [1, 0].map((right, index) => row(index, { right: right + step, short: 0 }, { step })),
  );
  const [first, second] = [explained(config, rows, "0/g#0"), explained(config, rows, "1/g#0")];
  close(Number(first.advantage), 1);
  close(Number(second.advantage), 2 - 0.5);
  const { right, short } = sharesOf(second.shares);
  // The earlier steps count as scored by the coalition's terms, too.
  close(right!, 1.5);
  close(short!, 0);
  assert.ok(second.shares.kind === "exact" && second.shares.rest === 0);
});

test("a branch: compared with its whole group, and what it took over does not train", () => {
  const branch = row(
    2,
    { right: 1 },
    { parent: { index: 0, token: 1 }, origin: ["given", "written"], logp_old: [null, -1] },
  );
  const found = explained(
    "reward: { terms: { right: equation } }\nadvantage: { scale: none }\n",
    [row(0, { right: 0 }), row(1, { right: 0 }), branch, row(3, { right: 1 })],
    "g#2",
  );
  close(Number(found.advantage), 0.5);
  const words = found.words.map(({ text }) => text);
  assert.ok(words.includes("It is a branch: up to token 1 it has the tokens of rollout 0."));
  assert.deepEqual(
    found.tokens.rules.map(({ rule, count, spans }) => ({ rule, count, spans })),
    [{ rule: "given", count: 1, spans: [[0, 1]] }],
  );
});

test("what terms said of the group criterion by criterion is side by side, and in words", () => {
  const judged = (
    polite: number | null,
    harmful: number,
    shared = 1,
  ): NonNullable<RolloutRow["details"]> => ({
    right: {
      criteria: [
        { name: "polite", text: "is polite throughout", points: 2, met: polite },
        { text: "harms", points: -4, veto: true, met: harmful },
        { text: "answers", points: 1, met: shared },
      ],
    },
  });
  const rows = [
    row(2, { right: 0, short: 0 }),
    row(0, { right: 1, short: 0 }, { details: judged(1, 0) }),
    row(1, { right: -1, short: 0 }, { details: judged(null, 1) }),
  ];
  const found = explained(two, rows, "g#1");
  assert.deepEqual(found.criteria, [
    {
      term: "right",
      criteria: [
        { name: "polite", text: "is polite throughout", points: 2, met: [1, null, null] },
        { text: "harms", points: -4, veto: true, met: [0, 1, null] },
        { text: "answers", points: 1, met: [1, 1, null] },
      ],
    },
  ]);
  const words = found.words.filter(({ about }) => about === "criteria").map(({ text }) => text);
  assert.equal(words[0], "By right it meets 2 of 2 criteria, and fails one with a veto: “harms”.");
  const text = whyText(found, 100).join("\n");
  assert.match(text, /Criteria\n/);
  assert.match(text, /✓ −4, veto {2}harms {4}1 of 2 of the group/);
  assert.match(text, /\? {7}\+2 {2}polite/);
  assert.deepEqual(
    explained(two, rows, "g#2")
      .words.filter(({ about }) => about === "criteria")
      .map(({ text: one }) => one)[0],
    "right has no verdict on this rollout.",
  );
  const alike = [
    row(0, { right: 1 }, { details: judged(1, 0) }),
    row(1, { right: 1 }, { details: judged(1, 0) }),
  ];
  assert.match(
    explained(two, alike)
      .words.map(({ text: one }) => one)
      .join("\n"),
    /Every rollout of the group gets the same verdicts, so they do not distinguish the rollouts/,
  );
  assert.equal(explained(two, [row(0, { right: 1 }), row(1, { right: 0 })]).criteria, undefined);
});
