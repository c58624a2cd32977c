/** Presets of published methods on recorded rollouts, against their formulas written out in plain arithmetic. */
import { it } from "node:test";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import { row } from "../../support.ts";
import { close, explained } from "./support.ts";

/** Two groups of three; log-ratios to behaviour, to what was drawn from and to the reference differ. */
const rewards = [1, 0, 0, 1, 1, 0];
const old = [[-1, -2], [-0.5], [-3, -0.2, -1.5], [-0.7, -0.9], [-2.5], [-0.4, -1.1]];
const moved = [[0.9, -0.4], [0.3], [2.1, 0.02, -0.8], [-0.3, 0.5], [1.4], [0.1, -0.6]];
const sampledOff = [[0.2, -0.1], [-0.6], [-1.2, 0.05, 0.3], [0.1, 0.1], [-1.5], [0.05, 0.2]];
const referenceOff = [[0.1, 0.2], [-0.1], [0.4, -0.02, 0.3], [-0.2, 0.1], [0.5], [0.02, 0.3]];
const plus = (a: readonly number[][], b: readonly number[][]): number[][] =>
  a.map((list, i) => list.map((value, t) => value + b[i]![t]!));
const now = plus(old, moved);
const rows: RolloutRow[] = rewards.map((reward, i) =>
  row(`g${Math.floor(i / 3)}`, i % 3, {
    reward,
    logp_old: old[i]!,
    logp_new: now[i]!,
    logp_sampled: plus(old, sampledOff)[i]!,
    logp_ref: plus(old, referenceOff)[i]!,
  }),
);
const tokens = old.flat().length;
const siblings = (i: number): number[] => [0, 1, 2].map((k) => 3 * Math.floor(i / 3) + k);
const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
const mean = (values: readonly number[]): number => sum(values) / values.length;
const groupMean = (i: number): number => mean(siblings(i).map((k) => rewards[k]!));
/** Sample standard deviation. */
const groupStd = (i: number): number =>
  Math.sqrt(sum(siblings(i).map((k) => (rewards[k]! - groupMean(i)) ** 2)) / 2);
const grpo = (i: number): number => (rewards[i]! - groupMean(i)) / (groupStd(i) + 1e-4);

/** `rollout.max_tokens`, which some sums are divided by. */
const budget = 64;
type At = (i: number, t: number) => number;
const exp: At = (i, t) => Math.exp(moved[i]![t]!);
/** The gradient by each log-prob, of each rollout. */
async function gradients(preset: string, wanted: At, tolerance = 1e-9): Promise<void> {
  const { rollouts } = await explained(`extends: ${preset}\nrollout: { max_tokens: ${budget} }`, rows);
  rollouts.forEach(({ grad_logp }, i) => {
    close(
      grad_logp ?? [],
      old[i]!.map((_, t) => wanted(i, t)),
      tolerance,
    );
  });
}
async function advantages(preset: string, wanted: (i: number) => number): Promise<void> {
  const { rollouts } = await explained(`extends: ${preset}`, rows);
  rollouts.forEach((one, i) => {
    close(
      one.advantages ?? [],
      old[i]!.map(() => wanted(i)),
      1e-9,
    );
  });
}

it("cispo: every token counts by its ratio, at most 5", () =>
  gradients("cispo", (i, t) => (-grpo(i) * Math.min(exp(i, t), 5)) / tokens));

it("dapo: no gradient where the ratio has left [0.8, 1.28] the way the advantage pulls", () =>
  gradients("dapo", (i, t) => {
    const [rho, a] = [exp(i, t), grpo(i)];
    const clipped = (a > 0 && rho > 1.28) || (a < 0 && rho < 0.8);
    return clipped ? 0 : (-a * rho) / tokens;
  }));

it("luspo: the ratio is the geometric mean's, its gradient goes to all tokens, sums over rows", () =>
  gradients("luspo", (i) => {
    const rho = Math.exp(mean(moved[i]!));
    const a = grpo(i);
    const clipped = (a > 0 && rho > 1.0004) || (a < 0 && rho < 0.9997);
    return clipped ? 0 : (-a * rho) / rewards.length;
  }));

