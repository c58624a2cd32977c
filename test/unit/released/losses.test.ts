/** Presets compared with the losses of released code, written out here in plain arithmetic. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { valueAt } from "../../../server/core/schedule.ts";
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import { explained, close } from "../analysis/explain/support.ts";
import { configOf, row } from "../support.ts";

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
const mean = (values: readonly number[]): number => sum(values) / values.length;
/** Two groups of four responses. */
const rewards = [1, 0, 0, 1, 0, 1, 0, 0];
const lengths = [2, 1, 3, 2, 1, 4, 2, 3];
const wave = (i: number, t: number, size: number): number => size * Math.sin(5 * i + 2 * t + 1);
const tokens = (at: (i: number, t: number) => number): number[][] =>
  lengths.map((n, i) => Array.from({ length: n }, (_, t) => at(i, t)));
const old = tokens((i, t) => -1.2 + wave(i, t, 0.5));
/** Some between two usual clips above, and some beyond a dual clip. */
const moved = tokens((i, t) => (t === 0 && i % 3 === 0 ? Math.log(1.25) : wave(t, i, 1.6)));
const toReference = tokens((i, t) => wave(i + 3, t, 0.3));
const plus = (a: readonly number[][], b: readonly number[][]): number[][] =>
  a.map((list, i) => list.map((value, t) => value + b[i]![t]!));
const now = plus(old, moved);
const reference = plus(old, toReference);
const rowsOf = (more: (i: number) => Partial<RolloutRow> = () => ({})): RolloutRow[] =>
  rewards.map((reward, i) =>
    row(`g${Math.floor(i / 4)}`, i % 4, {
      reward,
      logp_old: old[i]!,
      logp_new: now[i]!,
      logp_ref: reference[i]!,
      ...more(i),
    }),
  );
const groupOf = (i: number): number[] => [0, 1, 2, 3].map((k) => 4 * Math.floor(i / 4) + k);
const groupMean = (i: number): number => mean(groupOf(i).map((k) => rewards[k]!));
const groupStd = (i: number): number =>
  Math.sqrt(sum(groupOf(i).map((k) => (rewards[k]! - groupMean(i)) ** 2)) / 3);
/** Σ_t log π/π_ref and Σ_t log π/π_old of a response. */
const overReference = (i: number): number => sum(moved[i]!.map((value, t) => value - toReference[i]![t]!));
const overOld = (i: number): number => sum(moved[i]!);

async function gradients(
  text: string,
  wanted: (i: number, t: number) => number,
  rows = rowsOf(),
  tolerance = 1e-9,
): Promise<void> {
  const { rollouts } = await explained(text, rows);
  assert.equal(rollouts.length, rows.length);
  assert.ok(
    rows.some((_, i) => old[i]!.some((__, t) => Math.abs(wanted(i, t)) > 1e-6)),
    "nothing trains",
  );
  rollouts.forEach(({ grad_logp }, i) => {
    close(
      grad_logp ?? [],
      old[i]!.map((_, t) => wanted(i, t)),
      tolerance,
    );
  });
}

/** `torch.max(sgn · diff, clamp(sgn · diff))`, exponentiated mean, one loss a response. */
test("GMPO: log-ratios held at 0.4 on the side to which the advantage pulls, their mean's exponential", () =>
  gradients("extends: gmpo", (i, t) => {
    const advantage = (rewards[i]! - groupMean(i)) / (groupStd(i) + 1e-8);
    const side = advantage >= 0 ? -1 : 1;
    const held = moved[i]!.map((diff) => {
      const signed = side * diff;
      return side * Math.max(signed, Math.min(Math.max(signed, -0.4), 0.4));
    });
    const free = held[t] === moved[i]![t];
    return free ? (-advantage * Math.exp(mean(held))) / (lengths[i]! * rewards.length) : 0;
  }));

for (const [preset, alpha] of [
  ["canon-entropy", 1],
  ["canon-length", 0.9],
] as const)
  test(`${preset}: each half less the other's mean, by the estimator of its released code`, async () => {
    const entropy = tokens((i, t) => 1 + wave(2 * i, t, 0.7));
    const metric = (i: number): number => (preset === "canon-entropy" ? mean(entropy[i]!) : lengths[i]!);
    const advantage = (i: number): number => {
      // Python's sort is stable: equals keep the order of the batch.
      const ranked = groupOf(i).sort((a, b) => metric(a) - metric(b) || a - b);
      const [short, long] = [ranked.slice(0, 2), ranked.slice(2)].map((half) =>
        mean(half.map((k) => rewards[k]!)),
      );
      return ranked.indexOf(i) >= 2 ? alpha * rewards[i]! - short! : rewards[i]! - alpha * long!;
    };
    await gradients(
      `extends: ${preset}\nrollout: { max_tokens: 50 }`,
      (i, t) => {
        const [ratio, a] = [Math.exp(moved[i]![t]!), advantage(i)];
        const cut = a > 0 ? ratio > 1.28 : ratio < 0.8 || ratio > 3;
        return cut ? 0 : (-a * ratio) / (50 * rewards.length);
      },
      rowsOf((i) => ({ entropy: entropy[i]! })),
    );
  });

