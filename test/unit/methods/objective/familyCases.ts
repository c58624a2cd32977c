/** The other families with parts that no gradient flows through: the loss that their derivatives are those of. */
import { sigmoid } from "../../../../server/methods/objective/numbers.ts";
import type { Channel, Stats } from "../../../../server/core/policy.ts";
import type { ObjectiveInput } from "../../../../server/core/loss.ts";
import type { LossAt } from "./differences.ts";
import type { Case } from "./surrogateCases.ts";

const trained = ({ weights }: ObjectiveInput): number[] =>
  [...weights.keys()].filter((token) => weights[token] !== 0);
const rowOf = ({ batch }: ObjectiveInput, token: number): number =>
  batch.offsets.findLastIndex((offset) => offset <= token);
const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
const at = (input: ObjectiveInput, channel: Channel, token: number): number => input.now[channel]![token]!;
const ratio = (input: ObjectiveInput, token: number, anchor: Channel = "logp"): number =>
  at(input, "logp", token) - input.old[anchor]![token]!;
const rowTokens = (input: ObjectiveInput, row: number): number[] =>
  trained(input).filter((token) => rowOf(input, token) === row);
const rowRatio = (input: ObjectiveInput, row: number, anchor: Channel = "logp"): number =>
  sum(rowTokens(input, row).map((token) => input.weights[token]! * ratio(input, token, anchor)));
const rows = (input: ObjectiveInput): number[] =>
  [...Array(input.batch.rows).keys()].filter((row) => rowTokens(input, row).length > 0);
const next = (input: ObjectiveInput, token: number): number =>
  rowTokens(input, rowOf(input, token)).find((other) => other > token) ?? -1;
/** The rewards of `randomInput` are at the last trained token. */
const reward = (input: ObjectiveInput, token: number): number =>
  next(input, token) < 0 ? input.rewards!.total[rowOf(input, token)]! : 0;

/** −factor · weight · log π, the weight as it was. */
const weighted =
  (weight: (input: ObjectiveInput, token: number) => number): LossAt =>
  (moved, here) =>
    -sum(trained(here).map((t) => here.factors[t]! * weight(here, t) * at(moved, "logp", t)));

const clip = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high);

const ownRatio = (here: ObjectiveInput, row: number): number => rowRatio(here, row, "logp:reference");
const mismatchedRatio = ({ batch }: ObjectiveInput, row: number): number =>
  batch.rowColumns!.mismatched_log_ratio![row]!;
const ktoAt =
  (of: typeof ownRatio): LossAt =>
  (moved, here) => {
    const known = rows(here);
    const seen = known.map((row) => of(here, row)).filter((value) => !Number.isNaN(value));
    const point = Math.max(0, sum(seen) / seen.length);
    return sum(
      known.map((row) => {
        const mass = sum(rowTokens(here, row).map((t) => here.factors[t]!));
        const sign = here.success![row] === 1 ? 1 : -1;
        return mass * (1 - sigmoid(sign * 0.1 * (rowRatio(moved, row, "logp:reference") - point)));
      }),
    );
  };

const pearAt = (log: (input: ObjectiveInput, token: number) => number): LossAt =>
  weighted((here, t) => Math.exp(clip(log(here, t), -10, 5)));
const delta = (here: ObjectiveInput, t: number): number => clip(ratio(here, t), -0.08, 0.3);
const later = (here: ObjectiveInput, token: number): number[] =>
  rowTokens(here, rowOf(here, token)).filter((other) => other > token);

const alolAt = (trust: (here: ObjectiveInput, token: number) => number): LossAt =>
  weighted((here, t) => Math.max(0, here.advantages[t]!) * clip(trust(here, t), 0.1, 1.9));

/** The floor's value with the gradient of what it floors. */
const floored = (moved: number, here: number, least: number): number => Math.max(here, least) + moved - here;

