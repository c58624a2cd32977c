/** A reward server in OpenRLHF's protocol, asked over a real connection: what it answers, and every way in which it does not. */
import assert from "node:assert/strict";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { test } from "node:test";
import { remoteRm } from "../../../../server/methods/reward/remote/remoteRm.ts";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import { batchOf, made } from "../../support.ts";
import { noModels, plain, rowOf } from "./support.ts";

interface Asked {
  readonly body: { readonly query: string[]; readonly prompts: string[]; readonly labels: string[] };
  readonly headers: IncomingHttpHeaders;
}
type Answer = object | number | string | null;

/** Answers each request; a number is a status, a text a body as it is, null no answer at all. */
async function withServer<Result>(
  answer: (body: Asked["body"], times: number) => Answer,
  use: (url: string, asked: readonly Asked[]) => Promise<Result>,
): Promise<Result> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (part: Buffer) => (text += part.toString()));
    request.on("end", () => {
      const body = JSON.parse(text) as Asked["body"];
      asked.push({ body, headers: request.headers });
      const said = answer(body, asked.length);
      if (said === null) return;
      response.statusCode = typeof said === "number" ? said : 200;
      response.end(
        typeof said === "object" ? JSON.stringify(said) : typeof said === "string" ? said : "refused",
      );
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  try {
    return await use(`http://127.0.0.1:${port}/get_reward`, asked);
  } finally {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
}

const rows = (...responses: readonly string[]): RolloutRow[] =>
  responses.map((response, index) =>
    rowOf(response, { index, prompt: "2+2=", task: { answer: "4", data: { gold: `g${index}` } } }),
  );
const score = async (
  url: string | string[],
  of: readonly RolloutRow[],
  params: Record<string, unknown> = {},
): Promise<ReturnType<typeof plain>[]> =>
  (await made(remoteRm, { url, wait: 0, ...params }).score(batchOf(of), noModels)).map(plain);

const lengths = ({ query }: Asked["body"]): object => ({
  rewards: query.map((one) => one.length),
  scores: query.map(() => 1),
  extra_logs: { words: query.map(() => 2), odd: "text" },
});

test("what is sent and what is read is OpenRLHF's; scores and extra_logs are components", () =>
  withServer(lengths, async (url, asked) => {
    const term = made(remoteRm, { url });
    const values = await term.score(batchOf(rows("4", "five")), noModels);
    assert.deepEqual(values, [
      { kind: "value", value: 5, components: { words: 2, score: 1 } },
      { kind: "value", value: 8, components: { words: 2, score: 1 } },
    ]);
    assert.deepEqual(asked[0]!.body, {
      query: ["2+2=4", "2+2=five"],
      prompts: ["2+2=", "2+2="],
      labels: ["4", "4"],
    });
    assert.equal(asked[0]!.headers.authorization, undefined);
  }));

test("requests have a size, go to several servers in turn, and may name a field and a token", () =>
  withServer(lengths, async (first, asked) =>
    withServer(lengths, async (second, other) => {
      process.env["TERMS_TEST_TOKEN"] = "secret";
      const many = rows("a", "b", "c", "d", "e");
      const said = await score([first, second], many, { batch: 2, label: "gold", key: "TERMS_TEST_TOKEN" });
      assert.deepEqual(said, [5, 5, 5, 5, 5]);
      assert.deepEqual(asked.map(({ body }) => body.labels).sort(), [["g0", "g1"], ["g4"]]);
      assert.deepEqual(
        other.map(({ body }) => body.labels),
        [["g2", "g3"]],
      );
      assert.equal(other[0]!.headers.authorization, "Bearer secret");
      delete process.env["TERMS_TEST_TOKEN"];
    }),
  ));

test("other shapes of an answer: one number, nested numbers, a list with an object each", async () => {
  for (const said of [{ rewards: 3 }, { rewards: [[3]] }, [{ rewards: [3] }], { scores: [3] }])
    await withServer(
      () => said,
      async (url) => assert.deepEqual(await score(url, rows("x")), [3]),
    );
});

test("what is no answer is an error that says what came, never a 0", async () => {
  const cases: readonly (readonly [Answer, RegExp])[] = [
    [{ rewards: [1] }, /`rewards` are not 2 numbers/],
    [{ rewards: [1, "high"] }, /is not \{ rewards/],
    [{ reward: [1, 1] }, /`rewards` are not 2 numbers/],
    ["NaN", /not JSON/],
  ];
  for (const [said, why] of cases)
    await withServer(
      () => said,
      async (url) => {
        const [first, second] = await score(url, rows("x", "y"), { tries: 1 });
        assert.match(String(first), why);
        assert.match(String(second), why);
      },
    );
  await withServer(
    ({ query }) => ({ rewards: query.map((one) => (one.endsWith("y") ? null : 1)) }),
    async (url) => {
      const [first, second] = await score(url, rows("x", "y"));
      assert.equal(first, 1);
      assert.match(String(second), /no number/);
    },
  );
});

test("a request that fails is made again; one that is refused is not", async () => {
  await withServer(
    (body, times) => (times < 3 ? 503 : lengths(body)),
    async (url, asked) => {
      assert.deepEqual(await score(url, rows("x")), [5]);
      assert.equal(asked.length, 3);
    },
  );
  await withServer(
    () => 422,
    async (url, asked) => {
      assert.match(String((await score(url, rows("x")))[0]), /422/);
      assert.equal(asked.length, 1);
    },
  );
});

test("what fails of one rollout is its own error", () =>
  withServer(
    (body) => (body.query.some((one) => one.endsWith("bad")) ? 500 : lengths(body)),
    async (url) => {
      const [first, second, third] = await score(url, rows("x", "bad", "y"), { tries: 2 });
      assert.deepEqual([first, third], [5, 5]);
      assert.match(String(second), /the reward server at .*: 500/);
    },
  ));

test("a server that does not answer in time, and one that is not there", async () => {
  await withServer(
    () => null,
    async (url) => {
      const [said] = await score(url, rows("x"), { timeout: 0.1, tries: 2 });
      assert.match(String(said), /no answer within 0\.1 s/);
    },
  );
  const gone = await withServer(
    () => 200,
    (url) => Promise.resolve(url),
  );
  assert.match(String((await score(gone, rows("x"), { tries: 2 }))[0]), /ECONNREFUSED/);
});
