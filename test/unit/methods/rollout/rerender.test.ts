/** Episodes whose conversation the chat template writes again before each turn, with a model that chats. */
import { seen } from "../../../support/testEnvironment.ts";
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { RolloutRecordLog } from "../../../../shared/log/records.ts";
import { readHeader } from "../../../../server/engine/formats/gguf/header.ts";
import { readGgufHead } from "../../../../server/engine/formats/gguf/index.ts";
import { tokenizerOf } from "../../../../server/engine/formats/gguf/tokenizer.ts";
import { writeHuggingFace } from "../../../../server/engine/formats/index.ts";
import { initialWeights } from "../../../support/initialWeights.ts";
import { essence, ofKind, testRun, type TestRun } from "../../../support/runFolder.ts";
import { inLong } from "../../../support/thorough.ts";

/** Like Qwen3's: the thoughts of turns before the user's last message are left out. */
const forgetful = `
{%- for message in messages %}
{%- set content = message.content %}
{%- if message.role == 'assistant' and '</think>' in content %}
{%- set content = content.split('</think>')[-1] %}
{%- endif %}
{{- '<' + message.role + '>' + content + '</s>' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<assistant>' }}{% endif %}`;

const folder = mkdtempSync(join(tmpdir(), "gradus-rerender-"));
const file = join(folder, "chat.gradus.yaml");
const tokenizer = tokenizerOf(readHeader("test/fixtures/tokenizers/smollm.gguf"));
before(() => {
  const { shape } = readGgufHead("test/fixtures/gguf/llama.gguf");
  const sized = { ...shape, vocabulary: tokenizer.size, context: 400 };
  const model = join(folder, "model");
  writeHuggingFace(model, { shape: sized, weights: initialWeights(sized, 1), tokenizer });
  writeFileSync(join(model, "chat_template.jinja"), forgetful);
  writeFileSync(
    file,
    `model: { base: ./model }
tasks: [{ env: reverse_text, lengths: [2], play: { use: digits, turns: 3 } }]
rollout:
  prompts: 2
  group: 4
  max_tokens: 40
  shape: { use: environment, turns: 4, next: rerender }
  grammar: { regex: "<think>[ab]</think>[cdEF]" }
reward: { terms: { environment: environment } }
advantage: { baseline: leave_one_out, scale: none }
update: { optimizer: { use: adamw, lr: 1.0e-3 } }
stages: [{ name: practice, steps: 1 }]
evaluation: { every: 99, prompts: 2, samples: 1, pass_at: [1] }
`,
  );
});
after(() => rmSync(folder, { recursive: true, force: true }));

async function finished(...set: readonly string[]): Promise<TestRun> {
  const run = testRun(set, file);
  assert.equal(await run.work(), 0, run.ending());
  return run;
}
const rolloutsOf = (run: TestRun, use = "train"): RolloutRecordLog[] =>
  ofKind(run.records(), "rollout").filter(({ row }) => row.use === use);
const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

test("what the template drops makes rows of an episode, which share its advantage and count once", async () => {
  const run = await finished();
  try {
    const rows = rolloutsOf(run);
    assert.equal(rows.length, 2 * 4 * 3);
    const groups = new Map<string, RolloutRecordLog[][]>();
    for (const one of rows) {
      const own = groups.get(one.row.group) ?? [];
      groups.set(one.row.group, own);
      (own[one.row.index] ??= []).push(one);
    }
    for (const episodes of groups.values()) {
      assert.equal(episodes.length, 4);
      const totals = episodes.map((parts) =>
        sum(parts.flatMap(({ row }) => row.turns!.map(({ reward = 0 }) => reward))),
      );
      episodes.forEach((parts, i) => {
        assert.deepEqual(
          parts.map(({ row }) => row.part),
          [1, 2, 3].map((number) => ({ number, of: 3 })),
        );
        const others = sum(totals.filter((_, other) => other !== i)) / 3;
        parts.forEach(({ row, columns }, at) => {
          const context = tokenizer.decode(columns.context!);
          const said = parts
            .slice(0, at)
            .map(({ row: { turns } }) => turns![0]!.text!.replace(/.*<\/think>/, ""));
          for (const answer of said) assert.ok(context.includes(answer), `${context} has ${answer}`);
          assert.ok(!context.includes("<think>"), "no thought of an earlier turn is read");
          assert.match(tokenizer.decode(columns.tokens!), /^<think>[ab]<\/think>[cdEF]/);
          assert.ok(
            columns.logp_old!.every((value) => value < 0) && columns.mask!.every((mask) => mask === 1),
          );
          assert.equal(row.reward === null, at < 2, "the last row is scored");
          if (at === 2) assert.ok(Math.abs(Number(row.reward) - totals[i]!) < 1e-12);
          assert.ok(
            Math.abs(Number(row.advantage) - (totals[i]! - others)) < 1e-9,
            "rows share an advantage",
          );
        });
      });
    }
    assert.deepEqual(
      ofKind(run.records(), "group").map(({ size }) => size),
      [4, 4],
    );
    const { values } = ofKind(run.records(), "metrics").at(-1)!;
    assert.equal(values["episode/rows"], 3);
    assert.equal(values["episode/turns"], 3);
    assert.ok(Number(values["episode/rewritten"]) > 0);
    assert.equal(values["rollout/scored"], 8);
    assert.ok(
      rolloutsOf(run, "evaluate").every(({ row }) => row.part === undefined || row.part.number === 3),
    );
    assert.equal(seen.open, 0);
  } finally {
    run.remove();
  }
});

