/** Token heat of a rollout of 65,000 tokens: from asking the daemon to the stretches that an editor colours; another channel. `[--turns=270]` */
import { performance } from "node:perf_hooks";
import { heatOf, outliersOf } from "../extension/features/rollouts/heat/layers.ts";
import { TokenMap } from "../extension/features/rollouts/heat/tokenMap.ts";
import { oneDocument } from "../extension/features/rollouts/one/document.ts";
import { ask } from "../shared/daemon/request.ts";
import { rolloutsQuery, rolloutsTokens } from "../shared/protocol/protocol.ts";
import type { TokenChannel } from "../shared/rollouts/tokenChannels.ts";
import { Sandbox } from "../test/rpc/daemon.ts";
import { writeTraceRun } from "../test/support/traceRun.ts";
import { measured, median, option } from "./report.ts";

const turns = option("turns", 270);
/** Lines that an editor shows, with those around them that are coloured too. */
const lines = 250;

const box = await Sandbox.make();
try {
  writeTraceRun(box.store, turns);
  const connection = await box.connect();
  await box.reach(connection, "trace", ({ status }) => status === "finished");
  const which = { run: "trace", step: 4, group: "4/0", index: 1 };
  const { rollouts } = await ask(connection, rolloutsQuery, { run: "trace", step: 4 });
  const rollout = rollouts.find(({ index }) => index === which.index)!;
  const { response } = oneDocument({ name: "trace", rollout, siblings: rollouts });
  const shown = (map: TokenMap, name: TokenChannel): void => {
    const channel = map.channel(name)!;
    outliersOf(map, channel);
    const [from, to] = map.on(0, lines);
    if (heatOf(map, channel, from, to).flat().length === 0) throw new Error("nothing was coloured");
  };
  const began = performance.now();
  const first = new TokenMap(await ask(connection, rolloutsTokens, which), response);
  shown(first, "entropy");
  const cold = performance.now() - began;
  const [opened, recoloured]: [number[], number[]] = [[], []];
  for (let round = 0; round < 10; round++) {
    const start = performance.now();
    const map = new TokenMap(await ask(connection, rolloutsTokens, which), response);
    shown(map, "entropy");
    const middle = performance.now();
    shown(map, "reference");
    opened.push(middle - start);
    recoloured.push(performance.now() - middle);
  }
  const setting = `${first.total} tokens, ${first.channels.length} channels`;
  measured({ what: "token heat, the first rollout of a run", value: cold, unit: "ms", setting });
  measured({ what: "token heat, another rollout", value: median(opened), unit: "ms", goal: 200, setting });
  measured({ what: "token heat, another channel", value: median(recoloured), unit: "ms", goal: 50, setting });
} finally {
  await box.end();
}