const nftAt =
  (epsilon: number, weight: (rate: number) => number): LossAt =>
  (moved, here) =>
    sum(
      trained(here).map((t) => {
        const { group } = here.batch;
        const own = rowOf(here, t);
        const known = [...group.keys()].filter(
          (row) => group[row] === group[own] && here.success![row] !== 2,
        );
        const share = known.filter((row) => here.success![row] === 1).length / known.length;
        if (share === 0 || share === 1) return 0;
        const rate = clip(share, 0.02, 0.98);
        const proxy = (input: ObjectiveInput): number => (1 - rate * Math.exp(ratio(input, t))) / (1 - rate);
        const loss =
          here.success![own] === 1
            ? -ratio(moved, t)
            : -Math.log(floored(proxy(moved), proxy(here), epsilon));
        return here.factors[t]! * weight(rate) * loss;
      }),
    );

const roverAt: LossAt = (moved, here) =>
  sum(
    trained(here).map((t) => {
      const follows = rowOf(here, t + 1) === rowOf(here, t) && here.weights[t + 1]! > 0;
      const mean = follows ? here.now.mean_logp![t + 1]! - here.old.mean_logp![t + 1]! : 0;
      return here.factors[t]! * (ratio(moved, t) - here.advantages[t]! - mean) ** 2;
    }),
  );

const oreoAt: LossAt = (moved, here) =>
  sum(
    trained(here).map((t) => {
      const after =
        0.03 * sum(later(here, t).map((i) => here.weights[i]! * ratio(here, i, "logp:reference")));
      const own = (input: ObjectiveInput): number =>
        0.03 * here.weights[t]! * ratio(input, t, "logp:reference") + after;
      const goal = here.batch.columns.returns![t]!;
      return (
        here.factors[t]! *
        ((at(here, "head:value", t) - goal + own(moved)) ** 2 +
          (at(moved, "head:value", t) - goal + own(here)) ** 2)
      );
    }),
  );

const dqoAt: LossAt = (moved, here) => {
  const soft = (t: number): number => target(t) - 0.03 * ratio(here, t, "logp:reference");
  const target = (t: number): number => {
    const n = next(here, t);
    return reward(here, t) + (n < 0 ? 0 : 0.9 * (0.5 * at(here, "head:value", n) + 0.5 * soft(n)));
  };
  return sum(
    trained(here).map((t) => {
      const policy = at(here, "head:value", t) + 0.03 * ratio(moved, t, "logp:reference") - target(t);
      const value = at(moved, "head:value", t) - soft(t);
      return 0.5 * here.factors[t]! * (policy ** 2 + value ** 2);
    }),
  );
};

const ilqlAt =
  (least: (here: ObjectiveInput, t: number) => number, cql: number): LossAt =>
  (moved, here) =>
    sum(
      trained(here).map((t) => {
        const n = next(here, t);
        const goal = reward(here, t) + (n < 0 ? 0 : 0.99 * at(here, "head:value", n));
        const gap = least(here, t) - at(moved, "head:value", t);
        const qs = (["head:q1", "head:q2"] as const).map(
          (q) => 0.5 * (at(moved, q, t) - goal) ** 2 - (cql === 0 ? 0 : cql * at(moved, `${q}:logp`, t)),
        );
        return here.factors[t]! * (sum(qs) + 0.5 * (gap < 0 ? 0.3 : 0.7) * gap ** 2);
      }),
    );
const leastNow = (here: ObjectiveInput, t: number): number =>
  Math.min(at(here, "head:q1", t), at(here, "head:q2", t));
const leastSlow = ({ old }: ObjectiveInput, t: number): number =>
  Math.min(old["head:q1@slow"]![t]!, old["head:q2@slow"]![t]!);

const tokenQAt: LossAt = (moved, here) => {
  const q = (input: ObjectiveInput, words: Channel, t: number): number =>
    0.1 * (at(input, words, t) - at(input, "greedy", t)) + at(input, "head:value", t);
  return sum(
    trained(here).map((t) => {
      const n = next(here, t);
      const goal = reward(here, t) + (n < 0 ? 0 : 0.999 * q(here, "greedy:reference", n));
      return here.factors[t]! * 0.5 * (q(moved, "logp", t) - goal) ** 2;
    }),
  );
};

/** Turns of `randomInput` are the halves of a row; one-token rows are one turn. */
const headAt = (columns: Stats, kind: string, twin: number, t: number, of = ""): number =>
  columns[`head:${kind}${twin}${of}`]![t]!;
const leastOf = (columns: Stats, kind: string, t: number, of = ""): number =>
  Math.min(headAt(columns, kind, 1, t, of), headAt(columns, kind, 2, t, of));
