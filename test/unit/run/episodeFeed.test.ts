/** Prompts of episodes, as a policy takes them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { EpisodeFeed } from "../../../server/run/step/generate/episodeFeed.ts";
import type { Prompt } from "../../../server/core/policy.ts";

const prompt = (name: string): Prompt => ({ tokens: Int32Array.of(1), key: [name] });

test("a prompt is taken once, its sample leads to whose turn it was, and the feed ends with the last episode", async () => {
  const feed = new EpisodeFeed<string>(2, {});
  feed.add(prompt("a"), "a");
  await feed.next();
  assert.equal(feed.take().length, 1);
  assert.equal(feed.take().length, 0);
  const next = feed.next();
  feed.add(prompt("b"), "b");
  await next;
  assert.deepEqual(
    feed.take().map(({ key }) => key[0]),
    ["b"],
  );
  assert.deepEqual([feed.ownerOf(0), feed.ownerOf(1)], ["a", "b"]);
  feed.ended();
  assert.ok(feed.open);
  const last = feed.next();
  feed.ended();
  await last;
  assert.ok(!feed.open);
});

test("a stop, an abort or a failure ends the wait for an answer that never comes", async () => {
  const stopped = new EpisodeFeed<string>(1, { between: () => Promise.reject(new Error("stopped")) });
  await assert.rejects(stopped.next(), /stopped/);
  const controller = new AbortController();
  const aborted = new EpisodeFeed<string>(1, { signal: controller.signal });
  const waits = aborted.next();
  controller.abort(new Error("aborted"));
  await assert.rejects(waits, /aborted/);
  const failed = new EpisodeFeed<string>(1, {});
  const fails = failed.next();
  failed.fail(new Error("failed"));
  await assert.rejects(fails, /failed/);
  assert.throws(() => failed.take(), /failed/);
});
