/** Servers that write tasks and answer them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../../../shared/lib/errors.ts";
import { vote } from "../../../../server/methods/generation/answers/vote.ts";
import { endpoint } from "../../../../server/methods/generation/authors/endpoint.ts";
import { round } from "../../../../server/methods/generation/round.ts";
import { diversify } from "../../../../server/methods/generation/transforms/diversify.ts";
import { chatServer } from "../../../support/chatServer.ts";
import { made } from "../../support.ts";
import { contextOf, recipe, sourceOf } from "./support.ts";

test("an endpoint writes tasks and votes; refusals and silence are errors that say what to do", async () => {
  const server = await chatServer((_text, _times, model) =>
    model === "m" ? "1+1=" : model === "voter" ? "so\n12" : model === "full" ? 400 : 500,
  );
  const { url, asked } = server;
  try {
    process.env["GRADUS_TEST_KEY"] = "secret";
    const author = made(endpoint, {
      url: `${url}/`,
      model: "m",
      key: "GRADUS_TEST_KEY",
      system: "Be brief.",
    });
    assert.ok(author.kind === "endpoint");
    const how = { samples: 2, max_tokens: 5, temperature: 0.5 };
    assert.deepEqual(await author.complete(["a", "b"], how), [
      ["1+1=", "1+1="],
      ["1+1=", "1+1="],
    ]);
    assert.equal(asked.length, 4);
    assert.equal(asked[0]?.key, "Bearer secret");
    const { messages, max_tokens } = asked[0]?.body ?? {};
    assert.deepEqual(messages, [
      { role: "system", content: "Be brief." },
      { role: "user", content: "a" },
    ]);
    assert.equal(max_tokens, 5);
    const { taken } = await round(
      sourceOf(),
      recipe({ author, transform: made(diversify, {}), parents: 1 }),
      contextOf(author.complete),
    );
    assert.deepEqual(
      taken.map(({ answer }) => answer),
      ["2"],
    );
    const answer = made(vote, {
      by: { url, model: "voter" },
      request: "{prompt} Think.",
      max_tokens: 7,
      temperature: 0.7,
      samples: 2,
    });
    const voted = await round(
      sourceOf(),
      recipe({ author, answer, transform: made(diversify, {}), parents: 1 }),
      contextOf(author.complete),
    );
    assert.deepEqual(
      voted.taken.map((task) => task.answer),
      ["12"],
    );
    const { text, body } = asked.at(-1)!;
    assert.deepEqual(
      { text, temperature: body["temperature"], max_tokens: body["max_tokens"] },
      { text: "1+1= Think.", temperature: 0.7, max_tokens: 7 },
    );
    const refused = made(endpoint, { url, model: "other" });
    assert.ok(refused.kind === "endpoint");
    await assert.rejects(refused.complete(["a"], how), /did not answer: 500/);
    const full = made(endpoint, { url, model: "full" });
    assert.ok(full.kind === "endpoint");
    await assert.rejects(
      full.complete(["a"], how),
      (error) =>
        error instanceof UserError &&
        /The author of tasks at .* refused the request: 400/.test(error.message) &&
        /lower `max_tokens`/.test(error.detail.action ?? ""),
    );
  } finally {
    delete process.env["GRADUS_TEST_KEY"];
    await server.close();
  }
  const gone = made(endpoint, { url, model: "m" });
  assert.ok(gone.kind === "endpoint");
  await assert.rejects(gone.complete(["a"], { samples: 1, max_tokens: 1, temperature: 1 }), (error) => {
    assert.ok(error instanceof UserError);
    assert.equal(error.detail.code, "author-unreachable");
    assert.match(error.message, /did not answer/);
    return true;
  });
});
