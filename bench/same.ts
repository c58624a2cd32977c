/** Trains the example and 12 short configs in two working trees and compares all that was recorded: `same A B`. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { compare, type Comparison } from "./kills/compare.ts";
import { measured } from "./report.ts";
import { configs } from "./same/configs.ts";
import { Tree } from "./same/tree.ts";

const words = process.argv.slice(2).filter((word) => !word.startsWith("--"));
/** `--config=NAME`: one of them only. */
const only = process.argv.find((word) => word.startsWith("--config="))?.slice(9);
const [one, other] = words.map((folder) => resolve(folder));
if (one === undefined || other === undefined || words.length > 2) {
  console.error("Name two working trees: npm run bench -- same A B [--config=NAME]");
  process.exit(2);
}

mkdirSync("out", { recursive: true });
const base = mkdtempSync(resolve("out", "same-"));
const project = join(base, "project");
const trees = [one, other].map((folder, at) => new Tree(folder, project, join(base, `runtime-${at}`)));

type Train = (tree: Tree, kept: string) => Promise<string>;
const played: readonly { readonly name: string; readonly train: Train }[] = [
  ...configs.map((config) => ({
    name: config.name,
    train: (tree: Tree, kept: string) => tree.train({ ...config, text: `name: same\n${config.text}` }, kept),
  })),
  { name: "example", train: (tree: Tree, kept: string) => tree.trainExample(one, kept) },
].filter(({ name }) => only === undefined || name === only);
if (played.length === 0) {
  console.error(
    `There is no config ${only}; there are ${configs.map(({ name }) => name).join(", ")}, example.`,
  );
  process.exit(2);
}

const found: Comparison[] = [];
let failed = true;
try {
  for (const { name, train } of played) {
    const runs: string[] = [];
    for (const [at, tree] of trees.entries()) runs.push(await train(tree, join(base, name, String(at))));
    const comparison = compare(runs[0]!, runs[1]!);
    console.log(JSON.stringify({ config: name, ...comparison }));
    found.push(comparison);
  }
  failed = found.some(({ lost, doubled, state }) => lost + doubled + state.length > 0);
} finally {
  if (failed) console.log(`What was recorded is kept in ${base}`);
  else rmSync(base, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}

const sum = (of: (comparison: Comparison) => number): number =>
  found.reduce((all, comparison) => all + of(comparison), 0);
const setting = `${found.length} configs in ${one} and ${other}`;
measured({ what: "rows compared", value: sum(({ rows }) => rows), unit: "rows", setting });
measured({
  what: "rows that only one has",
  value: sum(({ lost, doubled }) => lost + doubled),
  unit: "rows",
  goal: 1,
});
measured({
  what: "files of weights, optimisers and state that differ",
  value: sum(({ state }) => state.length),
  unit: "files",
  goal: 1,
});
process.exitCode = failed ? 1 : 0;
