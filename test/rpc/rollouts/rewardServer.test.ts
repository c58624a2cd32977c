/** `gradus reward FILE --serve` as a process of its own. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { Sandbox, until } from "../daemon.ts";

let box: Sandbox;
beforeEach(async () => {
  box = await Sandbox.make();
});
afterEach(() => box.end());

test("it says where it is, answers OpenRLHF's request, and ends cleanly when it is interrupted", async () => {
  const file = join(box.base, "served.gradus.yaml");
  writeFileSync(file, "tasks: [{ env: countdown }]\nreward: { terms: { right: exact_match } }\n");
  const server = box.spawn(["reward", file, "--serve", "--json"]);
  let [out, err] = ["", ""];
  server.stdout?.on("data", (part: Buffer) => (out += part.toString()));
  server.stderr?.on("data", (part: Buffer) => (err += part.toString()));
  const url = await until(async () => /"url":"([^"]+)"/.exec(out)?.[1] ?? null, "the server's address");
  const ask = async (labels: readonly (string | null)[]): Promise<{ status: number; body: unknown }> => {
    const body = JSON.stringify({ query: ["2+2=4</s>"], prompts: ["2+2="], labels });
    const response = await fetch(url, { method: "POST", body });
    return { status: response.status, body: await response.json() };
  };
  assert.deepEqual(await ask(["4"]), {
    status: 200,
    body: { rewards: [1], scores: [1], extra_logs: { right: [1] } },
  });
  assert.equal((await ask([null])).status, 500);
  server.kill("SIGINT");
  const [code] = (await once(server, "close")) as [number | null];
  assert.equal(code, 0, err);
  assert.match(err, /query 0 has no reward: right: exact_match needs an answer/);
});
