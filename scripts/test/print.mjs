// What `npm test` prints: a line when a job ends, then what failed and a table of the tiers.

const mark = ({ failed, passed }) => (failed > 0 ? "✖" : passed > 0 ? "✔" : "﹣");

/** One job's line; of a failed one, what failed follows. */
export function printJob({ name }, result) {
  const { passed, failed, skipped, seconds, failures } = result;
  const counts = [
    `${passed} passed`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
  ];
  console.log(`${mark(result)} ${name}: ${counts.join(", ")} (${seconds.toFixed(1)} s)`);
  if (failures.length > 0) console.log(failures.join("\n"));
}

/** Lines of each job's failures that are printed again at the end, where whoever reads only a log's end finds them. */
const most = 60;

export function printFailures({ name, failures }) {
  if (failures.length === 0) return;
  console.log(`\n== ${name}: what failed`);
  for (const { job, lines } of failures) {
    console.log(`${job}\n${lines.slice(0, most).join("\n")}`);
    if (lines.length > most) console.log(`… ${lines.length - most} more lines above`);
  }
}

/** Prints a row a tier and the sums; returns how many failed. */
export function printTable(rows, seconds) {
  const line = (name, ...cells) =>
    console.log(`${name.padEnd(12)}${cells.map((cell) => String(cell).padStart(9)).join("")}`);
  console.log("");
  line("", "passed", "failed", "skipped", "seconds");
  for (const row of rows) line(row.name, row.passed, row.failed, row.skipped, row.seconds.toFixed(1));
  const notes = rows.flatMap((row) => row.notes.map((note) => `${row.name}: ${note}`));
  if (notes.length > 0) console.log(`\n${notes.join("\n")}`);
  const sum = (key) => rows.reduce((total, each) => total + each[key], 0);
  console.log(`\n${Math.round(seconds)} s in all, tiers side by side`);
  console.log(`${sum("passed")} passed, ${sum("failed")} failed, ${sum("skipped")} skipped`);
  return sum("failed");
}