test("SELF: verl's GRPO over tokens with a dual clip of 3", () =>
  gradients("extends: self", (i, t) => {
    const a = (rewards[i]! - groupMean(i)) / (groupStd(i) + 1e-6);
    const ratio = Math.exp(moved[i]![t]!);
    const cut = a > 0 ? ratio > 1.2 : ratio < 0.8 || ratio > 3;
    return cut ? 0 : (-a * ratio) / sum(lengths);
  }));

test("ReMax: the lead over the greedy answer, discounted from the end, and each token's own log-ratio", async () => {
  // The released trainer takes one update of what was just written: the policy is the one that wrote it.
  const greedy = (i: number): number => [0.3, 0, 1, 0.5, 1, -7, 0, 0.2][i]!;
  const rows = rowsOf((i) => ({ group: `g${i}`, index: 0, logp_new: old[i]!, reward_baseline: greedy(i) }));
  await gradients(
    "extends: remax",
    (i, t) => {
      const held = Math.min(Math.max(rewards[i]! - greedy(i), -5), 5);
      const returned = 0.99 ** (lengths[i]! - 1 - t) * held;
      const penalty = -0.05 * (old[i]![t]! - reference[i]![t]!);
      return -(returned + penalty) / sum(lengths);
    },
    rows,
  );
});

test("ReMax as verl has it: all later tokens' KL, and no discount", async () => {
  const rows = rowsOf((i) => ({ group: `g${i}`, index: 0, logp_new: old[i]!, reward_baseline: 0.25 }));
  await gradients(
    "extends: remax\nkl: [{ model: reference, estimator: k1, place: reward, coefficient: 0.001 }]\n" +
      "advantage: { gamma: 1, returns: before, clip: none }",
    (i, t) => {
      const later = sum(toReference[i]!.slice(t).map((off) => -off));
      return -(rewards[i]! - 0.001 * later - 0.25) / sum(lengths);
    },
    rows,
  );
});

test("AWR: standardised λ-advantages through the exponential, at most 20", async () => {
  const values = tokens((i, t) => 0.4 + wave(i, t, 2.5));
  const advantages = values.map((list, i) => {
    // td-λ returns, from the last state back; what follows it is worth nothing.
    const returns: number[] = [];
    list.forEach((_, k) => {
      const t = list.length - 1 - k;
      const next = returns[t + 1];
      returns[t] = next === undefined ? rewards[i]! : 0.05 * list[t + 1]! + 0.95 * next;
    });
    return list.map((value, t) => returns[t]! - value);
  });
  const all = advantages.flat();
  const spread = Math.sqrt(mean(all.map((a) => (a - mean(all)) ** 2)));
  await gradients(
    "extends: awr",
    (i, t) => -Math.min(Math.exp((advantages[i]![t]! - mean(all)) / (spread + 1e-5)), 20) / all.length,
    rowsOf((i) => ({ values: values[i]! })),
  );
});

test("distributional policy gradients: P/(Zπ_old) − 1 times the sum of a response's log-probs", () =>
  gradients("extends: kl-bayes", (i) => {
    const weight = (k: number): number => Math.exp(rewards[k]! + sum(toReference[k]!));
    return -(weight(i) / mean(groupOf(i).map(weight)) - 1) / rewards.length;
  }));

test("Kimi k1.5: (r − r̄) ∇log π − τ/2 ∇(log π/π_i)², the mean over answers", () =>
  gradients("extends: kimi-k1.5", (i) => -(rewards[i]! - groupMean(i) - 0.1 * overOld(i)) / rewards.length));

/** Every two of a group, once. */
const pairs = rewards.flatMap((_, a) => groupOf(a).flatMap((b) => (a < b ? [[a, b] as const] : [])));

test("CoPG: half the squared difference of the rewards less their log-ratios, over all pairs", () =>
  gradients("extends: copg", (i) => {
    const regularised = (k: number): number => rewards[k]! - 0.1 * overReference(k);
    const slopes = pairs.map(([a, b]) =>
      i === a || i === b ? (i === a ? -1 : 1) * 0.1 * (regularised(a) - regularised(b)) : 0,
    );
    return sum(slopes) / pairs.length;
  }));

/** Best and worst of each group by the first maximum and the last minimum. */
const extremes = [
  [0, 2],
  [5, 7],
] as const;

