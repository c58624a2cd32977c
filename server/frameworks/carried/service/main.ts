/**
 * The bundled file that an exported project starts: `node service.mjs PROJECT --state FOLDER`. The process in which a user's
 * reward runs is the same file, so that there is only one.
 */
import { isMainThread } from "node:worker_threads";
import { markName } from "../../../lib/own/processGroup.ts";

const hostsReward = process.env[markName] !== undefined && (process.send !== undefined || !isMainThread);

if (hostsReward) await import("../../../methods/reward/own/host.ts");
else {
  const { serve } = await import("./serve.ts");
  process.exitCode = await serve(process.argv.slice(2));
}
