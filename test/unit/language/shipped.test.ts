/** What completion puts first: what TRL and verl ship, read off the conversions of their configurations. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { listPresets, presetNamed } from "../../../server/config/presets.ts";
import { withDefaults } from "../../../server/config/stages.ts";
import { mapNode, startOfFile } from "../../../server/config/text/node.ts";
import { choicesOf } from "../../../server/frameworks/releases/facts/choices.ts";
import { tableOf } from "../../../server/frameworks/releases/load.ts";
import { completionsAt } from "../../../server/language/completion/completion.ts";
import {
  estimatorsOfPresets,
  isResearch,
  isShipped,
  isShippedPreset,
  trainersOfMethods,
} from "../../../server/language/completion/shipped.ts";
import { methodOf } from "../../../server/methods/index.ts";
import { cursor } from "../../support/lspServer.ts";

const merged = withDefaults(
  mapNode({ file: "a.gradus.yaml", folder: "", range: startOfFile, via: [], layer: "default" }, []),
);

function offers(marked: string): readonly { label: string; detail: string; research: boolean }[] {
  const { text, position } = cursor(marked);
  const client = { snippets: true, suggest: true, described: true };
  const { items, research } = completionsAt({ text, position, merged, file: "/tmp/a.gradus.yaml", client });
  const sorted = items.map((item, index) => ({
    label: item.label,
    detail: item.labelDetails?.description ?? "",
    research: research(index),
    order: item.sortText ?? "",
  }));
  return sorted.toSorted((a, b) => (a.order < b.order ? -1 : 1));
}

describe("what TRL and verl ship", () => {
  it("is what a conversion can write, in each slot that they choose in", () => {
    for (const name of ["clipped", "cispo", "sapo", "vespo", "clip_cov", "dppo_kl", "dpo", "apo", "kto"])
      assert.ok(isShipped("objective", name), name);
    for (const name of ["pacs", "nft", "orpo", "copg"]) assert.ok(!isShipped("objective", name), name);
    for (const name of ["group_mean", "leave_one_out", "greedy", "opo", "critic", "optimal_token_baseline"])
      assert.ok(isShipped("baseline", name), name);
    for (const name of ["median", "pass_at_k", "tree_siblings"])
      assert.ok(!isShipped("baseline", name), name);
    for (const name of ["top_entropy", "overlong", "rejected", "off_policy_sequence"])
      assert.ok(isShipped("mask", name), name);
  });

  it("of presets, those whose every choice is one that a conversion can write", () => {
    const ids = listPresets()
      .filter(isShippedPreset)
      .map(({ id }) => id);
    for (const id of [
      "grpo",
      "dapo",
      "dr-grpo",
      "gspo",
      "rloo",
      "remax",
      "ppo",
      "dpo",
      "kto",
      "tis",
      "luspo",
    ])
      assert.ok(ids.includes(id), id);
    for (const id of ["sec", "luffy", "prime", "nft", "passk-training", "kimi-k1.5", "vineppo", "orpo"])
      assert.ok(!ids.includes(id), id);
    assert.ok(ids.length < listPresets().length / 4, `${ids.length}`);
  });

  it("adds by hand only trainers and estimators that there are", () => {
    const { trees } = tableOf("trl");
    for (const [method, trainer] of Object.entries(trainersOfMethods)) {
      assert.ok(trees.includes(trainer), trainer);
      const [slot, name] = method.split(" ");
      assert.ok((slot === "objective" || slot === "auxiliary") && methodOf(slot, name ?? "") !== undefined);
    }
    const estimators = choicesOf("verl", "0.9.1", "algorithm.adv_estimator") ?? [];
    for (const [preset, estimator] of Object.entries(estimatorsOfPresets)) {
      assert.ok(presetNamed(preset) !== undefined, preset);
      assert.ok(estimators.includes(estimator), estimator);
    }
  });

  it("leaves the functions that score, tasks and optimizers alone", () => {
    for (const [slot, name] of [
      ["reward", "length"],
      ["task", "countdown"],
      ["optimizer", "lion"],
    ] as const) {
      const method = methodOf(slot, name);
      assert.ok(method !== undefined && !isResearch(method), name);
    }
  });
});

describe("the order of completion", () => {
  it("what is shipped comes before research, and in each what is exact before what is approximate", () => {
    const presets = offers("extends: |\n").filter(({ label }) => presetNamed(label) !== undefined);
    assert.equal(presets.length, listPresets().length);
    const tiers = presets.map(({ label, research }) => {
      const exact = presetNamed(label)?.status === "exact";
      return (research ? 2 : 0) + (exact ? 0 : 1);
    });
    assert.deepEqual(tiers, tiers.toSorted());
    assert.equal(presets[0]?.label, "grpo");
    assert.ok(presets.every(({ detail, research }) => detail.startsWith("research · ") === research));
  });

  it("methods say whether they are research", () => {
    const losses = offers("objective: { use: | }\n");
    assert.equal(losses[0]?.label, "clipped");
    const [cispo, nft] = ["cispo", "nft"].map((name) => losses.find(({ label }) => label === name));
    assert.deepEqual([cispo?.detail, cispo?.research], ["", false]);
    assert.deepEqual([nft?.research, nft?.detail.split(", ")[0]], [true, "research"]);
    const first = losses.findIndex(({ research }) => research);
    assert.ok(first > 10 && losses.slice(first).every(({ research }) => research));
  });

  it("where the frameworks have no choice nothing is to be held back", () => {
    const samplers = offers("curriculum: { sampler: { use: | } }\n");
    assert.ok(samplers.some(({ label, detail }) => label === "boltzmann" && detail === "research"));
    assert.ok(samplers.every(({ research }) => !research));
  });
});
