/** Tools in files of the user's. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Tool, Tools } from "../../../../server/core/slots/tool.ts";
import { python } from "../../../../server/methods/tool/python.ts";
import { user } from "../../../../server/methods/tool/user.ts";
import { objectHost } from "../../../support/objectHost.ts";
import { withoutPython } from "../../../support/pythonReward.ts";
import { made, temporary } from "../../support.ts";

await objectHost();

async function using(tools: Tools, work: (tool: Tool) => Promise<void>): Promise<void> {
  try {
    const [tool] = await tools.open();
    await work(tool!);
  } finally {
    await tools.close?.();
  }
}

function written(name: string, text: string): string {
  const folder = temporary();
  writeFileSync(join(folder, name), text);
  return folder;
}

test("a tool in TypeScript: its spec, its results, its errors, and an episode that keeps its state", async () => {
  const folder = written(
    "notes.ts",
    `const kept = new Map<string, number>();
export default {
  description: "Counts.",
  parameters: { type: "object", properties: { by: { type: "number" } }, required: ["by"] },
  call({ by }: { by: number }, { episode }: { episode: string }) {
    if (by === 0) throw new Error("by nothing");
    if (by < 0) for (;;);
    kept.set(episode, (kept.get(episode) ?? 0) + by);
    return by === 7 ? { seven: true } : \`\${kept.get(episode)}\`;
  },
};
`,
  );
  await using(made(user, { file: "notes.ts", timeout: 1, processes: 2 }, { folder }), async (tool) => {
    assert.deepEqual(
      [tool.name, tool.description, Object.keys(tool.parameters)],
      ["notes", "Counts.", ["type", "properties", "required"]],
    );
    const by = (count: number, episode: string): Promise<string> => tool.call({ by: count }, { episode });
    assert.deepEqual(await Promise.all([by(1, "a"), by(10, "b"), by(2, "a"), by(20, "b")]), [
      "1",
      "10",
      "3",
      "30",
    ]);
    assert.equal(await by(7, "a"), '{"seven":true}');
    await assert.rejects(by(0, "a"), /notes\.ts:default: call: threw Error: by nothing \(.*notes\.ts:6/);
    const [hangs, other] = [by(-1, "a"), by(1, "b")];
    await assert.rejects(hangs, /timeout after 1 s/);
    assert.equal(await other, "31");
    assert.equal(await by(1, "a"), "1");
  });
});

test(
  "a tool in Python is described by its docstring and hints; wrong arguments are texts for the policy",
  { skip: withoutPython },
  async () => {
    const folder = written(
      "tools.py",
      `from typing import Literal, Optional

async def look_up(word: str, limit: int = 3, kind: Literal["noun", "verb"] = "noun", tags: Optional[list[str]] = None) -> list:
    """Looks a word up.

    Args:
        word: The word.
        tags (list): Kinds of entries.
    """
    if word == "":
        raise ValueError("no word")
    return [word, limit, kind, tags]
`,
    );
    await using(
      made(python, { file: "tools.py", export: "look_up", timeout: 20 }, { folder }),
      async (tool) => {
        assert.deepEqual(
          { ...tool, call: 0 },
          {
            call: 0,
            name: "look_up",
            description: "Looks a word up.",
            parameters: {
              type: "object",
              properties: {
                word: { type: "string", description: "The word." },
                limit: { type: "integer" },
                kind: { type: "string", enum: ["noun", "verb"] },
                tags: {
                  type: "array",
                  items: { type: "string" },
                  nullable: true,
                  description: "Kinds of entries.",
                },
              },
              required: ["word"],
            },
          },
        );
        const episode = "e";
        assert.equal(await tool.call({ word: "a", limit: 1 }, { episode }), "['a', 1, 'noun', None]");
        assert.equal(await tool.call({ limit: 1 }, { episode }), "Error: the argument `word` is missing.");
        assert.equal(
          await tool.call({ word: "a", words: 1 }, { episode }),
          "Error: the argument `words` is unknown.",
        );
        await assert.rejects(
          tool.call({ word: "" }, { episode }),
          /threw ValueError: no word \(tools\.py:11\)/,
        );
      },
    );
  },
);

test("a tool in TypeScript reads what its episode is about", async () => {
  const folder = written(
    "row.ts",
    'export default { description: "", parameters: {}, call: (_, { task }) => `${task?.data.hidden}` };\n',
  );
  await using(made(user, { file: "row.ts" }, { folder }), async (tool) => {
    const about = { id: "a", source: "s", env: "e", prompt: "p", data: { hidden: 7 } };
    assert.equal(await tool.call({}, { episode: "a", task: about }), "7");
    assert.equal(await tool.call({}, { episode: "b" }), "undefined");
  });
});
