/** The built-in tools: search by hand-computed scores, arithmetic, and a real server of the Model Context Protocol. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import type { z } from "zod";
import { UserError } from "../../../../shared/lib/errors.ts";
import type { JsonObject } from "../../../../shared/lib/json.ts";
import type { Tool } from "../../../../server/core/slots/tool.ts";
import { Bm25 } from "../../../../server/lib/texts/bm25.ts";
import { calculator } from "../../../../server/methods/tool/calculator.ts";
import { mcp } from "../../../../server/methods/tool/mcp.ts";
import { search } from "../../../../server/methods/tool/search.ts";
import { made, near, temporary } from "../../support.ts";

const call = (tool: Tool | undefined, args: JsonObject): Promise<string> =>
  tool!.call(args, { episode: "e" });

test("BM25 scores are those of the formula, and the order is stable", () => {
  const index = new Bm25(["the cat sat", "a cat and a Cat", "dogs"], { k1: 1.2, b: 0.75 });
  const [first, second, ...rest] = index.best("CAT, cat!", 9);
  // n(cat) = 2 of N = 3, lengths 3, 5 and 1: mean 3.
  const idf = Math.log(1 + 1.5 / 2.5);
  const score = (count: number, length: number): number =>
    (idf * count * 2.2) / (count + 1.2 * (0.25 + (0.75 * length) / 3));
  assert.deepEqual([first!.text, second!.text, rest], [1, 0, []]);
  assert.ok(near(first!.score, score(2, 5)) && near(second!.score, score(1, 3)));
  assert.deepEqual(
    new Bm25(["b", "b"], { k1: 1, b: 0 }).best("b", 9).map(({ text }) => text),
    [0, 1],
  );
});

test("search finds passages of texts, Markdown and JSONL in Search-R1's form, and says what it cannot read", async () => {
  const folder = temporary();
  mkdirSync(join(folder, "docs", "inner"), { recursive: true });
  writeFileSync(
    join(folder, "docs", "a.md"),
    `# Cheese\n\nCheese is made of milk.\n\n${"word ".repeat(60)}\n\nGouda is round.`,
  );
  writeFileSync(join(folder, "docs", "inner", "b.txt"), "Milk comes from cows.");
  writeFileSync(
    join(folder, "docs", "c.jsonl"),
    '{"id":"1","contents":"\\"Moon\\"\\nThe moon is no cheese."}\n\n{"title":"Sun","text":"Hot."}\n',
  );
  writeFileSync(join(folder, "docs", "d.png"), "cheese");
  const [tool] = await made(search, { folder: "docs", words: 50, top_k: 2 }, { folder }).open();
  assert.equal(await call(tool, { query: "sun" }), "Doc 1(Title: Sun) Hot.");
  assert.equal(
    await call(tool, { query: "cows" }),
    `Doc 1(Title: ${join("inner", "b.txt")}) Milk comes from cows.`,
  );
  assert.equal(await call(tool, { query: "gouda" }), "Doc 1(Title: Cheese) Gouda is round.");
  assert.match(
    await call(tool, { query: "cheese moon" }),
    /^Doc 1\(Title: Moon\) The moon is no cheese\.\nDoc 2\(Title: Cheese\) /,
  );
  assert.equal(await call(tool, { query: "zebra" }), "Nothing was found.");
  assert.match(await call(tool, { query: 3 }), /^Error: /);
  writeFileSync(join(folder, "docs", "c.jsonl"), '{"text":"fine"}\n{"words":1}\n');
  await assert.rejects(made(search, { folder: "docs" }, { folder }).open(), (error) => {
    assert.ok(
      error instanceof UserError && error.detail.line === 1 && error.detail.file?.endsWith("c.jsonl"),
    );
    return /no `text` or `contents`/.test(error.message);
  });
  await assert.rejects(made(search, { folder: "nowhere" }, { folder }).open(), /there is no such file/);
});

test("the calculator follows the usual precedence; a mistake is a text for the policy", async () => {
  const [tool] = await made(calculator, {}).open();
  for (const [expression, wanted] of [
    ["2+3*4", "14"],
    ["(2+3)*4", "20"],
    ["-2^2", "-4"],
    ["2**3^2", "512"],
    ["7 % 4 - 10/4", "0.5"],
    ["0.1+0.2", "0.3"],
    ["1,234.5 * 2", "2469"],
    ["sqrt(16) + max(1, 2, log(100))", "6"],
    ["1e3/.5", "2000"],
    ["1/0", "Error: it divides by zero."],
    ["2+", "Error: it ends too early."],
    ["2 3", 'Error: "3" is not expected there.'],
    ["process(1)", 'Error: "process" is not known.'],
    ["(1", "Error: a bracket is not closed."],
    ["$", 'Error: "$" is not understood.'],
    ["10^999", "Error: its value is not a finite number."],
    ["(".repeat(5000), "Error: it is nested too deep."],
  ] as const)
    assert.equal(await call(tool, { expression }), wanted, expression.slice(0, 40));
});

/** A server with the SDK of the repository, in a file of its own: Node finds the package from there. */
function server(): string {
  const folder = temporary();
  const file = join(folder, "server.mjs");
  const sdk = (path: string): string =>
    JSON.stringify(resolve("node_modules/@modelcontextprotocol/server/dist", path));
  writeFileSync(
    file,
    `import { McpServer } from ${sdk("index.mjs")};
import { serveStdio } from ${sdk("stdio.mjs")};
import { z } from ${JSON.stringify(resolve("node_modules/zod/index.js"))};
const make = () => {
  const server = new McpServer({ name: "test", version: "1" });
  server.registerTool("add", { description: "Adds.", inputSchema: z.object({ a: z.number(), b: z.number() }) },
    async ({ a, b }) => {
      if (a < 0) throw new Error("no negative numbers");
      if (a === 7) await new Promise(() => setTimeout(() => {}, 60000));
      return { content: [{ type: "text", text: String(a + b) }] };
    });
  server.registerTool("other", { description: "Other." }, async () => ({ content: [] }));
  return server;
};
serveStdio(make);
`,
  );
  return file;
}

