/** RLPR's reward against its released formula, on the very texts that it reads. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { referenceProbability } from "../../../../../server/methods/reward/models/referenceProbability.ts";
import { keyedRandom } from "../../../../../server/core/config/keyedRandom.ts";
import type { TermValue } from "../../../../../server/core/slots/reward.ts";
import { batchOf, task } from "../../../../support/batch.ts";
import { FakeModels, fakeTokenizer } from "../../../../support/fakePolicy.ts";
import { ofKind, testRun } from "../../../../support/runFolder.ts";

const encode = (text: string): number[] => [...fakeTokenizer.encode(text)];
const prompt = "ask";
const answer = "42";
const responses = [
  "<think>so</think> <answer> 41</answer>",
  "<think>so</think><answer>41</answer>",
  "no form at all, and far too many words for it to be one that anybody could have wanted",
];

async function scored(
  params: Record<string, unknown>,
  texts: readonly string[] = responses,
  wanted: string | undefined = answer,
): Promise<{ values: readonly TermValue[]; models: FakeModels }> {
  const models = new FakeModels({ seed: 3 });
  await models.get("policy").snapshot("reference");
  const asked = task("a", { prompt, ...(wanted === undefined ? {} : { answer: wanted }) });
  const batch = batchOf(
    texts.map((response) => ({
      context: encode(prompt),
      tokens: encode(response),
      record: { task: asked, response },
    })),
  );
  const context = { folder: ".", random: keyedRandom("test"), max_tokens: 100, group: 3 };
  const term = referenceProbability.create(referenceProbability.params.parse(params), context);
  const values = await term.score(batch, {
    models,
    tokenizer: fakeTokenizer,
    clock: { step: 0, stageStep: 0 },
  });
  return { values, models };
}

/** Mean probability of the answer's tokens after a text. */
async function mean(models: FakeModels, before: string): Promise<number> {
  const batch = batchOf([{ context: encode(before), tokens: encode(answer) }]);
  const { logp } = await models.get("policy").score(batch, { model: "policy", channels: ["logp"] });
  return logp!.reduce((sum, one) => sum + Math.exp(one), 0) / logp!.length;
}

const number = (value: TermValue | undefined): number => (value?.kind === "value" ? value.value : Number.NaN);
const near = (a: number, b: number): void => assert.ok(Math.abs(a - b) < 1e-12, `${a} is not ${b}`);

describe("reference_probability", () => {
  it("is the mean probability after the reasoning less that after the prompt", async () => {
    const { values, models } = await scored({ least: null });
    const base = await mean(models, `${prompt} `);
    near(number(values[0]), (await mean(models, `${prompt}<think>so</think> <answer> `)) - base);
    near(number(values[1]), (await mean(models, `${prompt}<think>so</think><answer> `)) - base);
    const end = encode(`</think> <answer> ${answer} </answer>`).length + 1 + 5;
    const cut = `${prompt}${responses[2]!.slice(0, responses[2]!.length - end)}</think> <answer> `;
    near(number(values[2]), (await mean(models, cut)) - base);
  });

  it("gives no reward for a gain below `least`", async () => {
    const all = (await scored({ least: null })).values.map(number);
    const paid = (await scored({})).values.map(number);
    paid.forEach((one, i) => near(one, Math.max(0, all[i]!)));
  });

  it("without a baseline is a probability, and its other forms are what they say", async () => {
    const of = async (form: string): Promise<number> =>
      number((await scored({ of: form, without: "none", least: null })).values[0]);
    const [arithmetic, logs, geometric, product] = [
      await of("mean"),
      await of("mean_log"),
      await of("geometric_mean"),
      await of("product"),
    ];
    assert.ok(arithmetic > 0 && arithmetic < 1);
    near(geometric, Math.exp(logs));
    near(product, Math.exp(logs * encode(answer).length));
    assert.ok(geometric <= arithmetic);
  });

  it("a task without an answer is an error, not 0", async () => {
    const { values } = await scored({}, responses.slice(0, 1), " ");
    assert.equal(values[0]?.kind, "error");
  });

  for (const term of ["{ use: reference_probability }", "{ use: information_gain, model: reference }"])
    it(`${term} runs, with the policy as it began for its reference`, async () => {
      const folder = mkdtempSync(join(tmpdir(), "gradus-probability-"));
      const file = join(folder, "a.gradus.yaml");
      writeFileSync(
        file,
        `model: { base: tiny, width: 16, layers: 1, heads: 2, hidden: 32, context: 96 }
tasks: [{ dataset: d.jsonl, answer: answer }]
rollout: { prompts: 2, group: 2, max_tokens: 6 }
reward: { terms: { p: ${term} } }
evaluation: { every: 1000, prompts: 1, pass_at: [1], record: 0 }
steps: 1
`,
      );
      const lines = [1, 2, 3, 4].map((n) => JSON.stringify({ prompt: `${n}+1=`, answer: String(n + 1) }));
      writeFileSync(join(folder, "d.jsonl"), `${lines.join("\n")}\n`);
      const run = testRun([], file);
      try {
        assert.equal(await run.work(), 0, run.ending());
        const rows = ofKind(run.records(), "rollout").map(({ row }) => row.rewards?.["p"]);
        assert.ok(
          rows.length > 0 && rows.every((reward) => typeof reward === "number"),
          JSON.stringify(rows),
        );
      } finally {
        run.remove();
        rmSync(folder, { recursive: true, force: true });
      }
    });
});
