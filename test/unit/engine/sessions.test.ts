/** Sessions by their graphs: one for all that run the same, kept for a while when nobody does. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Sessions } from "../../../server/engine/devices/sessions.ts";

function pool(): {
  sessions: Sessions;
  made: string[];
  ended: number[];
  take: (graph: string) => ReturnType<Sessions["take"]>;
} {
  const [made, ended]: [string[], number[]] = [[], []];
  const sessions = new Sessions((id) => ended.push(id));
  const take = (graph: string): ReturnType<Sessions["take"]> =>
    sessions.take(Buffer.from(graph), (bytes) => made.push(Buffer.from(bytes).toString()));
  return { sessions, made, ended, take };
}

test("who runs the same graph shares a session, also after the first has left", () => {
  const { sessions, made, take } = pool();
  const [one, other] = [take("a"), take("a")];
  assert.equal(one.id, other.id);
  sessions.giveBack(one);
  assert.notEqual(take("b").id, other.id);
  sessions.giveBack(other);
  assert.equal(take("a").id, other.id);
  assert.deepEqual(made, ["a", "b"]);
});

test("of those that nobody uses the latest 32 stay, and one that is in use always does", () => {
  const { sessions, made, ended, take } = pool();
  const used = take("used");
  const others = Array.from({ length: 40 }, (_, at) => take(`graph ${at}`));
  others.forEach((one) => sessions.giveBack(one));
  assert.deepEqual(
    ended,
    others.slice(0, 8).map(({ id }) => id),
  );
  assert.equal(take("used").id, used.id);
  assert.equal(take("graph 39").id, others[39]!.id);
  assert.equal(made.length, 41);
  take("graph 0");
  assert.equal(made.length, 42);
});