test("where the template keeps what was said, an episode is one row, token for token that of `append`", async () => {
  // The template ends turns with `</s>`: another end token would be written otherwise.
  const same = ["rollout.grammar={ regex: '[cdEF]' }", "rollout.logit_bias={ 4: -50 }"];
  const [again, appended] = [await finished(...same), await finished(...same, "rollout.shape.next=append")];
  try {
    const tokens = (run: TestRun): unknown[] =>
      rolloutsOf(run).map(({ columns }) => [[...columns.context!], [...columns.tokens!]]);
    assert.deepEqual(tokens(again), tokens(appended));
    assert.equal(rolloutsOf(again).length, 8);
  } finally {
    again.remove();
    appended.remove();
  }
});

inLong(
  "replay draws the rows of an episode together, with the advantage that they trained with",
  async () => {
    const run = await finished(
      "stages=[{ name: practice, steps: 4 }]",
      "replay={ use: window, capacity: 48, share: 0.5 }",
      "checkpoint={ every: 1, keep: 9 }",
    );
    try {
      const said = new Set(
        rolloutsOf(run)
          .filter(({ row }) => row.source === "self")
          .map(({ columns }) => columns.tokens!.join()),
      );
      const drawn = rolloutsOf(run).filter(({ row }) => row.source === "replay");
      assert.ok(drawn.length > 0);
      const episodes = new Map<string, RolloutRecordLog["row"][]>();
      for (const { step, row, columns } of drawn) {
        const key = `${step} ${row.group} ${row.index}`;
        episodes.set(key, [...(episodes.get(key) ?? []), row]);
        assert.ok(said.has(columns.tokens!.join()));
      }
      for (const rows of episodes.values()) {
        assert.deepEqual(
          rows.map(({ part }) => part?.number),
          [1, 2, 3],
        );
        assert.equal(new Set(rows.map(({ advantage }) => advantage)).size, 1);
        assert.equal(typeof rows[0]!.advantage, "number");
      }
      const whole = run.records();
      for (const step of [2, 3]) rmSync(join(run.folder, "checkpoints", String(step)), { recursive: true });
      assert.equal(await run.work(1), 0, run.ending(1));
      assert.deepEqual(essence(run.records(1), 2), essence(whole, 2));
    } finally {
      run.remove();
    }
  },
);

test("an episode that goes on from its middle is read as the template writes it so far, also after a resume", async () => {
  const run = await finished(
    "stages=[{ name: practice, steps: 5 }]",
    "curriculum.start={ use: mid_episode, share: 0.6 }",
    "checkpoint={ every: 1, keep: 9 }",
  );
  try {
    const begun = rolloutsOf(run).filter(({ row }) => row.help !== undefined);
    const firsts = begun.filter(({ row }) => (row.part?.number ?? 1) === 1);
    assert.ok(firsts.length > 0);
    for (const { row, columns } of begun) {
      assert.equal(row.failed, undefined);
      assert.ok(!tokenizer.decode(columns.context!).includes("<think>"));
      assert.equal(row.help!.given, 0);
    }
    for (const { row, columns } of firsts) {
      // What was said before: `text` is what the episode had come to.
      const context = tokenizer.decode(columns.context!);
      const before = [...row.help!.text!.matchAll(/<\/think>(.)/g)].map(([, answer]) => answer!);
      assert.ok(before.length > 0);
      assert.deepEqual(
        [...context.matchAll(/<assistant>([cdEF])/g)].map(([, answer]) => answer),
        before,
      );
      assert.equal(before.length + (row.part?.of ?? 1), 3, "it has the turns that were left");
    }
    const lasts = begun.filter(({ row }) => (row.part?.number ?? 1) === (row.part?.of ?? 1));
    for (const { row } of lasts) {
      const said = row.turns!.reduce((all, { reward = 0 }) => all + reward, Number(row.played!["earlier"]));
      assert.ok(Math.abs(Number(row.reward) - said) < 1e-12, "the turns before count");
    }
    const whole = run.records();
    for (const step of [3, 4]) rmSync(join(run.folder, "checkpoints", String(step)), { recursive: true });
    assert.equal(await run.work(1), 0, run.ending(1));
    assert.deepEqual(essence(run.records(1), 3), essence(whole, 3));
  } finally {
    run.remove();
  }
});
