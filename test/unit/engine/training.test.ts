import assert from "node:assert/strict";
import { test } from "node:test";
import { toPublic } from "../../../server/engine/formats/huggingFace/layout.ts";
import type { LanguageModel } from "../../../server/engine/policy.ts";
import type { PolicyOptions } from "../../../server/engine/index.ts";
import { microBatches } from "../../../server/engine/passes/layout.ts";
import { Stream } from "../../../server/engine/random.ts";
import type { Batch } from "../../../server/core/rollouts.ts";
import type { Channel } from "../../../server/core/policy.ts";
import { logitsOf, statesOf, widen, type Public } from "./reference.ts";
import {
  batchOf,
  coefficientsOf,
  largestDifference,
  open,
  plan,
  randomRows,
  stir,
  supervised,
  tinyModel,
  weighBy,
} from "./support.ts";
import { some } from "../../support/thorough.ts";

const rows = randomRows([
  [5, 6],
  [1, 3],
  [9, 12],
  [2, 1],
  [3, 20],
  [0, 5],
]);
const batch = batchOf(rows);
const n = batch.tokens.length;
const heads = [
  { name: "value", detach: false },
  { name: "aside", detach: true },
  { name: "q", words: true, detach: false },
];

/** Moves all that trains, heads and adapters included. */
function stirTrained(policy: LanguageModel, key: string, size = 0.2): void {
  const random = new Stream(key);
  const stirred = Object.entries(policy.readTrained()).map(
    ([name, values]) => [name, values.map((value) => value + size * random.normal())] as const,
  );
  policy.writeWeights(Object.fromEntries(stirred));
}

/** A policy and a reference with other weights. */
async function pair(options: Partial<PolicyOptions> = {}): Promise<LanguageModel> {
  const policy = await open({ model: { ...tinyModel(), heads }, ...options });
  stirTrained(policy, "reference", 0.3);
  await policy.snapshot("reference");
  stirTrained(policy, "policy");
  return policy;
}

function sameGradients(a: Record<string, Float32Array>, b: Record<string, Float32Array>): void {
  assert.deepEqual(Object.keys(a), Object.keys(b));
  for (const [name, values] of Object.entries(a)) {
    const size = values.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-3);
    const most = largestDifference(values, b[name]!);
    assert.ok(most < 1e-4 * size, `${name}: ${most} of ${size}`);
  }
}

const channels: Channel[] = [
  "logp",
  "entropy",
  "logsumexp",
  "mean_logp",
  "sum_pi_squared",
  "greedy",
  "head:value",
  "head:aside",
  "head:q",
  "head:q:logp",
  "greedy:reference",
  "kl:reference:reverse",
  "kl:reference:forward",
  "kl:reference:reverse:5",
  "kl:reference:forward:2",
  "kl:reference:forward:7",
  "kl:reference:reverse:t1.3",
  "jsd:reference:0.5",
  "jsd:reference:0.3:5:t1.1",
];

/** The words of the k largest logits. */
const likeliest = (logits: Float64Array, k: number): Set<number> =>
  new Set([...logits.keys()].sort((a, b) => logits[b]! - logits[a]!).slice(0, k));

