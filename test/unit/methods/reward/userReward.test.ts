import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { build } from "esbuild";
import { UserError } from "../../../../shared/lib/errors.ts";
import type { RewardContext, RewardTerm } from "../../../../server/core/reward.ts";
import { user } from "../../../../server/methods/reward/own/user.ts";
import { batchOf, made, temporary } from "../../support.ts";

before(async () => {
  const folder = temporary();
  await build({
    entryPoints: ["server/methods/reward/own/host.ts"],
    outfile: join(folder, "rewardHost.mjs"),
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "error",
  });
  process.env["GRADUS_REWARD_HOST"] = join(folder, "rewardHost.mjs");
});

const context: RewardContext = {
  clock: { step: 12, stageStep: 0 },
  models: { names: [], get: () => assert.fail(), perceptron: () => assert.fail() },
  tokenizer: { size: 0, eos: 0, pad: 0, encode: () => assert.fail(), decode: () => assert.fail() },
};
const rows = (...responses: string[]) =>
  batchOf(
    responses.map((response, index) => ({
      step: 12,
      group: "g",
      index,
      prompt: "p",
      response,
      tokens: [1, 2],
      task: { env: "countdown", id: "t", data: { target: 5 } },
    })),
  );

/** A term whose source is given; closed when the test ends. */
function term(
  source: string,
  more: { timeout?: number; export?: string; args?: Record<string, number> } = {},
  folder = temporary(),
): RewardTerm & { readonly file: string } {
  const file = join(folder, "reward.ts");
  writeFileSync(file, source);
  return Object.assign(
    made(user, { file: "./reward.ts", timeout: 5, ...more }, { folder, name: "brevity" }),
    { file },
  );
}
async function using<T>(reward: RewardTerm, run: (reward: RewardTerm) => Promise<T>): Promise<T> {
  try {
    return await run(reward);
  } finally {
    await reward.close?.();
  }
}
const told = (source: string, more: Parameters<typeof term>[1], ...responses: string[]) =>
  using(term(source, more), async (reward) =>
    (await reward.score(rows(...responses), context)).map((value) =>
      value.kind === "value" ? value.value : value.kind === "error" ? value.message : value.kind,
    ),
  );

test("a reward gets the rollout and the task, may be asynchronous, may import, and prints without harm", async () => {
  const folder = temporary();
  mkdirSync(join(folder, "lib"));
  writeFileSync(join(folder, "lib/half.ts"), "export const half = (x: number): number => x / 2;");
  const source = `import { half } from "./lib/half.ts";
    import { basename } from "node:path";
    export async function score({ prompt, response, task, index, length, step, args, finish, group }) {
      console.log("noise on stdout"); process.stdout.write("{}\\n");
      await new Promise((resolve) => setTimeout(resolve, 1));
      if (prompt !== "p" || task.id !== "t" || task.env !== "countdown" || finish !== "stop" || group !== "g" || step !== 12 || basename("/a/b") !== "b") throw new Error("wrong input");
      return half(response.length) + 10 * index + 100 * length + 1000 * task.data.target + 10_000 * args.bonus;
    }`;
  await using(term(source, { args: { bonus: 2 } }, folder), async (reward) => {
    assert.deepEqual(await reward.score(rows("ab", "abcd"), context), [
      { kind: "value", value: 25_201 },
      { kind: "value", value: 25_212 },
    ]);
  });
});

test("null is not applicable; values may be at token level; another export can be named", async () => {
  await using(
    term(
      "export const other = ({ response }) => (response === '' ? null : { level: 'token', values: [1, 2] });",
      { export: "other" },
    ),
    async (reward) => {
      assert.deepEqual(await reward.score(rows("", "x"), context), [
        { kind: "none" },
        { kind: "values", level: "token", values: [1, 2] },
      ]);
    },
  );
});