it("llamarl-aipo: weights against the sampler, capped at 4 and on no other side", () =>
  gradients("llamarl-aipo", (i, t) => {
    const rho = Math.exp(moved[i]![t]! - sampledOff[i]![t]!);
    return (-grpo(i) * Math.min(rho, 4)) / tokens;
  }));

it("seq-mask-tis: responses whose mean ratio between trainer and sampler leaves [0.5, 5] are dropped", () =>
  gradients("seq-mask-tis", (i, t) => {
    const weight = (k: number, s: number): number => Math.exp(-sampledOff[k]![s]!);
    const kept = (k: number): boolean => {
      const middle = Math.exp(mean(old[k]!.map((_, s) => Math.log(weight(k, s)))));
      return middle >= 0.5 && middle <= 5;
    };
    const [rho, a] = [exp(i, t), grpo(i)];
    const clipped = (a > 0 && rho > 1.2) || (a < 0 && rho < 0.8);
    return !kept(i) || clipped ? 0 : (-a * rho * weight(i, t)) / tokens;
  }));

it("max-rl: the lead over the group's mean, over that mean", () =>
  advantages("max-rl", (i) => (rewards[i]! - groupMean(i)) / groupMean(i)));

it("qae: of 3 rollouts, 1 right is at most a share of 0.6: the baseline is 0; 2 are more: it is 1", () =>
  advantages("qae", (i) => (rewards[i]! - (groupMean(i) <= 0.6 ? 0 : 1)) / (groupStd(i) + 1e-4)));

it("rloo: the response's KL is part of its reward, the others' mean is the baseline, every response counts once", async () => {
  const paid = rewards.map((reward, i) => reward - 0.05 * sum(referenceOff[i]!.map((off) => -off)));
  const lead = (i: number): number => {
    const others = siblings(i).filter((k) => k !== i);
    return paid[i]! - mean(others.map((k) => paid[k]!));
  };
  await advantages("rloo", lead);
  await gradients("rloo", (i) => -lead(i) / rewards.length);
});

for (const [preset, bound] of [
  ["dppo-tv", 0.15],
  ["dppo-kl", 0.05],
] as const)
  it(`${preset}: a token stops where its binary divergence exceeds ${bound} and the ratio goes on its way`, () =>
    gradients(preset, (i, t) => {
      const [then, here] = [Math.exp(old[i]![t]!), Math.exp(Math.min(now[i]![t]!, 0))];
      const divergence =
        preset === "dppo-tv"
          ? Math.abs(here - then)
          : then * Math.log(then / here) + (1 - then) * Math.log((1 - then) / (1 - here));
      const [rho, a] = [exp(i, t), rewards[i]! - groupMean(i)];
      const leaves = (a > 0 && rho > 1) || (a < 0 && rho < 1);
      return leaves && divergence > bound ? 0 : (-a * rho) / (rewards.length * budget);
    }));

it("pear: each token by what its successors say, γ 0.999, log-ratios within [−0.08, 0.3]", () =>
  gradients("pear", (i, t) => {
    const later = moved[i]!.slice(t + 1).map((delta) => Math.min(Math.max(delta, -0.08), 0.3));
    const log = Math.min(Math.max(sum(later) + later.length * Math.log(0.999), -10), 5);
    return -Math.exp(log) / (old[i]!.length * rewards.length);
  }));

it("prime: three answers, process and outcome each against the others, before whitening", async () => {
  const process = [
    [0.1, -0.2, 0.3],
    [0, 0.4],
    [-0.3, 0.1, -0.1, 0.1],
  ];
  const answers = process.map((values, i) =>
    row("g", i, {
      rewards: { process: { level: "token", values }, outcome: i === 0 ? 1 : 0 },
      logp_old: values.map(() => -1),
    }),
  );
  const text = "extends: prime\nreward: { terms: { outcome: equation } }\nadvantage: { whiten: none";
  const first = async (more: string): Promise<readonly unknown[]> =>
    (await explained(`${text}${more} }`, answers)).rollouts[0]!.advantages ?? [];
  close(await first(""), [0.975, 0.95, 1.225], 1e-9);
  close(await first(", baseline: { use: leave_one_out, own: scaled }"), [0.975, 0.9333, 1.3417], 1e-4);
});