/** Each channel of each token in 64 bits, from the public description of the model. */
function expected(
  policy: LanguageModel,
  own: Public,
  reference: Public,
  head: Public,
  channel: Channel,
): number[] {
  const logSoftmax = (logits: Float64Array): Float64Array => {
    const most = Math.max(...logits);
    const lse = most + Math.log(logits.reduce((sum, value) => sum + Math.exp(value - most), 0));
    return logits.map((value) => value - lse);
  };
  const kl = (p: Float64Array, q: Float64Array): number =>
    p.reduce((sum, value, i) => sum + Math.exp(value) * (value - q[i]!), 0);
  return rows.flatMap(({ context, tokens }) => {
    const all = [...(context.length === 0 ? [policy.tokenizer.bos] : context), ...tokens];
    const first = all.length - tokens.length - 1;
    const logits = logitsOf(policy.shape, own, all);
    const others = channel.includes(":reference") ? logitsOf(policy.shape, reference, all) : [];
    const states = channel.startsWith("head") ? statesOf(policy.shape, own, all) : [];
    return tokens.map((token, i) => {
      const raw = logits[first + i]!;
      const p = logSoftmax(raw);
      if (channel === "logp") return p[token]!;
      if (channel === "entropy") return -p.reduce((sum, value) => sum + Math.exp(value) * value, 0);
      if (channel === "logsumexp") return raw[0]! - p[0]!;
      if (channel === "mean_logp") return p.reduce((sum, value) => sum + value, 0) / p.length;
      if (channel === "sum_pi_squared") return p.reduce((sum, value) => sum + Math.exp(2 * value), 0);
      if (channel === "greedy") return Math.max(...p);
      if (channel === "greedy:reference") {
        const there = others[first + i]!;
        return p[there.indexOf(Math.max(...there))]!;
      }
      if (channel.startsWith("head:")) {
        const [, called, of] = channel.split(":");
        const name = `heads.${called}`;
        const bias = head[`${name}_bias`]!;
        const outputs = bias.map((added, word) =>
          states[first + i]!.reduce(
            (sum, value, at) => sum + value * head[name]![at * bias.length + word]!,
            added,
          ),
        );
        if (of === "logp") return logSoftmax(outputs)[token]!;
        return outputs[outputs.length === 1 ? 0 : token]!;
      }
      const temperature = Number(/:t(.+)$/.exec(channel)?.[1] ?? 1);
      const top = Number(/:(\d+)(?::t|$)/.exec(channel)?.[1] ?? raw.length);
      const among = likeliest(others[first + i]!, top);
      const [near, far] = [raw, others[first + i]!].map((x) =>
        logSoftmax(x.filter((_, v) => among.has(v)).map((value) => value / temperature)),
      );
      if (!channel.startsWith("jsd")) return channel.includes("reverse") ? kl(near!, far!) : kl(far!, near!);
      const beta = Number(channel.split(":")[2]);
      const mixture = near!.map((value, v) =>
        Math.log((1 - beta) * Math.exp(value) + beta * Math.exp(far![v]!)),
      );
      return beta * kl(far!, mixture) + (1 - beta) * kl(near!, mixture);
    });
  });
}
const wide = (values: Record<string, Float32Array>): Record<string, Float64Array> =>
  Object.fromEntries(Object.entries(values).map(([name, data]) => [name, Float64Array.from(data)]));

for (const channel of some(channels.slice(3), 1)) {
  test(`${channel} and its gradient by every kind of weight equal 64-bit arithmetic and its differences`, async () => {
    const policy = await open({ model: { ...tinyModel(), heads } });
    stirTrained(policy, "reference", 0.3);
    const reference = widen(toPublic(policy.shape, policy.readWeights()));
    await policy.snapshot("reference");
    stirTrained(policy, "policy");
    const trained = policy.readTrained();
    const own = widen(toPublic(policy.shape, trained));
    const head = wide(
      Object.fromEntries(Object.entries(trained).filter(([name]) => name.startsWith("heads."))),
    );
    const stats = await policy.score(batch, { model: "policy", channels: [channel] });
    assert.ok(largestDifference(stats[channel]!, expected(policy, own, reference, head, channel)) < 3e-4);
    const c = coefficientsOf(n, channel);
    const gradients = policy.gradients(batch, plan([channel]), weighBy({ [channel]: c }));
    const found = {
      ...widen(toPublic(policy.shape, gradients)),
      ...wide(Object.fromEntries(Object.keys(head).map((name) => [name, gradients[name]!]))),
    };
    const loss = (): number =>
      expected(policy, own, reference, head, channel).reduce((sum, value, i) => sum + value * c[i]!, 0);
    for (const [name, gradient] of Object.entries(found)) {
      const values = own[name] ?? head[name]!;
      const largest = gradient.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
      // The detached head stops its gradient before the decoder, and the other head has no coefficient.
      const still =
        channel === "head:aside"
          ? !name.startsWith("heads.aside")
          : name.startsWith("heads.") && channel.split(":")[1] !== name.replace("_bias", "").slice(6);
      assert.equal(largest === 0, still, `${name}: ${largest}`);
      if (still) continue;
      const at = gradient.findIndex((value) => Math.abs(value) === largest);
      for (const index of [at, Math.floor(gradient.length / 3)]) {
        const before = values[index]!;
        values[index] = before + 1e-5;
        const above = loss();
        values[index] = before - 1e-5;
        const below = loss();
        values[index] = before;
        const wanted = (above - below) / 2e-5;
        assert.ok(
          Math.abs(wanted - gradient[index]!) < 1e-5 + 2e-3 * largest,
          `${name}[${index}]: ${gradient[index]} instead of ${wanted}`,
        );
      }
    }
    policy.close();
  });
}

