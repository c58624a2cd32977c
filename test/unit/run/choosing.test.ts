/** Turns that are drawn among the actions of an environment: how likely each is, what trains, and what is refused. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { origin, type Batch } from "../../../server/core/rollouts.ts";
import { MaskChain } from "../../../server/algorithm/loss/masks.ts";
import type { Channel } from "../../../server/core/policy.ts";
import type { LanguageModel } from "../../../server/engine/policy.ts";
import { sgd } from "../../../server/methods/optimizer/sgd.ts";
import { RunModels } from "../../../server/run/models/models.ts";
import { objectHost } from "../../support/objectHost.ts";
import { batchOf, type RowSpec } from "../../support/batch.ts";
import { ofKind, testRun } from "../../support/runFolder.ts";
import { context, made } from "../support.ts";
import { largestDifference, open, stir } from "../engine/support.ts";

await objectHost();

/** A choice: what was said before it, and all actions, the chosen one first. */
interface Choice {
  readonly before: string;
  readonly actions: readonly string[];
  /** Its first token in the batch. */
  readonly first: number;
}
const choices: readonly Choice[] = [
  { before: "ab", actions: ["go", "no", "up"], first: 0 },
  { before: "abgo\n", actions: ["stay", "walk", "on"], first: 3 },
];

/** An episode of two choices, and a response that was written. */
function played({ tokenizer }: LanguageModel): Batch {
  const encode = (text: string): number[] => [...tokenizer.encode(text)];
  const episode: RowSpec = {
    context: encode("ab"),
    tokens: encode("go\nstay"),
    origin: [..."go\nstay"].map((character) => (character === "\n" ? origin.observed : origin.written)),
    record: {
      turns: [
        { role: "assistant", start: 0, end: 2, actions: ["no", "go", "up"] },
        { role: "user", start: 2, end: 3 },
        { role: "assistant", start: 3, end: 7, actions: ["stay", "walk", "on"] },
      ],
    },
  };
  return batchOf([episode, { context: encode("ab"), tokens: encode("xyz") }]);
}

const alone = ({ tokenizer }: LanguageModel, rows: readonly (readonly [string, string])[]): Batch =>
  batchOf(
    rows.map(([before, text]) => ({
      context: [...tokenizer.encode(before)],
      tokens: [...tokenizer.encode(text)],
    })),
  );

/** Σ log π of each action's tokens. */
async function scores(policy: LanguageModel, { before, actions }: Choice): Promise<number[]> {
  const batch = alone(
    policy,
    actions.map((action) => [before, action]),
  );
  const { logp } = await policy.score(batch, { model: "policy", channels: ["logp"] });
  return actions.map((_, row) =>
    logp!.subarray(batch.offsets[row], batch.offsets[row + 1]).reduce((sum, one) => sum + one, 0),
  );
}

const shares = (of: readonly number[]): number[] => {
  const weights = of.map(Math.exp);
  return weights.map((weight) => weight / weights.reduce((sum, one) => sum + one, 0));
};
const logShare = (of: readonly number[]): number => Math.log(shares(of)[0]!);
const entropyOf = (of: readonly number[]): number =>
  -shares(of).reduce((sum, share) => sum + share * Math.log(share), 0);

/** How `of` changes with each score, by trying. */
const slopes = (of: (scores: readonly number[]) => number, at: readonly number[]): number[] =>
  at.map((_, j) => {
    const moved = (by: number): number => of(at.map((score, i) => (i === j ? score + by : score)));
    return (moved(1e-5) - moved(-1e-5)) / 2e-5;
  });

const near = (actual: number, wanted: number, what: string): void =>
  assert.ok(Math.abs(actual - wanted) < 1e-5, `${what}: ${actual}, not ${wanted}`);

async function stirred(): Promise<{ readonly policy: LanguageModel; readonly models: RunModels }> {
  const policy = await open({ optimizer: made(sgd, { lr: 1, clip_norm: null }) });
  stir(policy, 0.1);
  return { policy, models: new RunModels(policy) };
}

test("the log-prob and the entropy of a turn are those of its choice", async () => {
  const { policy, models } = await stirred();
  try {
    const batch = played(policy);
    const channels: Channel[] = ["logp", "entropy"];
    const { logp, entropy } = await models.get("policy").score(batch, { model: "policy", channels });
    for (const choice of choices) {
      const of = await scores(policy, choice);
      assert.ok(choice.first > 0 || entropyOf(of) > 0.5, "not decided before it is drawn");
      near(logp![choice.first]!, logShare(of), choice.before);
      near(entropy![choice.first]!, entropyOf(of), choice.before);
      assert.ok(logp!.subarray(choice.first + 1, choice.first + 2).every((rest) => rest === 0));
    }
    assert.deepEqual([...new MaskChain([], context).masked(batch, {}).mask], [1, 0, 0, 1, 0, 0, 0, 1, 1, 1]);
    const plain = await policy.score(alone(policy, [["ab", "xyz"]]), { model: "policy", channels });
    for (let t = 0; t < 3; t++) {
      near(logp![7 + t]!, plain.logp![t]!, "a response that was written");
      near(entropy![7 + t]!, plain.entropy![t]!, "a response that was written");
    }
    await assert.rejects(
      models.get("policy").score(batch, { model: "policy", channels: ["logsumexp"] }),
      /logsumexp is of a distribution over words.*over actions/,
    );
  } finally {
    policy.close();
  }
});

