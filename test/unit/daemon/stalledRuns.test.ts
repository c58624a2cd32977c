import assert from "node:assert/strict";
import { test } from "node:test";
import { StalledRuns } from "../../../server/daemon/runs/stalledRuns.ts";
import type { RemoteStore } from "../../../server/store/remote.ts";

test("the feed hears once that a run stands still, and once that it goes on", async () => {
  let still = false;
  const marked: string[] = [];
  const call = (name: string, run: string) => {
    if (name === "marked") marked.push(run);
    return Promise.resolve(name === "isStalled" ? still : undefined);
  };
  const runs = new StalledRuns({ call } as unknown as Pick<RemoteStore, "call">);
  const look = async (second: number) => runs.look(["a"], second * 1000);
  await look(30);
  assert.deepEqual(marked, []);
  still = true;
  await look(40);
  assert.deepEqual(marked, [], "not before the next look is due");
  for (const second of [60, 90, 120]) await look(second);
  assert.deepEqual(marked, ["a"]);
  still = false;
  for (const second of [150, 180]) await look(second);
  assert.deepEqual(marked, ["a", "a"]);
});
