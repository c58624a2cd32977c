/** `gradus/rollouts/tokens`: what a run recorded of each token, with its place in the response, by range. */
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { ask } from "../../../shared/daemon/request.ts";
import { rolloutsQuery, rolloutsTokens } from "../../../shared/protocol/protocol.ts";
import { unpackedFloat32, unpackedInt32, unpackedUint8 } from "../../../shared/rollouts/packed.ts";
import { writeTraceRun } from "../../support/traceRun.ts";
import { Sandbox } from "../daemon.ts";

let box: Sandbox;
beforeEach(async () => {
  box = await Sandbox.make();
});
afterEach(() => box.end());

test("tokens of a long trace come with their places and channels, all or a range", async () => {
  // 65,000 tokens and more.
  writeTraceRun(box.store, 270);
  const connection = await box.connect();
  await box.reach(connection, "trace", ({ status }) => status === "finished");
  const which = { run: "trace", step: 4, group: "4/0", index: 1 };
  const { rollouts } = await ask(connection, rolloutsQuery, { run: "trace", step: 4, tokens: true });
  const row = rollouts.find(({ index }) => index === 1)!;
  await ask(connection, rolloutsTokens, { ...which, to: 1 });
  const all = await ask(connection, rolloutsTokens, which);
  assert.ok(all.total > 65_000 && all.reason === null);
  const [ids, starts, ends] = [unpackedInt32(all.ids), unpackedInt32(all.starts), unpackedInt32(all.ends)];
  assert.deepEqual([...ids], row.tokens);
  const said = [...ids].map((_, t) => row.response!.slice(starts[t], ends[t])).join("");
  // The line ends between turns are of neither.
  assert.equal(said.length, row.response!.length - (row.turns!.length - 1));
  assert.ok(unpackedUint8(all.origin).includes(2));
  const surprise = all.channels.find(({ channel }) => channel === "logp")!;
  assert.ok(surprise.low < surprise.high && surprise.high <= 0);
  assert.equal(unpackedFloat32(surprise.values).length, all.total);

  const part = await ask(connection, rolloutsTokens, { ...which, from: 1_000, to: 1_010 });
  assert.deepEqual([part.total, part.from, part.to], [all.total, 1_000, 1_010]);
  assert.deepEqual(unpackedInt32(part.starts), starts.slice(1_000, 1_010));
  assert.equal(part.channels.find(({ channel }) => channel === "logp")!.low, surprise.low);
  await assert.rejects(
    ask(connection, rolloutsTokens, { ...which, index: 77 }),
    /Step 4 of this run has no rollout 4\/0#77/,
  );
});