it("oreo: path consistency of each token, with later log-ratios held constant", async () => {
  const values = old.map((list) => list.map((_, t) => 0.3 + 0.1 * t));
  const { rollouts } = await explained(
    "extends: oreo\nkl: []",
    rows.map((one, i) => ({ ...one, values: values[i]! })),
  );
  rollouts.forEach(({ grad_logp }, i) => {
    const off = moved[i]!.map((delta, t) => delta - referenceOff[i]![t]!);
    close(
      grad_logp ?? [],
      old[i]!.map((_, t) => {
        const residual = values[i]![t]! - rewards[i]! + 0.03 * sum(off.slice(t));
        return (2 * 0.03 * residual) / (old[i]!.length * rewards.length);
      }),
      1e-9,
    );
  });
});

it("dro: the response's log-ratio and the prompt's value are regressed on the reward", async () => {
  const values = old.map((list) => list.map((_, t) => 0.3 + 0.1 * t));
  const { rollouts, steps } = await explained(
    "extends: dro",
    rows.map((one, i) => ({ ...one, values: values[i]! })),
  );
  const residual = (i: number): number =>
    rewards[i]! - values[i]![0]! - sum(moved[i]!.map((delta, t) => delta - referenceOff[i]![t]!));
  // Policy and value each have the same half square.
  close([steps[0]!.loss], [mean(rewards.map((_, i) => residual(i) ** 2))], 1e-9);
  rollouts.forEach(({ grad_logp, gradients }, i) => {
    const slope = -residual(i) / rewards.length;
    close(
      grad_logp ?? [],
      old[i]!.map(() => slope),
      1e-9,
    );
    close(
      gradients?.["head:value"] ?? [],
      old[i]!.map((_, t) => (t === 0 ? slope : 0)),
      1e-9,
    );
  });
});

it("kto: each answer against the mean log-ratio of prompts with the answers to others", async () => {
  const mismatched = [0.3, -0.1, 0.5, 0.2, null, 0.1];
  const { rollouts } = await explained(
    "extends: kto",
    rows.map((one, i) => ({ ...one, mismatched_log_ratio: mismatched[i]! })),
  );
  const point = mean(mismatched.flatMap((value) => value ?? []));
  rollouts.forEach(({ grad_logp }, i) => {
    const sign = rewards[i] === 1 ? 1 : -1;
    const ratio = sum(moved[i]!.map((delta, t) => delta - referenceOff[i]![t]!));
    const value = 1 / (1 + Math.exp(-sign * 0.1 * (ratio - point)));
    const slope = (-sign * 0.1 * value * (1 - value)) / rewards.length;
    close(
      grad_logp ?? [],
      old[i]!.map(() => slope),
      1e-9,
    );
  });
});

/** What heads say of each token, recorded under the channel's own name. */
const heads = (names: readonly string[], at: (name: string, i: number, t: number) => number) => (i: number) =>
  Object.fromEntries(names.map((name) => [`head:${name}`, old[i]!.map((_, t) => at(name, i, t))]));

it("archer: the least Q at the turn's end over the least V before it, on the sum of its tokens", async () => {
  const value = (name: string, i: number, t: number): number =>
    0.1 * i + 0.05 * t + 0.03 * name.charCodeAt(1) * (name.startsWith("q") ? 1 : -1);
  const said = heads(["q1", "q2", "v1", "v2"], value);
  const { rollouts } = await explained(
    "extends: archer",
    rows.map((one, i) => ({ ...one, ...said(i) })),
  );
  rollouts.forEach(({ grad_logp }, i) => {
    const last = old[i]!.length - 1;
    const advantage =
      Math.min(value("q1", i, last), value("q2", i, last)) - Math.min(value("v1", i, 0), value("v2", i, 0));
    close(
      grad_logp ?? [],
      old[i]!.map(() => -advantage / rewards.length),
      1e-9,
    );
  });
});

