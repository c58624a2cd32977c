/** Publishes three versions of a weight set, one for each line it reads; another process follows them. */
import { createInterface } from "node:readline";
import { publishWeights } from "../../server/engine/weights/publish.ts";

const [, , file = "", size = "4"] = process.argv;
let version = 0;
for await (const _line of createInterface({ input: process.stdin })) {
  version += 1;
  publishWeights(file, { version, weights: { w: new Float32Array(Number(size)).fill(version) } });
  process.stdout.write(`${version}\n`);
}
