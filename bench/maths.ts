/** Answers of mathematics: how often math-verify and the engine that comes along agree. `[--pairs=2000] [--seed=1] [--write]` */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { sameAnswer } from "../server/lib/maths/equality.ts";
import { pairsOf, type Pair } from "./maths/pairs.ts";
import { measured, option, skipped } from "./report.ts";

const pairs = pairsOf(option("pairs", 2000), option("seed", 1));
const python = process.env["GRADUS_PEER_PYTHON"];

type Said = boolean | string;
function ours(): readonly Said[] {
  sameAnswer("x", "y");
  const at = performance.now();
  const said = pairs.map(({ gold, answer }): Said => {
    try {
      return sameAnswer(gold, answer);
    } catch (error) {
      return String(error);
    }
  });
  measured({
    what: "comparisons a second (compute-engine)",
    value: (1000 * pairs.length) / (performance.now() - at),
    unit: "/s",
  });
  return said;
}

function theirs(): readonly Said[] | undefined {
  if (python === undefined) return undefined;
  const input = pairs.map((pair) => `${JSON.stringify(pair)}\n`).join("");
  const script = ["bench/maths/verify.py", "server/methods/reward/maths/mathVerify.py"];
  const at = performance.now();
  const { status, stdout, stderr } = spawnSync(python, script, {
    input,
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  if (status !== 0) throw new Error(`${python}: ${stderr}`);
  measured({
    what: "comparisons a second (math-verify, with its start)",
    value: (1000 * pairs.length) / (performance.now() - at),
    unit: "/s",
  });
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Said);
}

const own = ours();
const share = (said: readonly Said[]): number =>
  (100 * pairs.filter(({ same }, k) => said[k] === same).length) / pairs.length;
measured({
  what: "as it was made (compute-engine)",
  value: share(own),
  unit: "%",
  setting: `${pairs.length} pairs`,
});
const peer = theirs();
if (peer === undefined)
  skipped("agreement with math-verify", "GRADUS_PEER_PYTHON names no Python with math-verify");
else {
  measured({
    what: "as it was made (math-verify)",
    value: share(peer),
    unit: "%",
    setting: `${pairs.length} pairs`,
  });
  const apart = pairs.flatMap((pair, k) =>
    own[k] === peer[k] ? [] : [{ pair, own: own[k]!, peer: peer[k]! }],
  );
  measured({
    what: "agreement",
    value: 100 - (100 * apart.length) / pairs.length,
    unit: "%",
    setting: `${pairs.length} pairs`,
  });
  const text = tableOf(apart);
  if (process.argv.includes("--write")) writeFileSync("bench/maths/disagreements.md", text);
  else console.log(text);
}

function tableOf(apart: readonly { pair: Pair; own: Said; peer: Said }[]): string {
  const cell = (text: string): string => `\`${text.replaceAll("|", "\\|")}\``;
  const rows = apart.map(
    ({ pair, own: one, peer: other }) =>
      `| ${pair.kind} | ${cell(pair.gold)} | ${cell(pair.answer)} | ${pair.same} | ${one} | ${typeof other === "string" ? cell(other) : other} |`,
  );
  return [
    `# Where math-verify and compute-engine disagree`,
    "",
    `${apart.length} of ${pairs.length} pairs that \`pairs.ts\` makes; written by \`npm run bench -- maths --write\`. "Made as" is what a person would say.`,
    "",
    "| kind | gold | answer | made as | compute-engine | math-verify |",
    "| --- | --- | --- | --- | --- | --- |",
    ...rows,
    "",
  ].join("\n");
}