const coefficients = Object.fromEntries(channels.map((channel) => [channel, coefficientsOf(n, channel)]));
const withoutKl = Object.fromEntries(
  Object.entries(coefficients).filter(([channel]) => !channel.includes(":reference")),
);
const plainChannels = Object.keys(withoutKl) as Channel[];

for (const size of some([{ kv_heads: 4, tied: false }, {}], 1)) {
  test(`layer by layer, in pieces, with anything kept, gives what one run gives, ${JSON.stringify(size)}`, async () => {
    const whole = await pair({ model: { ...tinyModel(size), heads } });
    const wanted = whole.gradients(batch, plan(plainChannels), weighBy(withoutKl));
    const scores = await whole.score(batch, { model: "policy", channels: plainChannels });
    for (const [options, mode] of [
      [{ run_bytes: 1 }, "staged"],
      [{ run_bytes: 1, kept_bytes: 0 }, "recompute"],
      [{ run_bytes: 1, kept_bytes: 70_000 }, "recompute"],
      [{ run_bytes: 1, kept_bytes: 40_000, micro_tokens: 24 }, "recompute"],
      [{ logits: 1000 }, "staged"],
      [{ logits: 1, threads: 1 }, "staged"],
      [{ micro_tokens: 24, threads: 1 }, "staged"],
    ] as const) {
      const other = await open({ model: { ...tinyModel(size), heads }, ...options });
      other.writeWeights(whole.readTrained());
      const baseline = other.counters().tensors;
      sameGradients(wanted, other.gradients(batch, plan(plainChannels), weighBy(withoutKl)));
      const again = await other.score(batch, { model: "policy", channels: plainChannels });
      for (const channel of plainChannels)
        assert.ok(largestDifference(scores[channel]!, again[channel]!) < 1e-4, channel);
      assert.equal(other.counters().tensors, baseline);
      const stats = await other.update(batch, plan(plainChannels), weighBy(withoutKl));
      assert.equal(stats.mode, mode, JSON.stringify(options));
      other.close();
    }
    whole.close();
  });
}

test("divergences do not depend on the pieces, and staged, recomputed and fused steps agree on them", async () => {
  const kl = [
    "logp",
    "kl:reference:reverse",
    "kl:reference:forward",
    "kl:reference:reverse:5",
    "jsd:reference:0.3:5:t1.1",
    "greedy:reference",
  ] as const;
  const own = Object.fromEntries(kl.map((channel) => [channel, coefficients[channel]!]));
  const policy = await pair();
  const wanted = policy.gradients(batch, plan(kl), weighBy(own));
  for (const options of [{ logits: 500 }, { kept_bytes: 0 }, { threads: 1, micro_tokens: 40 }]) {
    const other = await pair(options);
    sameGradients(wanted, other.gradients(batch, plan(kl), weighBy(own)));
    other.close();
  }
  policy.close();
});

test("the order of rows changes nothing", async () => {
  const policy = await open();
  stir(policy);
  const order = [3, 0, 5, 1, 4, 2];
  const turned = batchOf(order.map((row) => rows[row]!));
  const c = coefficientsOf(n, "order");
  const moved = Float64Array.from(
    order.flatMap((row) => [...c.subarray(batch.offsets[row], batch.offsets[row + 1])]),
  );
  sameGradients(
    policy.gradients(batch, plan(["logp"]), weighBy({ logp: c })),
    policy.gradients(turned, plan(["logp"]), weighBy({ logp: moved })),
  );
  policy.close();
});

