/** Checking a config with very many of one kind, and texts on which a pattern may go back again and again. `[--count=20000]` */
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { trainerIn } from "../shared/editor/trainers.ts";
import { loadConfig } from "../server/rules/load.ts";
import { longTexts } from "../test/support/longTexts.ts";
import { many } from "../test/support/manyOfOneKind.ts";
import { measured, option } from "./report.ts";

const count = option("count", 20_000);
const file = join(process.cwd(), "many.gradus.yaml");

const seconds = (work: () => unknown): number => {
  const began = performance.now();
  work();
  return (performance.now() - began) / 1000;
};

loadConfig(file, { text: Object.values(many)[0]!(100) });
const times = Object.entries(many).map(
  ([what, text]) => [what, seconds(() => loadConfig(file, { text: text(count) }))] as const,
);
for (const [what, value] of times) console.log(`${what}: ${value.toFixed(2)} s`);
const [slowest, longest] = times.reduce((a, b) => (b[1] > a[1] ? b : a));
const setting = `${count.toLocaleString("en")} of each of ${times.length} kinds`;
measured({ what: `checking, the slowest: ${slowest}`, value: longest, unit: "s", goal: 5, setting });

const recognised = longTexts.flatMap((text) =>
  ["python", "shellscript", "yaml"].map((language) => 1000 * seconds(() => trainerIn(text, language))),
);
measured({
  what: "recognising a trainer's text, the slowest",
  value: Math.max(...recognised),
  unit: "ms",
  goal: 50,
  setting: `${recognised.length} long texts`,
});
