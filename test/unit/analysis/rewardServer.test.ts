/** A config's reward as a server in OpenRLHF's protocol. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { AnswerScorer } from "../../../server/analysis/rewardChecks/answers.ts";
import { responseIn } from "../../../server/analysis/rewardServer/requests.ts";
import { serveReward, type RewardServerOptions } from "../../../server/analysis/rewardServer/server.ts";
import { remoteRm } from "../../../server/methods/reward/remote/remoteRm.ts";
import { rewardHost } from "../../support/rewardHost.ts";
import { rowOf, saidBy } from "../methods/reward/support.ts";
import { configOf, made, temporary } from "../support.ts";

await rewardHost();

const data = [
  { question: "What is 2+2?", answer: "4", rubric: [{ criterion: "says four", regex: "4" }] },
  { question: "What is 3+3?", answer: "6", rubric: [{ criterion: "says six", regex: "6" }] },
];

async function served<Result>(
  terms: string,
  use: (url: string) => Promise<Result>,
  options: Partial<RewardServerOptions> = {},
  folder = temporary(),
): Promise<Result> {
  writeFileSync(join(folder, "data.jsonl"), data.map((one) => JSON.stringify(one)).join("\n"));
  const config = configOf(
    `tasks: [{ dataset: data.jsonl, prompt: "{question}", answer: "{answer}" }]\nreward: { terms: ${terms} }\n`,
    folder,
  );
  const scorer = new AnswerScorer(config);
  await scorer.prepare();
  const server = await serveReward(scorer, { port: 0, ...options });
  try {
    return await use(server.url);
  } finally {
    await server.close();
    await scorer.close();
  }
}

interface Reply {
  readonly status: number;
  readonly body: Record<string, unknown>;
}
const ask = async (url: string, body: unknown, headers: Record<string, string> = {}): Promise<Reply> => {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};
const chat = (question: string, answer: string): { query: string; prompt: string } => {
  const prompt = `<|im_start|>user\n${question}<|im_end|>\n<|im_start|>assistant\n`;
  return { prompt, query: `${prompt}${answer}<|im_end|>` };
};

test("rewards, scores and extra_logs of what OpenRLHF sends; a prompt finds the fields of its data", () =>
  served("{ right: exact_match, facts: { use: rubric, weight: 0.5 } }", async (url) => {
    const [good, bad] = [chat("What is 2+2?", "4"), chat("What is 3+3?", "5")];
    const { status, body } = await ask(url, {
      query: [good.query, bad.query],
      prompts: [good.prompt, bad.prompt],
      labels: ["4", "6"],
    });
    assert.deepEqual(
      [status, body],
      [200, { rewards: [1.5, 0], scores: [1, 0], extra_logs: { right: [1, 0], facts: [1, 0] } }],
    );
    // Without a label the data row's answer holds.
    assert.deepEqual(
      (await ask(url, { query: [good.query], prompts: [good.prompt] })).body["rewards"],
      [1.5],
    );
  }));

test("both ways: the term asks the server, and gets the reward that the config gives", () =>
  served("{ right: exact_match }", async (url) => {
    const term = made(remoteRm, { url, batch: 1 });
    const rows = ["4", "5", "4"].map((response, index) =>
      rowOf(response, { index, prompt: "What is 2+2?", task: { answer: "4", data: {} } }),
    );
    assert.deepEqual(await saidBy(term, rows), [1, 0, 1]);
  }));

test("many requests at once are scored, each with its own answers", () =>
  served("{ right: exact_match }", async (url) => {
    const replies = await Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        ask(url, { query: [`What is 2+2?${i % 3 === 0 ? 4 : 5}`], prompts: ["What is 2+2?"], labels: ["4"] }),
      ),
    );
    assert.deepEqual(
      replies.map(({ body }) => body["rewards"]),
      replies.map((_, i) => [i % 3 === 0 ? 1 : 0]),
    );
  }));

test("an answer whose reward fails gets no reward: the request fails with the cause, the server goes on", async () => {
  const folder = temporary();
  writeFileSync(
    join(folder, "own.ts"),
    `export function score({ response }: { response: string }): number {
      if (response === "boom") throw new Error("cannot score this");
      return 0.25;
    }`,
  );
  const refused: string[] = [];
  await served(
    "{ own: ./own.ts }",
    async (url) => {
      const of = (response: string): Promise<Reply> =>
        ask(url, { query: [`q${response}`], prompts: ["q"], labels: ["x"] });
      const failed = await of("boom");
      assert.equal(failed.status, 500);
      assert.match(String(failed.body["error"]), /own: .*cannot score this/);
      assert.deepEqual((await of("fine")).body["rewards"], [0.25]);
    },
    { refused: (message) => refused.push(message) },
    folder,
  );
  assert.equal(refused.length, 1);
});

test("a term that needs a model is refused by name", () =>
  served("{ own: { use: judge, judge: { of: policy } } }", async (url) => {
    const { status, body } = await ask(url, { query: ["qx"], prompts: ["q"] });
    assert.equal(status, 500);
    assert.match(String(body["error"]), /`?own`? cannot be served/);
  }));

test("what is malformed is refused with what is wrong", () =>
  served("{ right: exact_match }", async (url) => {
    const refusals: readonly (readonly [unknown, RegExp])[] = [
      ["{", /not JSON/],
      [{ prompts: ["a"] }, /not \{ query/],
      [{ query: ["a", "b"], prompts: ["a"] }, /1 prompts for 2 queries/],
      [{ query: ["abc"], prompts: ["x"] }, /does not hold its prompt/],
    ];
    for (const [body, why] of refusals) {
      const { status, body: said } = await ask(url, body);
      assert.equal(status, 400);
      assert.match(String(said["error"]), why);
    }
    assert.equal((await fetch(url)).status, 405);
    assert.equal((await ask(url.replace("get_reward", "other"), {})).status, 404);
    assert.deepEqual(await (await fetch(url.replace("get_reward", "health"))).json(), { status: "ok" });
  }));

test("only programs on this machine are served, and those with the token where there is one", () =>
  served(
    "{ right: exact_match }",
    async (url) => {
      const body = { query: ["a4"], prompts: ["a"], labels: ["4"] };
      assert.equal((await ask(url, body)).status, 401);
      assert.equal((await ask(url, body, { authorization: "Bearer wrong" })).status, 401);
      assert.equal((await ask(url, body, { authorization: "Bearer right" })).status, 200);
      const page = await ask(url, body, { authorization: "Bearer right", origin: "https://example.com" });
      assert.equal(page.status, 403);
      const { port } = new URL(url);
      const status = await new Promise<number | undefined>((done, failed) => {
        const asked = request(
          { host: "127.0.0.1", port, method: "POST", path: "/get_reward", headers: { host: "evil.example" } },
          (response) => done(response.resume().statusCode),
        );
        asked.on("error", failed);
        asked.end("{}");
      });
      assert.equal(status, 403);
    },
    { token: "right" },
  ));

test("a port that is in use is an error that says what to do", () =>
  served("{ right: exact_match }", async (url) => {
    const port = Number(new URL(url).port);
    await assert.rejects(
      served("{ right: exact_match }", () => Promise.resolve(), { port }),
      /in use/,
    );
  }));

test("a response is what follows its prompt, without the tokens that end it", () => {
  assert.equal(responseIn("<s>ask 4 </s>", "ask"), " 4");
  assert.equal(responseIn("ask 4<|im_end|><|endoftext|>\n", "ask"), " 4");
  assert.equal(responseIn("ask a <|think|> b", "ask"), " a <|think|> b");
  assert.equal(responseIn("other", "ask"), undefined);
});