interface Targets {
  readonly v: (here: ObjectiveInput, twin: number, first: number) => number;
  /** Of a turn with its first and last trained token. */
  readonly q: (here: ObjectiveInput, twin: number, first: number, last: number) => number;
}
const present: Targets = {
  v: ({ now }, _, first) => leastOf(now, "v", first),
  q: ({ now }, _, __, last) => leastOf(now, "q", last),
};
const slow: Targets = {
  v: ({ old }, _, first) => leastOf(old, "v", first, "@slow"),
  q: ({ old }, _, __, last) => leastOf(old, "q", last, "@slow"),
};
const drawn: Targets = { v: slow.v, q: ({ old }, _, first) => leastOf(old, "q", first, "@slow~drawn") };
/** The released trainer: Q of each twin on that twin's V, V on that twin's Q. */
const ownPresent: Targets = {
  v: ({ now }, twin, first) => headAt(now, "v", twin, first),
  q: ({ now }, twin, _, last) => headAt(now, "q", twin, last),
};
const ownSlow: Targets = {
  v: ({ old }, twin, first) => headAt(old, "v", twin, first, "@slow"),
  q: ({ old }, twin, _, last) => headAt(old, "q", twin, last, "@slow"),
};
const ownDrawn: Targets = {
  v: ownSlow.v,
  q: ({ old }, twin, first) => headAt(old, "q", twin, first, "@slow~drawn"),
};

const turnCriticAt =
  (targets: Targets): LossAt =>
  (moved, here) => {
    const twice = (kind: "q" | "v", t: number, goal: (twin: number) => number): number =>
      sum([1, 2].map((twin) => (at(moved, `head:${kind}${twin}`, t) - goal(twin)) ** 2)) / 2;
    return sum(
      rows(here).map((row) => {
        const [start, end] = [here.batch.offsets[row]!, here.batch.offsets[row + 1]!];
        const half = end - start < 2 ? end : start + Math.ceil((end - start) / 2);
        const turns = [
          rowTokens(here, row).filter((t) => t < half),
          rowTokens(here, row).filter((t) => t >= half),
        ].filter((tokens) => tokens.length > 0);
        const mass = sum(rowTokens(here, row).map((t) => here.factors[t]!)) / turns.length;
        return (
          mass *
          sum(
            turns.map((tokens, k) => {
              const following = turns[k + 1]?.[0];
              const goal = (twin: number): number =>
                following === undefined ? here.rewards!.total[row]! : 0.9 * targets.v(here, twin, following);
              return (
                twice("q", tokens.at(-1)!, goal) +
                twice("v", tokens[0]!, (twin) => targets.q(here, twin, tokens[0]!, tokens.at(-1)!))
              );
            }),
          )
        );
      }),
    );
  };

