// Figures of papers, drawn again from committed results, each value with an interval over seeds.
//   npm run bench -- figure [NAME…] [--write]
// Prints the numbers; --write draws docs/images/claims-NAME.svg. Without a name: all whose runs are there.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { drawn } from "./curriculum/figures/draw.ts";
import { figureNames, figureOf } from "./curriculum/figures/figures.ts";
import { listed } from "./curriculum/figures/figure.ts";
import { readResults } from "./curriculum/result.ts";
import { measured, skipped } from "./report.ts";

const { values, positionals } = parseArgs({
  options: { write: { type: "boolean", default: false } },
  allowPositionals: true,
});
const other = positionals.find((name) => !figureNames.includes(name));
if (other !== undefined) {
  console.error(`there is no figure ${other}; there are ${figureNames.join(", ")}`);
  process.exit(2);
}
const results = readResults("bench/curriculum/results.jsonl");
for (const name of positionals.length > 0 ? positionals : figureNames) {
  const figure = figureOf(name, results);
  if (figure === undefined) {
    skipped(`figure ${name}`, "the runs that it draws are not there yet: npm run bench -- curriculum --real");
    if (positionals.length > 0) process.exitCode = 1;
    continue;
  }
  console.log(`${figure.title}\nafter ${figure.after}\n${listed(figure)}`);
  const file = join("docs", "images", `claims-${name}.svg`);
  if (values.write) writeFileSync(file, drawn(figure));
  measured({
    what: `figure ${name}`,
    value: listed(figure).split("\n").length,
    unit: "values",
    setting: values.write ? file : figure.after,
  });
}
