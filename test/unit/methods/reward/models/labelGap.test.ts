/** RLPrompt's reward: a gap written out, and the term over a model's own probabilities. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { gapOf, labelGap } from "../../../../../server/methods/reward/models/labelGap.ts";
import { keyedRandom } from "../../../../../server/core/config/keyedRandom.ts";
import type { Json } from "../../../../../shared/lib/json.ts";
import type { TermValue } from "../../../../../server/core/slots/reward.ts";
import { batchOf, task } from "../../../../support/batch.ts";
import { FakeModels, fakeTokenizer } from "../../../../support/fakePolicy.ts";

const encode = (text: string): number[] => [...fakeTokenizer.encode(text)];
const labels = ["bad", "good"];
const near = (a: number, b: number): void => assert.ok(Math.abs(a - b) < 1e-9, `${a} is not ${b}`);

async function scored(
  examples: Json,
  responses: readonly string[],
  params: Record<string, unknown> = {},
): Promise<{ readonly values: readonly TermValue[]; readonly models: FakeModels }> {
  const models = new FakeModels({ seed: 3 });
  await models.get("policy").snapshot("reference");
  const asked = task("a", { prompt: "ask", data: { examples } });
  const batch = batchOf(
    responses.map((response) => ({
      context: encode("ask"),
      tokens: encode(response),
      record: { task: asked, response },
    })),
  );
  const context = { folder: ".", random: keyedRandom("test"), max_tokens: 100, group: 2 };
  const term = labelGap.create(labelGap.params.parse({ labels, ...params }), context);
  const clock = { step: 0, stageStep: 0 };
  return { values: await term.score(batch, { models, tokenizer: fakeTokenizer, clock }), models };
}

/** Probabilities of the labels' first tokens after a text, brought to a sum of 1. */
async function shares(models: FakeModels, before: string): Promise<number[]> {
  const firsts = labels.map((label) => encode(label).slice(0, 1));
  const batch = batchOf(firsts.map((tokens) => ({ context: encode(before), tokens })));
  const { logp } = await models.get("policy").score(batch, { model: "reference", channels: ["logp"] });
  const weights = [...logp!].map(Math.exp);
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map((one) => one / sum);
}

describe("label_gap", () => {
  it("is the label's probability less the largest other, among the labels", () => {
    const logp = [0.5, 0.3, 0.2].map((p) => Math.log(0.1 * p));
    near(gapOf(logp, 0), 0.2);
    near(gapOf(logp, 1), -0.2);
    near(gapOf(logp, 2), -0.3);
  });

  it("weighs the gaps by λ₂ and λ₁, averages them, and says how many were right", async () => {
    const examples = [
      { text: "fine", label: "good" },
      { text: "fine", label: 0 },
      { text: "poor", label: "bad" },
    ];
    const { values, models } = await scored(examples, ["it was", "so"]);
    for (const [row, response] of ["it was", "so"].entries()) {
      const gaps: number[] = [];
      for (const [text, label] of [
        ["fine", 1],
        ["fine", 0],
        ["poor", 0],
      ] as const) {
        const p = await shares(models, `${text} ${response}`);
        gaps.push(p[label]! - p[1 - label]!);
      }
      const found = values[row]!;
      assert.ok(found.kind === "value");
      near(found.value, gaps.reduce((sum, gap) => sum + gap * (gap > 0 ? 200 : 180), 0) / 3);
      near(found.components!["accuracy"]!, gaps.filter((gap) => gap > 0).length / 3);
    }
  });

  it("names what is wrong with examples, and never rewards 0 for it", async () => {
    for (const examples of [[], "none", [{ text: "fine", label: "mild" }], [{ label: 0 }]]) {
      const { values } = await scored(examples, ["so"]);
      assert.ok(values[0]!.kind === "error" && /example/.test(values[0]!.message), JSON.stringify(values));
    }
  });

  it("refuses labels that begin alike", () =>
    assert.rejects(
      scored([{ text: "fine", label: 0 }], ["so"], { labels: ["good", "great"] }),
      /begins "good" and "great" alike/,
    ));
});