test("the gradient is ∇log P(a) = ∇s(a) − Σ P(b) ∇s(b), and that of the entropy of P", async () => {
  const { policy, models } = await stirred();
  try {
    const batch = played(policy);
    const [byLogp, byEntropy] = [new Float64Array(10), new Float64Array(10)];
    [byLogp[0], byLogp[3], byLogp[8], byEntropy[0], byEntropy[3]] = [0.7, -1.3, 0.4, 0.2, -0.5];

    const rows: [string, string][] = [["ab", "xyz"]];
    const coefficients = [0, 0.4, 0];
    for (const choice of choices) {
      const of = await scores(policy, choice);
      const [logps, entropies] = [slopes(logShare, of), slopes(entropyOf, of)];
      choice.actions.forEach((action, i) => {
        rows.push([choice.before, action]);
        const wanted = byLogp[choice.first]! * logps[i]! + byEntropy[choice.first]! * entropies[i]!;
        coefficients.push(...[...action].map(() => wanted));
      });
    }
    const plan = { channels: ["logp", "entropy"] as const, unit: "sequence" as const };
    const wanted = policy.gradients(alone(policy, rows), plan, () => ({
      loss: 0,
      gradients: { logp: Float64Array.from(coefficients) },
    }));

    const before = policy.readTrained();
    await models.get("policy").update(batch, { ...plan, fresh: true }, (now, own) => {
      assert.equal(own, batch);
      assert.equal(now.logp!.length, batch.tokens.length);
      return { loss: 0, gradients: { logp: byLogp, entropy: byEntropy } };
    });
    const after = policy.readTrained();
    assert.deepEqual(Object.keys(wanted).sort(), Object.keys(before).sort());
    for (const [name, gradient] of Object.entries(wanted)) {
      const moved = before[name]!.map((value, i) => value - after[name]![i]!);
      const size = gradient.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-2);
      assert.ok(largestDifference(moved, gradient) < 1e-3 * size, name);
    }
  } finally {
    policy.close();
  }
});

const config = `model: { base: tiny, width: 16, layers: 1, heads: 2, hidden: 32, context: 128, value_heads: [value] }
tasks: [{ name: grid, env: grid_world, rooms: [1], size: 3, things: 1, missions: [go_to], kinds: [ball], colors: [red], moves: compass, view: short, limit: 4, prompt: "{view}:" }]
rollout: { prompts: 2, group: 8, max_tokens: 2, temperature: 2, chat: false, shape: { use: environment, turns: 3, actions: choose, observation: "\\n{text}:" } }
curriculum: { admission: none }
reward: { terms: { played: environment } }
advantage: { baseline: critic, level: turn }
objective: { entropy: 0.01, value: { use: value_clipped, head: value, coefficient: 0.5 } }
stages: [{ name: only, steps: 3 }]
evaluation: { every: 100, prompts: 2, pass_at: [1] }
`;

async function running(
  text: string,
  files: Readonly<Record<string, string>>,
  look: (run: ReturnType<typeof testRun>, status: number) => void,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "gradus-choose-"));
  for (const [name, content] of Object.entries({ ...files, "a.gradus.yaml": text }))
    writeFileSync(join(folder, name), content);
  const run = testRun([], join(folder, "a.gradus.yaml"));
  try {
    look(run, await run.work());
  } finally {
    run.remove();
    rmSync(folder, { recursive: true });
  }
}

test("a run chooses its turns: each is an action, and a choice trains as one", async () => {
  await running(config, {}, (run, status) => {
    assert.equal(status, 0, run.ending());
    const rows = ofKind(run.records(), "rollout").filter(({ row }) => row.use === "train");
    assert.equal(rows.length, 48);
    const said = new Set<string>();
    for (const { row, columns } of rows)
      for (const { role, text = "", actions = [], start, end } of row.turns ?? []) {
        if (role !== "assistant") continue;
        assert.ok(actions.includes(text), `${text} of ${actions.join()}`);
        assert.equal(end - start, text.length);
        const logp = [...columns.logp_old!.slice(start, end)];
        assert.ok(logp[0]! < 0 && logp.slice(1).every((rest) => rest === 0), logp.join());
        const entropy = [...columns.entropy!.slice(start, end)];
        assert.ok(entropy[0]! > 0 && entropy.slice(1).every(Number.isNaN), entropy.join());
        // At temperature 2 a choice is nearer to a toss-up.
        assert.notEqual(columns.logp_sampled![start], logp[0]);
        said.add(text);
      }
    assert.ok(said.size > 2, [...said].join());
    const metrics = ofKind(run.records(), "metrics").filter(({ values }) => "tokens/trained" in values);
    assert.equal(metrics.length, 3);
    for (const { values } of metrics) {
      assert.ok(Math.abs(Number(values["update/ratio_mean"]) - 1) < 1e-6, "the weights have not moved");
      assert.ok(Number(values["mismatch/k3"] ?? 0) < 1e-9);
      assert.ok(Number(values["policy/entropy"]) <= Math.log(6));
    }
  });
});

test("an environment that lists no actions ends the run, and says what to do", async () => {
  const silent = "export default { reset: () => null, step: () => ({ reward: 1, done: true }) };\n";
  const text = config.replace(
    /^tasks:.*$/m,
    "tasks: [{ env: reverse_text, lengths: [2], play: { use: ./silent.ts, processes: 1 } }]",
  );
  await running(text, { "silent.ts": silent }, (run, status) => {
    assert.notEqual(status, 0);
    assert.match(run.ending(), /draws each turn among the actions.*listed none/);
  });
});
