/** Calls of tools in what a policy writes, and their results. */
import { seen } from "../../../support/testEnvironment.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { RolloutRecordLog } from "../../../../shared/log/records.ts";
import { CharacterTokenizer } from "../../../../server/engine/tokenizers/characters.ts";
import { ofKind, testRun, type TestRun } from "../../../support/runFolder.ts";
import { callsIn, describeTools, stopsOf, written } from "../../../../server/core/toolCalls.ts";
import type { ToolSpec } from "../../../../server/core/slots/tool.ts";

const tokenizer = new CharacterTokenizer();
const search: ToolSpec = {
  name: "search",
  description: "Finds passages.",
  parameters: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
};
const add: ToolSpec = {
  name: "add",
  description: "Adds two numbers.",
  parameters: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
};
const playing = { seconds: 1, observation: "{text}", next: "append" } as const;

test("json: any number of calls in a turn, and what is malformed says why", () => {
  const text =
    'I think.<tool_call>\n{"name": "search", "arguments": {"query": "Rome"}}\n</tool_call> and <tool_call>{"name":"add","arguments":{"a":1,"b":2}}</tool_call>';
  assert.deepEqual(callsIn(text, "json", [search, add]), [
    { kind: "call", name: "search", args: { query: "Rome" } },
    { kind: "call", name: "add", args: { a: 1, b: 2 } },
  ]);
  const problems = [
    ["<tool_call>{nope}</tool_call>", /no JSON/],
    ['<tool_call>{"arguments": {}}</tool_call>', /no `name`/],
    ['<tool_call>{"name": "add", "arguments": [1]}</tool_call>', /must be an object/],
    ['<tool_call>{"name": "add"', /does not end with <\/tool_call>/],
  ] as const;
  for (const [said, problem] of problems) {
    const [call, ...others] = callsIn(said, "json", [add]);
    assert.equal(others.length, 0);
    assert.match(call?.kind === "malformed" ? call.problem : "", problem);
  }
  assert.deepEqual(callsIn("no call", "json", [add]), []);
  assert.deepEqual(callsIn(text, "json", []), [], "without tools a text is a text");
});

test("tags: a tag a tool, with its one argument", () => {
  assert.deepEqual(callsIn("Hm. <search> who built Rome? </search>", "tags", [search]), [
    { kind: "call", name: "search", args: { query: "who built Rome?" } },
  ]);
  const [open] = callsIn("<search>who", "tags", [search]);
  assert.match(open?.kind === "malformed" ? open.problem : "", /<\/search>/);
  assert.deepEqual(callsIn("<other>x</other>", "tags", [search]), []);
  assert.deepEqual(stopsOf("tags", [search]), ["</search>"]);
  assert.deepEqual(stopsOf("json", [search]), []);
});

test("results are wrapped as the config says, else as the format does", () => {
  assert.equal(
    written({ ...playing, calls: "tags" }, "search", "Romulus."),
    "\n\n<information>Romulus.</information>\n\n",
  );
  assert.equal(
    written({ ...playing, calls: "json" }, "add", "3"),
    "\n<tool_response>\n3\n</tool_response>\n",
  );
  assert.equal(written({ ...playing, calls: "json", result: "[{name}: {result}]" }, "add", "3"), "[add: 3]");
  assert.match(describeTools("json", [add]), /"name":"add"/);
  assert.match(describeTools("tags", [search]), /<search>query<\/search>: Finds passages\./);
});

const tools = [
  "model.context=400",
  "stages.warm-up.steps=2",
  "stages.practice.steps=2",
  "evaluation.every=99",
  "reward.terms.correct.attempts=episode",
];
const rolloutsOf = (run: TestRun): RolloutRecordLog[] =>
  ofKind(run.records(), "rollout").filter(({ step, row }) => step >= 2 && row.use === "train");

test("without an environment an episode ends with the first turn that calls nothing", async () => {
  const run = testRun([
    ...tools,
    "rollout.shape={ use: environment, turns: 2, calls: tags, result: '({name}:{result})' }",
    "rollout.tools=[{ use: echo, name: e }]",
    "rollout.grammar={ regex: '<e>[ab]</e>|[cd]' }",
    "rollout.max_tokens=9",
  ]);
  try {
    assert.equal(await run.work(), 0, run.ending());
    const rows = rolloutsOf(run);
    let [calls, cut] = [0, 0];
    for (const { row, columns } of rows) {
      const turns = row.turns!;
      assert.match(tokenizer.decode(columns.context!), /^You may use tools: .*<e>text<\/e>: Says/s);
      assert.match(row.prompt!, /^..>$/, "the prompt itself says nothing of tools");
      turns.forEach(({ role, name, text = "", start, end }, i) => {
        if (i % 2 === 0) return assert.match(text, i + 1 < turns.length ? /^<e>[ab]<\/e>$/ : /^/);
        assert.deepEqual([role, name], ["tool", "e"]);
        const said = `(e:heard ${/[ab](?=<)/.exec(turns[i - 1]!.text!)![0]})`;
        assert.equal(tokenizer.decode(columns.tokens!.subarray(start, end)), said);
        return assert.ok([...columns.mask!.subarray(start, end)].every((mask) => mask === 0));
      });
      const last = turns.at(-1)!.text!;
      // The second turn may call, but nothing answers any more.
      const unanswered = last.startsWith("<e>");
      if (unanswered) {
        assert.equal(turns.length, 3);
        assert.equal(row.finish, "length");
        cut += 1;
      }
      assert.equal(row.played!.calls, (turns.length - 1) / 2);
      assert.equal(row.played!.environment, false);
      calls += row.played!.calls;
    }
    assert.ok(calls > 4 && cut > 0 && rows.some(({ row }) => row.turns!.length === 1));
    const { values } = ofKind(run.records(), "metrics").at(-1)!;
    assert.ok(Number(values["tools/calls"]) > 0);
    assert.equal(values["tools/failed"], 0);
    assert.ok(seen.ended.length >= rows.length, "tools hear that an episode is over");
  } finally {
    run.remove();
  }
});

test("tools answer between the turns that an environment hears; a malformed call gets a text to read", async () => {
  const run = testRun([
    ...tools,
    "rollout.shape={ use: environment, turns: 4 }",
    "rollout.tools=[echo]",
    "tasks.0.play={ use: digits, turns: 2 }",
    "rollout.grammar={ regex: '<tool_call>\\{\\}</tool_call>|[cd]' }",
    "rollout.max_tokens=26",
  ]);
  try {
    assert.equal(await run.work(), 0, run.ending());
    const rows = rolloutsOf(run);
    const failed = rows.filter(({ row }) => row.played!.calls > 0);
    assert.ok(failed.length > 0);
    for (const { row } of failed) {
      assert.equal(row.played!.failed_calls, row.played!.calls);
      const answered = row.turns!.findIndex(({ role }) => role === "tool");
      if (answered > 0) assert.equal(row.turns![answered]!.text, "Error: The call has no `name`.");
    }
    for (const { row } of rows) {
      const heard = row.turns!.filter(({ role, text }) => role === "assistant" && /^[cd]/.test(text!));
      assert.equal(row.played!.components["turn"] ?? 0, heard.length, "the environment hears no call");
    }
    const { values } = ofKind(run.records(), "metrics").at(-1)!;
    assert.equal(values["tools/failed"], 1);
  } finally {
    run.remove();
  }
});