export const familyCases: Readonly<Record<string, readonly Case[]>> = {
  log_ratio_regression: [
    {},
    { params: { level: "token", divide: 0, anchor: "reference" } },
    { params: { level: "turn", shape: "smooth_l1", beta: 2 } },
  ],
  direct_advantage: [{}, { params: { min_spread: 0.1, level: "response" } }],
  copg: [{}, { params: { pairs: "auto" } }],
  ipo: [{}, { params: { normalise: true, pairs: "all" } }],
  refuel: [{}, { params: { form: "released", eta: 0.5 } }],
  dpo: [
    {},
    { params: { link: "hinge", beta: 1 } },
    { params: { link: "robust", label_smoothing: 0.1, alpha: 0.5 } },
    { params: { normalise: true, anchor: "none", margin: 0.5, beta: 2, weight: "difference", pairs: "all" } },
    { params: { link: "discopop", beta: 1, tau: 0.5, divergence: "jensen_shannon" } },
    { params: { divergence: "forward_kl" } },
    { params: { divergence: { alpha: 0.5 }, beta: 1, normalise: true } },
  ],
  exo: [
    {},
    { params: { beta: 1, label_smoothing: 0.1 } },
    { params: { over: "group", beta: 0.5, reward_beta: 0.3 } },
  ],
  nca: [{ params: { beta: 1 } }],
  bco: [{ params: { beta: 1 } }],
  sppo: [{}],
  apo: [{ params: { beta: 1 } }, { params: { beta: 1, variant: "down" } }],
  aot: [{ params: { beta: 1, label_smoothing: 0.1 } }, { params: { compare: "answers" } }],
  orpo: [{}, { params: { pairs: "all", lambda: 1 } }],
  kto: [
    { lossAt: ktoAt(mismatchedRatio) },
    { params: { kl: "batch" }, lossAt: ktoAt(ownRatio) },
    { params: { kl: "none", undesirable: 0.5, beta: 1 } },
  ],
  rrhf: [{}, { params: { length_normalise: false, margin: 0.3, sft: 0 } }],
  filtered_likelihood: [{}, { params: { keep: "best" } }, { params: { keep: "shortest", normalise: "all" } }],
  advantage_weighted: [{}, { params: { beta: 0.1, normalise: true } }],
  weighted_likelihood: [{}, { params: { weight: "advantage", low: -0.2, high: 0.2, standardise: true } }],
  pear: [
    {
      lossAt: pearAt((here, t) =>
        sum([...later(here, t).map((i) => delta(here, i)), later(here, t).length * Math.log(0.999)]),
      ),
    },
    {
      params: { level: "sequence" },
      lossAt: pearAt((here, t) => sum(rowTokens(here, rowOf(here, t)).map((i) => delta(here, i)))),
    },
    {
      params: { level: "block", block: 2, gamma: 0.9 },
      lossAt: pearAt((here, t) => {
        const tokens = rowTokens(here, rowOf(here, t));
        const part = Math.floor(tokens.indexOf(t) / 2);
        const behind = tokens.slice(2 * (part + 1));
        return sum(behind.map((i) => delta(here, i))) + Math.ceil(behind.length / 2) * Math.log(0.9);
      }),
    },
  ],
  alol: [
    { lossAt: alolAt((here, t) => Math.exp(rowRatio(here, rowOf(here, t), "logp:reference"))) },
    {
      params: { variant: "token" },
      lossAt: alolAt((here, t) => Math.exp(ratio(here, t, "logp:reference"))),
    },
    { params: { variant: "reference_free", positive: false } },
  ],
  nft: [
    { lossAt: nftAt(1, (rate) => 1 - rate) },
    { params: { epsilon: 0.2, weight: "grpo" }, lossAt: nftAt(0.2, (rate) => Math.sqrt((1 - rate) / rate)) },
    { params: { ratio: "response", epsilon: 1e-9, negative: 0 } },
  ],
  pacs: [
    {},
    { params: { baseline: "group_mean", balance: "none" } },
    { params: { baseline: "none", beta: 0.5 } },
  ],
  rover: [{ lossAt: roverAt }, { params: { bootstrap: 0, rho: 2 } }],
  oreo: [{ lossAt: oreoAt }],
  dqo: [{ params: { gamma: 0.9, lambda: 0.5 }, lossAt: dqoAt }],
  ilql: [
    { lossAt: ilqlAt(leastNow, 0.01) },
    { params: { target: "slow" }, lossAt: ilqlAt(leastSlow, 0.01) },
    { params: { target: "slow", cql: 0 }, lossAt: ilqlAt(leastSlow, 0) },
  ],
  token_q: [{ lossAt: tokenQAt }],
  turn_critic: [
    { lossAt: turnCriticAt(ownPresent) },
    { params: { target: "slow" }, lossAt: turnCriticAt(ownSlow) },
    { params: { target: "slow", actions: "drawn" }, lossAt: turnCriticAt(ownDrawn) },
    { params: { twins: "least" }, lossAt: turnCriticAt(present) },
    { params: { twins: "least", target: "slow" }, lossAt: turnCriticAt(slow) },
    { params: { twins: "least", target: "slow", actions: "drawn" }, lossAt: turnCriticAt(drawn) },
  ],
  brain: [{}, { params: { gamma: 0.3 } }],
  dpg: [{}, { params: { over: "batch", baseline: false, beta: 0.3 } }],
  value_clipped: [{}, { params: { clip: null } }, { params: { clip: null, level: "response" } }],
  value_expectile: [{}, { params: { level: "turn" } }],
  value_cross_entropy: [{}, { params: { level: "step" } }],
};
