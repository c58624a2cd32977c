/** Questions that can only be looked up, and a search engine that is played: how often it finds noise, and what noise is. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { z } from "zod";
import type { Tool, ToolContext } from "../../../../server/core/slots/tool.ts";
import { splitOf } from "../../../../server/core/split.ts";
import type { Task } from "../../../../server/core/task.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { Limited } from "../../../../server/lib/waiting/limited.ts";
import { facts } from "../../../../server/methods/tasks/pack/facts.ts";
import { search } from "../../../../server/methods/tool/search.ts";
import { simulatedSearch } from "../../../../server/methods/tool/simulatedSearch.ts";
import { chatServer } from "../../../support/chatServer.ts";
import { ofKind, testRun } from "../../../support/runFolder.ts";
import { made } from "../../support.ts";

const tasks = (hops: number, split: "train" | "evaluate", count = 30): Task[] => {
  const source = made(facts, { hops: [hops] });
  return Array.from({ length: count }, (_, i) => {
    const task = source.draw(split, String(hops), randomStream(3, "facts", hops, i));
    assert.ok(task !== null && splitOf(task.id) === split);
    return task;
  });
};
const chainOf = ({ data }: Task): string[] => (Array.isArray(data["chain"]) ? data["chain"].map(String) : []);

test("every answer is found by as many searches as the question has hops, and by no fewer", async () => {
  const [tool] = await made(search, { folder: "made:facts", top_k: 3 }).open();
  const find = (query: string): Promise<string> => tool!.call({ query }, { episode: "e" });
  for (const hops of [1, 2, 3])
    for (const task of [...tasks(hops, "train", 10), ...tasks(hops, "evaluate", 10)]) {
      const chain = chainOf(task);
      assert.equal(chain.length, hops + 1);
      assert.equal(chain.at(-1), task.answer);
      assert.ok(!task.prompt.includes(task.answer!));
      for (const [i, thing] of chain.slice(0, -1).entries()) {
        const first = (await find(thing)).split("\n").find((line) => line.includes(`(Title: ${thing})`));
        assert.ok(first?.includes(chain[i + 1]!), `${task.prompt}: ${thing} leads to ${chain[i + 1]}`);
      }
      // One search is not enough for two hops: the passages of the first thing's name do not tell its answer.
      const direct = (await find(chain[0]!))
        .split("\n")
        .filter((line) => line.includes(`(Title: ${chain[0]})`));
      assert.equal(
        direct.some((line) => line.includes(task.answer!)),
        hops === 1,
        task.prompt,
      );
    }
});

test("an episode ends with an answer; a turn that is neither gets the reminder", async () => {
  const environment = await made(facts, {}).play!.open();
  await environment.reset(tasks(1, "train", 1)[0]!, 0);
  assert.match((await environment.step("Hm.")).messages[0]!.text, /<search>a query<\/search>/);
  assert.equal((await environment.step("Hm.")).done, false);
  assert.deepEqual(await environment.step("So <answer>\nVela</answer>"), { messages: [], done: true });
});

const released = { schedule: "exponential", from: 0, to: 0.5, over: 200, base: 4 } as const;
type Input = z.input<(typeof simulatedSearch)["params"]>;
const toolOf = async (input: Input): Promise<Tool> => (await made(simulatedSearch, input).open())[0]!;

test("noise comes as often as ZeroSearch's formula says, and never holds the answer", async () => {
  const tool = await toolOf({ folder: "made:facts", noise: released });
  const [task] = tasks(1, "train", 1);
  const query = chainOf(task!)[0]!;
  const noisy = async (step: number, calls: number): Promise<number> => {
    let count = 0;
    for (let i = 0; i < calls; i++) {
      const clock = { step, stageStep: step };
      const context: ToolContext = {
        episode: "e",
        task: task!,
        clock,
        random: randomStream("noise", step, i),
      };
      const said = await tool.call({ query }, context);
      assert.equal(said, await tool.call({ query }, { ...context, random: randomStream("noise", step, i) }));
      if (!said.includes(task!.answer!)) count += 1;
    }
    return count / calls;
  };
  // (4ᵗ − 1)/3 · ½ at t = 0, ½ and 1: 0, 1/6 and ½.
  for (const [step, expected] of [
    [0, 0],
    [100, 1 / 6],
    [200, 0.5],
    [999, 0.5],
  ] as const)
    assert.ok(Math.abs((await noisy(step, 2000)) - expected) < 0.03, `step ${step}`);
  assert.match(await tool.call({ query }, { episode: "e", task: task! }), new RegExp(task!.answer!));
});

test("noisy passages are the best of those without the answer as a word", async () => {
  const always = await toolOf({ folder: "made:facts", noise: 1, top_k: 2 });
  const [task] = tasks(1, "train", 1);
  const [from = "", answer = ""] = chainOf(task!);
  const context = (): ToolContext => ({
    episode: "e",
    task: task!,
    clock: { step: 0, stageStep: 0 },
    random: randomStream("one"),
  });
  const said = await always.call({ query: `mayor land born ${from}` }, context());
  assert.equal(said.split("\n").length, 2);
  assert.ok(!said.includes(answer) && /^Doc 1\(Title: /.test(said), said);
  assert.match(await always.call({ query: " " }, context()), /^Error: /);
  await assert.rejects(toolOf({}), /there is nothing to search/);
});

test("a served model that plays the engine reads the question, its answer and what is wanted", async () => {
  const asked: string[] = [];
  const server = await chatServer((text) => {
    asked.push(text);
    return "Doc 1: one.\n\nDoc 2: two.\nDoc 3: three.";
  });
  try {
    const engine = { url: server.url, model: "any", parallel: 1 };
    const [task] = tasks(2, "train", 1);
    for (const noise of [0, 1]) {
      const tool = await toolOf({ engine, top_k: 2, noise });
      const said = await tool.call(
        { query: "who?" },
        { episode: "e", task: task!, clock: { step: 0, stageStep: 0 }, random: randomStream("engine") },
      );
      assert.equal(said, "Doc 1: one.\nDoc 2: two.", "what comes after the documents is left out");
    }
    const [useful = "", noisy = ""] = asked;
    for (const text of [useful, noisy]) {
      assert.ok(text.includes(String(task!.data["question"])) && text.includes(task!.answer!));
      assert.match(text, /the 2 documents .*\n\nQuery: who\?\n/s);
    }
    assert.match(useful, /must help/);
    assert.match(noisy, /must be of no help/);
  } finally {
    await server.close();
  }
  const gone = await toolOf({ engine: { url: "http://127.0.0.1:1/v1", model: "any" } });
  await assert.rejects(gone.call({ query: "x" }, { episode: "e" }), /The simulated search engine/);
});

test("only so many go on at once, in the order in which they came", async () => {
  const limited = new Limited(2);
  const started: number[] = [];
  const ends: (() => void)[] = [];
  const all = [0, 1, 2, 3].map((i) =>
    limited.run(() => {
      started.push(i);
      return new Promise<number>((resolve, reject) => {
        ends.push(() => (i === 1 ? reject(new Error("one")) : resolve(i)));
      });
    }),
  );
  await Promise.resolve();
  assert.deepEqual(started, [0, 1]);
  const failed = assert.rejects(all[1]!, /one/);
  ends[1]!();
  await failed;
  assert.deepEqual(started, [0, 1, 2], "a failure makes room too");
  ends[0]!();
  await all[0];
  ends[2]!();
  ends[3]!();
  assert.deepEqual(await Promise.all([all[0], all[2], all[3]]), [0, 2, 3]);
});

test("in a run: results are observed, noise comes in training alone, and both are the same again", async () => {
  const texts: string[][] = [];
  for (const attempt of [0, 1]) {
    const run = testRun([
      "model.context=600",
      "tasks=[{ name: q, env: facts, hops: [1], prompt: '{question}' }]",
      "stages=[{ name: rl, steps: 1 }]",
      "evaluation.prompts=1",
      "reward={ terms: { right: { use: text_overlap, metric: f1, tag: answer } } }",
      "rollout.shape={ use: environment, turns: 3, calls: tags }",
      "rollout.tools=[{ use: simulated_search, folder: made:facts, top_k: 2, noise: 0.5 }]",
      "rollout.grammar={ regex: '<search>(mayor|born)</search>|<answer>[a-z]</answer>' }",
      "rollout.max_tokens=24",
      "rollout.prompts=3",
      "rollout.group=4",
    ]);
    try {
      assert.equal(await run.work(), 0, run.ending());
      const rows = ofKind(run.records(), "rollout").filter(({ row }) => row.use === "train");
      const results = rows.flatMap(({ row, columns }) =>
        row.turns!.flatMap(({ role, text = "", start, end }) => {
          if (role !== "tool") return [];
          assert.ok([...columns.mask!.subarray(start, end)].every((mask) => mask === 0));
          return [text];
        }),
      );
      texts[attempt] = results;
    } finally {
      run.remove();
    }
  }
  assert.ok(texts[0]!.length > 3 && new Set(texts[0]).size > 1);
  assert.deepEqual(texts[0], texts[1]);
});