test("the tools of an MCP server are called with their schemas; what it refuses is a text, what it never answers an error", async () => {
  const command = [process.execPath, server()];
  const tools = made(mcp, { command, only: ["add"], prefix: "my_", timeout: 5 });
  try {
    const [tool, ...rest] = await tools.open();
    assert.deepEqual([tool!.name, tool!.description, rest], ["my_add", "Adds.", []]);
    assert.deepEqual(tool!.parameters["required"], ["a", "b"]);
    assert.equal(await call(tool, { a: 2, b: 3 }), "5");
    assert.match(await call(tool, { a: -1, b: 3 }), /^Error: .*no negative numbers/);
    assert.match(await call(tool, { a: "two" }), /^Error: /);
    const stop = new AbortController();
    const hangs = tool!.call({ a: 7, b: 1 }, { episode: "e", signal: stop.signal });
    stop.abort(new Error("enough"));
    await assert.rejects(hangs);
    assert.equal(await call(tool, { a: 1, b: 1 }), "2");
  } finally {
    await tools.close?.();
  }
  const refusals: readonly [z.input<typeof mcp.params>, RegExp][] = [
    [{}, /needs a `command` or a `url`/],
    [{ command, only: ["sub"] }, /it has no tool `sub`; it has `add`, `other`/],
    [{ command: [process.execPath, "-e", ""] }, /the MCP server .*: /],
    [{ command: ["/nowhere/at/all"] }, /ENOENT/],
  ];
  for (const [params, wanted] of refusals) {
    const refused = made(mcp, params);
    await assert.rejects(refused.open(), wanted);
    await refused.close?.();
  }
});
