/** What is captured is kept within bounds. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Refusal } from "../../../server/endpoint/errors.ts";
import { Sessions, type Captured } from "../../../server/endpoint/sessions.ts";

const captured = (call: number, prompt: number, tokens: number): Captured => ({
  call,
  choice: 0,
  api: "completions",
  at: "",
  prompt: "",
  prompt_tokens: Array.from({ length: prompt }, () => 3),
  tokens: Array.from({ length: tokens }, () => 3),
  logp_old: [],
  logp_sampled: [],
  entropy: [],
  versions: [],
  text: "",
  finish: "stop",
  aborted: false,
  temperature: 1,
});
const forgotten = (code: string) => (error: unknown) => error instanceof Refusal && error.code === code;

/** One call with so many numbers. */
function called(sessions: Sessions, name: string, prompt: number, tokens = 0): void {
  const call = sessions.begin(name);
  if (call !== undefined) sessions.add(name, [captured(call, prompt, tokens)]);
}

test("the session that was used least recently is forgotten, and says so until its name is used again", () => {
  const sessions = new Sessions({ sessions: 2, kept: 800 });
  for (const name of ["a", "b"]) called(sessions, name, 1);
  called(sessions, "a", 1);
  called(sessions, "c", 1);
  assert.deepEqual([sessions.captured("a")?.length, sessions.captured("c")?.length], [2, 1]);
  assert.throws(() => sessions.captured("b"), forgotten("session_forgotten"));
  assert.throws(() => sessions.end("b"), forgotten("session_forgotten"));
  assert.equal(sessions.begin("b"), undefined, "its calls are answered and not kept");
  assert.deepEqual(sessions.calls("b"), []);
  assert.equal(sessions.forget("b"), true);
  called(sessions, "b", 1);
  assert.equal(sessions.captured("b")?.length, 1);
  assert.equal(sessions.captured("never"), undefined);
});

test("long sessions are forgotten by what they hold, ended ones hold nothing", () => {
  const sessions = new Sessions({ sessions: 10, kept: 800 });
  called(sessions, "a", 10, 10);
  called(sessions, "b", 30);
  assert.equal(sessions.end("a")?.length, 1);
  called(sessions, "c", 10, 10);
  assert.equal(sessions.captured("b")?.length, 1, "the sixty of the one that ended count no longer");
  assert.throws(() => sessions.begin("a"), forgotten("session_ended"));
  called(sessions, "d", 40);
  assert.throws(() => sessions.captured("b"), forgotten("session_forgotten"));
  assert.equal(sessions.captured("d")?.length, 1);
  called(sessions, "e", 0, 30);
  for (const name of ["c", "d", "e"])
    assert.throws(() => sessions.captured(name), forgotten("session_forgotten"), name);
  sessions.set("e", { defaults: {} });
  called(sessions, "e", 1);
  assert.equal(sessions.captured("e")?.length, 1);
});