it("digirl: turns ahead by 0.05 or more, of the tenth that did best beyond its task's critic", async () => {
  const logit = (name: string, i: number): number =>
    name === "task" ? [0.2, -1, 0.5, -2, 1, 0][i]! : 0.3 * i - 1;
  const said = heads(["v1", "v2", "task"], logit);
  const { rollouts } = await explained(
    "extends: digirl",
    rows.map((one, i) => ({ ...one, ...said(i) })),
  );
  const chance = (name: string, i: number): number => 1 / (1 + Math.exp(-logit(name, i)));
  const leads = rewards.map((reward, i) => reward - chance("task", i));
  // The tenth of six is one.
  const best = leads.indexOf(Math.max(...leads));
  rollouts.forEach(({ grad_logp }, i) => {
    const ahead = 0 - chance("v1", i) - 0.05 + rewards[i]! + rewards[i]! > 0;
    // What is left out is not counted either.
    const wanted = i === best && ahead ? -1 : 0;
    close(
      grad_logp ?? [],
      old[i]!.map(() => wanted),
      1e-9,
    );
  });
});

it("a-lol: answers above their prompt's value, by how much and within ±0.9 of the reference", async () => {
  const values = old.map((list, i) => list.map((_, t) => [0.2, 0.1, -0.3, 0.4, 0.5, 0.1][i]! + t));
  const { rollouts } = await explained(
    "extends: a-lol\nreplay: { use: file, path: log.jsonl }",
    rows.map((one, i) => ({ ...one, step: 60, values: values[i]! })),
  );
  rollouts.forEach(({ grad_logp }, i) => {
    const advantage = rewards[i]! - values[i]![0]!;
    const ratio = Math.exp(sum(moved[i]!.map((delta, t) => delta - referenceOff[i]![t]!)));
    const weight = Math.max(0, advantage) * Math.min(Math.max(ratio, 0.1), 1.9);
    close(
      grad_logp ?? [],
      old[i]!.map(() => -weight / rewards.length),
      1e-9,
    );
  });
});

/** Two pairs, each token's log-prob as it was: what is known of P3O without its clips. */
it("p3o on policy: (r1 − r2) · ½ ∇ log(π(y1)/π(y2)), the mean over pairs", async () => {
  const paid = [0.7, -0.3, 0.2, 0.9];
  const lengths = [2, 1, 3, 2];
  const pairs = paid.map((reward, i) => {
    const logp = old[i]!.slice(0, 1).concat([-1, -2]).slice(0, lengths[i]);
    return row(`pair${Math.floor(i / 2)}`, i % 2, { reward, logp_old: logp, logp_new: logp });
  });
  for (const shift of [0, 5]) {
    const shifted = pairs.map((one, i) => (i < 2 ? { ...one, reward: paid[i]! + shift } : one));
    const { rollouts } = await explained("extends: p3o", shifted);
    rollouts.forEach(({ grad_logp }, i) => {
      const lead = paid[i]! - paid[i ^ 1]!;
      close(grad_logp ?? [], new Array<number>(lengths[i]!).fill(-lead / 2 / 2), 1e-9);
    });
  }
});

it("ilql: two Qs towards r + γ V(s′), V towards the τ-expectile of the least slow Q, the mean over tokens", async () => {
  const columns = {
    values: [0.3, 1],
    "head:q1": [0.5, 1.2],
    "head:q2": [0.7, 0.8],
    "head:q1:logp": [-1, -2],
    "head:q2:logp": [-0.5, -1.5],
    "head:q1@slow": [0.4, 1],
    "head:q2@slow": [0.6, 0.9],
  };
  const logged = row("g", 0, { reward: 1, logp_old: [-1, -1], logp_new: [-1, -1], ...columns });
  const { rollouts, steps } = await explained("extends: ilql", [logged]);
  const [gamma, tau, cql] = [0.99, 0.7, 0.01];
  const goals = [gamma * 1, 1];
  const error = (q: "head:q1" | "head:q2", t: number): number => columns[q][t]! - goals[t]!;
  const gaps = [0.4 - 0.3, 0.9 - 1];
  const weights = gaps.map((gap) => (gap < 0 ? 1 - tau : tau));
  const { gradients: slopes = {} } = rollouts[0]!;
  for (const q of ["head:q1", "head:q2"] as const) {
    close(slopes[q] ?? [], [error(q, 0) / 2, error(q, 1) / 2], 1e-12);
    close(slopes[`${q}:logp`] ?? [], [-cql / 2, -cql / 2], 1e-12);
  }
  close(slopes["head:value"] ?? [], [(-weights[0]! * gaps[0]!) / 2, (-weights[1]! * gaps[1]!) / 2], 1e-12);
  const squares = [0, 1].flatMap((t) => [error("head:q1", t) ** 2, error("head:q2", t) ** 2]);
  const values = weights.map((weight, t) => weight * gaps[t]! ** 2);
  close([steps[0]!.loss], [(0.5 * sum(squares) + 0.5 * sum(values) + cql * (3 + 2)) / 2], 1e-12);
});