test("each sequence's gradient is clipped to its norm before they are added", async () => {
  const policy = await open();
  stir(policy);
  const c = coefficientsOf(n, "clip");
  const alone = rows.map((_, row) =>
    policy.gradients(
      batch,
      plan(["logp"]),
      weighBy({
        logp: c.map((value, i) => (i >= batch.offsets[row]! && i < batch.offsets[row + 1]! ? value : 0)),
      }),
    ),
  );
  const norms = alone.map((gradients) =>
    Math.sqrt(Object.values(gradients).reduce((sum, g) => g.reduce((s, value) => s + value * value, sum), 0)),
  );
  const limit = [...norms].sort((a, b) => a - b)[3]!;
  const wanted = Object.fromEntries(
    Object.keys(alone[0]!).map((name) => [
      name,
      alone[0]![name]!.map((_, i) =>
        alone.reduce((sum, g, row) => sum + g[name]![i]! * Math.min(1, limit / norms[row]!), 0),
      ),
    ]),
  );
  sameGradients(
    wanted,
    policy.gradients(batch, plan(["logp"], { per_sequence_clip: limit }), weighBy({ logp: c })),
  );
  const stats = await policy.update(
    batch,
    plan(["logp"], { per_sequence_clip: limit }),
    weighBy({ logp: c }),
  );
  assert.equal(stats.metrics["update/skipped"], 0);
  policy.close();
});

test("a value head learns its targets; a detached one leaves the decoder alone", async () => {
  for (const name of ["value", "aside"] as const) {
    const policy = await open({ model: { ...tinyModel(), heads } });
    const start = policy.readTrained();
    const channel = `head:${name}` as const;
    const error = (values: Float64Array): number =>
      values.reduce((sum, value, i) => sum + (value - (batch.tokens[i]! % 3)) ** 2, 0) / n;
    let [first, last] = [NaN, NaN];
    const { tensors } = policy.counters();
    for (let step = 0; step < 40; step++) {
      const { loss } = await policy.update(batch, plan([channel]), (now) => {
        const values = now[channel]!;
        return {
          loss: error(values),
          gradients: { [channel]: values.map((value, i) => (2 / n) * (value - (batch.tokens[i]! % 3))) },
        };
      });
      if (step === 0) first = loss;
      last = loss;
    }
    assert.ok(last < 0.7 * first, `${first} to ${last}`);
    assert.ok(policy.counters().tensors - tensors <= 2 * Object.keys(start).length);
    const moved = largestDifference(policy.readTrained()["0.qkv"]!, start["0.qkv"]!);
    assert.equal(moved === 0, name === "aside");
    policy.close();
  }
});

test("another policy's log-probability comes with the rest in one pass", async () => {
  const policy = await open();
  const teacher = await open({ seed: 99, model: tinyModel({ width: 24, heads: 2, kv_heads: 2 }) });
  stir(teacher);
  policy.attach("teacher", teacher);
  await policy.snapshot("reference");
  const wanted = (await teacher.score(batch, { model: "policy", channels: ["logp"] })).logp!;
  let seen: Partial<Record<Channel, Float64Array>> = {};
  await policy.update(
    batch,
    plan(["logp", "logp:reference", "logp:teacher", "kl:teacher:forward"]),
    (now, of: Batch) => {
      seen = { ...now };
      return supervised(now, of);
    },
  );
  assert.ok(largestDifference(seen["logp:teacher"]!, wanted) < 1e-4);
  assert.ok(largestDifference(seen["logp:reference"]!, seen["logp"]!) < 1e-4);
  assert.ok(seen["kl:teacher:forward"]!.every((value) => value > 0));
  policy.close();
  teacher.close();
});

/** Why rows are sorted by length instead of packed one after another: what is left to gain is a few per cent. */
test("sorting rows by length leaves little padding in ragged batches", () => {
  const random = new Stream("ragged");
  for (const [count, budget] of [
    [128, 2048],
    [512, 2048],
    [128, 1024],
  ] as const) {
    const ragged = Array.from({ length: count }, (_, row) => {
      const length = Math.min(120, Math.round(Math.exp(3 + 0.7 * random.normal())) + 8);
      return { row, tokens: new Int32Array(length), context: 5, column: 0 };
    });
    const used = ragged.reduce((sum, { tokens }) => sum + tokens.length - 1, 0);
    const cut = microBatches(ragged, budget, 2, 0);
    const taken = cut.reduce((sum, { ids }) => sum + ids.length, 0);
    assert.equal(
      cut.reduce((sum, { rows: held }) => sum + held.length, 0),
      count,
    );
    assert.ok(taken < 1.25 * used, `${count} rows: ${taken} for ${used}`);
  }
});