test("what is thrown or wrongly returned is an error that names the file and shows what came, never 0", async () => {
  const results = await told(
    `export function score({ response }) {
      switch (response) {
        case "throw": throw new RangeError("too short");
        case "nan": return NaN;
        case "infinite": return -Infinity;
        case "nothing": return;
        case "text": return "1";
        case "boolean": return true;
        case "object": return { score: 1 };
        case "level": return { level: "word", values: [1] };
        case "values": return { level: "token", values: [1, NaN] };
        default: return 1;
      }
    }`,
    {},
    "ok",
    "throw",
    "nan",
    "infinite",
    "nothing",
    "text",
    "boolean",
    "object",
    "level",
    "values",
    "ok",
  );
  const expected = [
    /^1$/,
    /reward\.ts:score: threw RangeError: too short \(at .*reward\.ts:3/,
    /returned NaN/,
    /returned -Infinity/,
    /returned nothing/,
    /the string "1"/,
    /boolean true/,
    /the object \{"score":1\}/,
    /the level "word"/,
    /number NaN as value 1/,
    /^1$/,
  ];
  results.forEach((result, i) => assert.match(String(result), expected[i]!));
});

test("a hang is killed, tried once more, and is then an error; the rest are still scored", async () => {
  const results = await told(
    `export function score({ response }) { while (response === "hang") {} return response.length; }`,
    { timeout: 0.4 },
    "a",
    "hang",
    "abc",
  );
  assert.equal(results[0], 1);
  assert.match(String(results[1]), /timeout after 0.4 s, twice/);
  assert.equal(results[2], 3);
});

test("a promise that never settles is a time-out too", async () => {
  assert.match(
    String((await told("export const score = () => new Promise(() => {});", { timeout: 0.2 }, "a"))[0]),
    /timeout after 0.2 s, twice/,
  );
});

test("a reward that ends its process once is tried again; one that always does is an error", async () => {
  const marker = join(temporary(), "marker");
  const once = `import { existsSync, writeFileSync } from "node:fs";
    export function score() { if (!existsSync(${JSON.stringify(marker)})) { writeFileSync(${JSON.stringify(marker)}, ""); process.exit(3); } return 7; }`;
  assert.deepEqual(await told(once, {}, "a"), [7]);
  assert.match(
    String((await told("export const score = () => process.exit(3);", {}, "a"))[0]),
    /exit code 3, twice/,
  );
});

const refused = async (
  reward: RewardTerm & { readonly file: string },
  message: RegExp,
  line?: number,
): Promise<void> => {
  await using(reward, () =>
    assert.rejects(
      async () => reward.prepare?.(),
      (error) => {
        assert.ok(error instanceof UserError, String(error));
        assert.match(error.message, message);
        assert.equal(error.detail.file, reward.file);
        assert.equal(error.detail.line, line);
        assert.ok(error.detail.action !== undefined);
        return true;
      },
    ),
  );
};

test("a file that can't be loaded refuses the start: syntax, export, throwing at the top, missing", async () => {
  await refused(
    term("export const a = 1;\nexport function score( { return 1; }"),
    /reward term "brevity": /,
    1,
  );
  await refused(term("export const points = () => 1;"), /no export "score" \(it exports points\)/);
  await refused(term("export const score = 5;"), /is number 5, not a function/);
  await refused(
    term("throw new Error('at the top'); export const score = () => 1;"),
    /threw Error: at the top/,
  );
  const folder = temporary();
  await refused(
    Object.assign(made(user, { file: "./none.ts" }, { folder, name: "brevity" }), {
      file: join(folder, "none.ts"),
    }),
    /there is no file/,
  );
});

test("equal code has an equal hash wherever it lies, other code another", async () => {
  const hash = (source: string): Promise<string | undefined> =>
    using(term(source), async (reward) => (await reward.prepare?.())?.bundle);
  const [a, b, c] = [
    await hash("export const score = () => 1;"),
    await hash("export const score = () => 1;"),
    await hash("export const score = () => 2;"),
  ];
  assert.match(a ?? "", /^[0-9a-f]{64}$/);
  assert.equal(a, b);
  assert.notEqual(a, c);
});

test("batches asked for at once are scored one after the other", async () => {
  await using(term("export const score = ({ response }) => Number(response);"), async (reward) => {
    const batches = await Promise.all(
      [rows("1", "2"), rows("3"), rows("4", "5")].map((batch) => reward.score(batch, context)),
    );
    assert.deepEqual(
      batches.map((values) => values.map((value) => (value.kind === "value" ? value.value : value.kind))),
      [[1, 2], [3], [4, 5]],
    );
  });
});

test("closing ends the process, and an aborted batch ends it too", async () => {
  const reward = term(
    "export const score = ({ response }) => (response === 'wait' ? new Promise(() => {}) : process.pid);",
  );
  const [value] = await reward.score(rows("a"), context);
  assert.ok(value?.kind === "value");
  assert.equal(spawnSync("kill", ["-0", String(value.value)]).status, 0);
  const abort = new AbortController();
  const pending = reward.score(rows("wait"), { ...context, signal: abort.signal });
  abort.abort();
  await assert.rejects(pending, /abort/i);
  await reward.close?.();
  assert.notEqual(spawnSync("kill", ["-0", String(value.value)]).status, 0);
});

test("spans of a response come with a value, with values and with none; what is no span is an error", async () => {
  const source = `export const score = ({ response, turns }) => ({
    one: { value: 0.5, spans: { error: [[1, 3]], executed: [] } },
    each: { level: "token", values: [1, 2], spans: { executed: [[0, 2], [3, 4]] } },
    none: { value: null, spans: { error: [[0, 4]] } },
    far: { value: 1, spans: { error: [[0, 9]] } },
    back: { value: 1, spans: { error: [[2, 1]] } },
    flat: { value: 1, spans: { error: [1, 3] } },
    list: { value: 1, spans: [[1, 3]] },
    text: { value: "1", spans: {} },
  })[response];`;
  await using(term(source), async (reward) => {
    assert.deepEqual(await reward.score(rows("one", "each", "none"), context), [
      { kind: "value", value: 0.5, spans: { error: [[1, 3]], executed: [] } },
      {
        kind: "values",
        level: "token",
        values: [1, 2],
        spans: {
          executed: [
            [0, 2],
            [3, 4],
          ],
        },
      },
      { kind: "none", spans: { error: [[0, 4]] } },
    ]);
  });
  const wrong = await told(source, {}, "far", "back", "flat", "list", "text");
  assert.match(
    String(wrong[0]),
    /\[0,9\] in `spans.error`: a span is \[from, to\], characters of the response, which has 3/,
  );
  assert.match(String(wrong[1]), /\[2,1\]/);
  assert.match(String(wrong[2]), /number 1 in `spans.error`/);
  assert.match(String(wrong[3]), /must be \{ name: \[\[from, to\], …\] \}/);
  assert.match(String(wrong[4]), /the string "1"; it must return a number/);
});

test("the turns of a conversation are passed as texts, and each may be scored", async () => {
  const conversation = batchOf([
    {
      step: 0,
      group: "g",
      index: 0,
      prompt: "p",
      response: "abc",
      tokens: [1, 2, 3],
      turns: [
        { role: "assistant", start: 0, end: 1 },
        { role: "user", start: 1, end: 3 },
      ],
    },
  ]);
  const tokenizer = {
    ...context.tokenizer,
    decode: (tokens: ArrayLike<number>) => Array.from(tokens).join("-"),
  };
  const source = `export const score = ({ turns }) =>
    ({ level: "turn", values: turns.map(({ role, text }) => text.length + (role === "user" ? 10 : 0)) });`;
  await using(term(source), async (reward) =>
    assert.deepEqual(await reward.score(conversation, { ...context, tokenizer }), [
      { kind: "values", level: "turn", values: [1, 13] },
    ]),
  );
});

test("a reward reports what it made of each criterion; what it reports wrongly is an error", async () => {
  const source = `export const score = ({ response }) => ({
    good: { value: 0.5, criteria: { polite: true, short: 0.25, "names a source": { met: false, points: 2, veto: true }, odd: null } },
    none: { value: null, criteria: {} },
    each: { level: "token", values: [1, 2], criteria: { polite: { met: 1, points: -1 } } },
    high: { value: 1, criteria: { polite: 2 } },
    text: { value: 1, criteria: { polite: "yes" } },
    points: { value: 1, criteria: { polite: { met: 1, points: "2" } } },
    veto: { value: 1, criteria: { polite: { met: 1, veto: 1 } } },
    list: { value: 1, criteria: [1] },
  })[response];`;
  await using(term(source), async (reward) => {
    const [good, none, each] = await reward.score(rows("good", "none", "each"), context);
    assert.deepEqual(good, {
      kind: "value",
      value: 0.5,
      criteria: [
        { text: "polite", points: 1, met: 1 },
        { text: "short", points: 1, met: 0.25 },
        { text: "names a source", points: 2, veto: true, met: 0 },
        { text: "odd", points: 1, met: null },
      ],
    });
    assert.deepEqual(none, { kind: "none", criteria: [] });
    assert.deepEqual(each?.criteria, [{ text: "polite", points: -1, met: 1 }]);
  });
  const wrong = await told(source, {}, "high", "text", "points", "veto", "list");
  assert.match(
    String(wrong[0]),
    /number 2 in `criteria\["polite"\]`: whether it is met is true, false, a number/,
  );
  assert.match(String(wrong[1]), /the string "yes" in `criteria/);
  assert.match(String(wrong[2]), /the string "2" as points/);
  assert.match(String(wrong[3]), /number 1 as veto/);
  assert.match(String(wrong[4]), /the list \[1\] as `criteria`/);
});