test("online DPO: −log σ(β (Δ_best − Δ_worst)) at β 0.1", () =>
  gradients("extends: online-dpo", (i) => {
    const pair = extremes.find((two) => two.some((k) => k === i));
    if (pair === undefined) return 0;
    const slope = -0.1 / (1 + Math.exp(0.1 * (overReference(pair[0]) - overReference(pair[1])))) / 2;
    return i === pair[0] ? slope : -slope;
  }));

test("EXO over a pair, by TRL's numbers and by those of the authors' code, whose labels are 1 and e^-10", async () => {
  const slope = (best: number, worst: number, beta: number, likely: number, unlikely: number): number => {
    // d/dx of Σ q (log q − label), q = softmax of the two scaled log-ratios.
    const x = beta * (overReference(best) - overReference(worst));
    const q = 1 / (1 + Math.exp(-x));
    return beta * q * (1 - q) * (Math.log(q) - likely - (Math.log(1 - q) - unlikely));
  };
  const wanted =
    (beta: number, likely: number, unlikely: number) =>
    (i: number): number => {
      const pair = extremes.find((two) => two.some((k) => k === i));
      if (pair === undefined) return 0;
      return ((i === pair[0] ? 1 : -1) * slope(pair[0], pair[1], beta, likely, unlikely)) / 2;
    };
  await gradients("extends: exo", wanted(0.1, Math.log(0.999), Math.log(0.001)));
  const released = "extends: exo\nobjective: { beta: 0.5, label_smoothing: 4.5397868702434395e-5 }";
  await gradients(released, wanted(0.5, 0, -10));
});

test("EXO over a group's rewards: KL of softmax(β log-ratios) from softmax(r / β_r)", () =>
  gradients("extends: exo\nobjective: { over: group, beta: 0.5, reward_beta: 0.5 }", (i) => {
    const shares = (of: (k: number) => number): number[] => {
      const all = groupOf(i).map((k) => Math.exp(of(k)));
      return all.map((one) => Math.log(one / sum(all)));
    };
    const [own, target] = [shares((k) => 0.5 * overReference(k)), shares((k) => rewards[k]! / 0.5)];
    const surprise = own.map((log, k) => log - target[k]!);
    const divergence = sum(own.map((log, k) => Math.exp(log) * surprise[k]!));
    return (0.5 * Math.exp(own[i % 4]!) * (surprise[i % 4]! - divergence)) / 2;
  }));

test("Step-APO: every better and worse sibling, apart by the difference of their values", () =>
  gradients("extends: step-apo", (i) => {
    const apart = pairs.filter(([a, b]) => rewards[a] !== rewards[b]);
    const slopes = apart.map(([a, b]) => {
      const [better, worse] = rewards[a]! > rewards[b]! ? [a, b] : [b, a];
      if (i !== better && i !== worse) return 0;
      // −log σ(β Δ + α (q_rejected − q_chosen))
      const logit =
        0.3 * (overReference(better) - overReference(worse)) + (rewards[worse]! - rewards[better]!);
      return ((i === better ? -1 : 1) * 0.3) / (1 + Math.exp(logit));
    });
    return sum(slopes) / apart.length;
  }));

test("REFUEL as its code has it: (Δ − Δ′ − η (r − r′))², the mean over pairs", () =>
  gradients("extends: refuel\nobjective: { form: released, eta: 0.7, pairs: all }", (i) => {
    const slopes = pairs.map(([a, b]) => {
      if (i !== a && i !== b) return 0;
      const residual = overOld(a) - overOld(b) - 0.7 * (rewards[a]! - rewards[b]!);
      return (i === a ? 2 : -2) * residual;
    });
    return sum(slopes) / pairs.length;
  }));

test("QAE: of eight the baseline is 0 where at most 1 − K = 0.6 are right, else 1", async () => {
  for (let right = 1; right < 8; right++) {
    const paid = Array.from({ length: 8 }, (_, i) => (i < right ? 1 : 0));
    const { rollouts } = await explained(
      "extends: qae",
      paid.map((reward, i) => row("g", i, { reward, logp_old: [-1], logp_new: [-1] })),
    );
    const std = Math.sqrt(sum(paid.map((reward) => (reward - right / 8) ** 2)) / 7);
    const baseline = right / 8 <= 0.6 ? 0 : 1;
    rollouts.forEach(({ advantages }, i) => {
      close(advantages ?? [], [(paid[i]! - baseline) / (std + 1e-4)], 1e-9);
    });
  }
});

test("SPEAR: the replayed loss counts (1 − cos(π step/200))/2, and whole from step 200 on", () => {
  const { replay } = configOf(
    "extends: spear\ntasks: [{ env: countdown }]\nreward: { terms: { right: equation } }\n",
  ).top;
  for (const step of [0, 1, 50, 100, 199, 200, 250]) {
    const wanted = step <= 200 ? (1 - Math.cos((step / 200) * Math.PI)) / 2 : 1;
    close([valueAt(replay.weight, { step, stageStep: step })], [wanted], 1e-12);
  }
});
