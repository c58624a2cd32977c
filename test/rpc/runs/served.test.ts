/** A run that is served while it trains: its worker publishes, and the server follows. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { until } from "../../support/until.ts";
import { Workspace, type Talk } from "../../support/workspace.ts";

const started = z.looseObject({ url: z.string(), token: z.string(), version: z.number(), model: z.string() });
const answer = z.looseObject({
  weight_version: z.number(),
  choices: z.array(z.looseObject({ text: z.string() })),
});

test("a run that trains changes the weights that answer, between requests; once finished its last ones do", async () => {
  const workspace = new Workspace();
  try {
    // Of a stage whose every step changes the weights: rewards that are all alike would change none.
    const endless = ["stages.0.steps=100000", "stages.0.batch=4", "checkpoint.every=100000"];
    const run = workspace.start(
      "run",
      workspace.config,
      "--json",
      ...endless.flatMap((one) => ["--set", one]),
    );
    await run.until((talk: Talk) => talk.of("step").length > 0);
    const id = run.of("started")[0]!.run!;
    const published = join(workspace.runFolder(id), "published");
    assert.ok(!existsSync(published), "a run that nobody serves publishes nothing");
    const server = workspace.start("serve", "last", "--json");
    await server.until(({ lines }) => lines.length > 0);
    const { url, token, model } = started.parse(server.lines[0]);
    assert.equal(model, "minimal");
    const ask = async (): Promise<number> => {
      const response = await fetch(`${url}/v1/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}` },
        body: JSON.stringify({ prompt: "ab", max_tokens: 8 }),
      });
      const { weight_version } = answer.parse(await response.json());
      assert.equal(response.headers.get("x-gradus-version"), String(weight_version));
      return weight_version;
    };
    const first = await until(async () => (await ask()) || undefined, "the first published weights");
    await until(async () => (await ask()) > first, "newer weights");
    const stop = await workspace.finish("runs", "stop", id, "--json");
    assert.equal(stop.code, 0, stop.stderr);
    await run.ended;
    server.child.kill("SIGTERM");
    assert.equal(await server.ended, 0, server.stderr);
    const again = workspace.start("serve", id, "--json");
    await again.until(({ lines }) => lines.length > 0);
    assert.ok(started.parse(again.lines[0]).version > first);
    again.child.kill("SIGTERM");
    assert.equal(await again.ended, 0, again.stderr);
  } finally {
    await workspace.remove();
  }
});

test("a model that is not there, and none at all, say what to do", async () => {
  const workspace = new Workspace();
  try {
    const none = await workspace.finish("serve");
    assert.equal(none.code, 2);
    assert.match(none.stderr, /Which model\?.*gradus serve last/s);
    const missing = await workspace.finish("serve", "nowhere");
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /nowhere is not a checkpoint/);
  } finally {
    await workspace.remove();
  }
});

test("a window of an earlier version starts the daemon in its own words", async () => {
  const workspace = new Workspace();
  try {
    const daemon = workspace.start("serve", "--store", workspace.store);
    await until(async () => {
      const status = await workspace.finish("daemon", "status", "--store", workspace.store, "--json");
      return JSON.parse(status.text).running === true && JSON.parse(status.text).pid === daemon.child.pid;
    }, "the daemon");
  } finally {
    await workspace.remove();
  }
});