it("b-coder: first V alone, then Q made of logits, backed up by the reference's likeliest token", async () => {
  const columns = {
    values: [0.5, 0.8],
    greedy: [-0.4, -0.2],
    "greedy:reference": [-0.7, -0.9],
  };
  const [alpha, gamma] = [0.1, 0.999];
  const q = [alpha * (-1 + 0.4) + 0.5, 0.8];
  const errors = [q[0]! - gamma * (alpha * (-0.9 + 0.2) + 0.8), q[1]! - 1];
  for (const [step, moves] of [
    [0, 0],
    [50, alpha],
  ] as const) {
    const logged = row("g", 0, { step, reward: 1, logp_old: [-1, -0.2], logp_new: [-1, -0.2], ...columns });
    const { rollouts, steps } = await explained("extends: b-coder", [logged]);
    const [{ grad_logp, gradients: slopes = {} }] = rollouts as [(typeof rollouts)[number]];
    close(
      slopes["head:value"] ?? [],
      errors.map((error) => error / 2),
      1e-12,
    );
    close(
      grad_logp ?? [],
      errors.map((error) => (moves * error) / 2),
      1e-12,
    );
    close(
      slopes["greedy"] ?? [],
      errors.map((error) => (-moves * error) / 2),
      1e-12,
    );
    close([steps[0]!.loss], [(errors[0]! ** 2 + errors[1]! ** 2) / 4], 1e-12);
  }
});

it("tulu-3-rlvr: DPO of mean log-ratios at β = 5, then PPO on λ-advantages of the reward less 0.05 · k1", async () => {
  const values = old.map((list, i) => list.map((_, t) => 0.3 + 0.1 * t - 0.2 * i));
  const at = (step: number): RolloutRow[] => rows.map((one, i) => ({ ...one, step, values: values[i]! }));
  const text = "extends: tulu-3-rlvr\nrollout: { group: 3 }";
  const first = (await explained(text, at(0))).rollouts;
  const ratio = (i: number): number => mean(moved[i]!.map((delta, t) => delta - referenceOff[i]![t]!));
  first.forEach(({ grad_logp }, i) => {
    const [best, worst] = i < 3 ? [0, 2] : [3, 5];
    const slope = -5 / (1 + Math.exp(5 * (ratio(best) - ratio(worst)))) / 2;
    const each = ((Number(i === best) - Number(i === worst)) * slope) / old[i]!.length;
    close(grad_logp ?? [], new Array<number>(old[i]!.length).fill(each), 1e-9);
  });
  const advantages = old.map((list, i) => {
    let next = 0;
    return [...list.keys()]
      .reverse()
      .map((t) => {
        const last = t === list.length - 1;
        const paid = 0.05 * referenceOff[i]![t]! + (last ? rewards[i]! : 0);
        next = paid + (last ? 0 : values[i]![t + 1]!) - values[i]![t]! + (last ? 0 : 0.95 * next);
        return next;
      })
      .reverse();
  });
  const all = advantages.flat();
  const spread = Math.sqrt(sum(all.map((a) => (a - mean(all)) ** 2)) / (all.length - 1) + 1e-8);
  const second = (await explained(text, at(60))).rollouts;
  second.forEach(({ grad_logp }, i) => {
    close(
      grad_logp ?? [],
      advantages[i]!.map((lead, t) => {
        const [a, rho] = [(lead - mean(all)) / spread, exp(i, t)];
        return (a > 0 && rho > 1.2) || (a < 0 && rho < 0.8) ? 0 : (-a * rho) / tokens;
      }),
      1e-9,
    );
  });
});
