/** How long a client waits for the series of a long run: 10,000 steps of 40 metrics, at most 2,000 points of each. */
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { openAttempt } from "../shared/log/writer.ts";
import { runFolder } from "../server/store/files.ts";
import { Store } from "../server/store/store.ts";

const steps = 10_000;
const names = Array.from({ length: 40 }, (_, index) => `metric/${index}`);
const base = mkdtempSync(join(tmpdir(), "gradus-bench-"));
const folder = join(base, ".gradus");

function write(): void {
  const log = openAttempt(runFolder(folder, "long"), 0);
  for (let step = 0; step < steps; step++) {
    const values = Object.fromEntries(
      names.map((name, index) => [name, Math.sin((step * (index + 1)) / 1000)]),
    );
    log.append({ kind: "metrics", step, time: step, values });
    log.commit(step);
  }
  log.close();
}

/** Milliseconds, and what was made in them. */
function timed<Value>(work: () => Value): readonly [number, Value] {
  const begin = performance.now();
  const value = work();
  return [performance.now() - begin, value];
}

write();
const store = new Store(folder, { anyThread: true });
console.log(`${new Date().toISOString()}  ${cpus()[0]?.model ?? "?"} × ${cpus().length}  ${store.driver}`);
console.log(`reading the log ${timed(() => store.ingestAll("long"))[0].toFixed(0)} ms`);
console.log("milliseconds   query  to the main thread  to JSON  from JSON");
for (let round = 0; round < 6; round++) {
  const [query, answer] = timed(() =>
    store.queries.series({ run: "long", metrics: names, from: -1, maxPoints: 2000 }),
  );
  const [clone, copied] = timed(() => structuredClone(answer));
  const [print, text] = timed(() => JSON.stringify(copied));
  const [parse] = timed(() => {
    JSON.parse(text);
  });
  const cells = [query, clone, print, parse].map((time, index) =>
    time.toFixed(0).padStart([20, 20, 9, 11][index] ?? 9),
  );
  console.log(`${cells.join("")}   (${(text.length / 1e6).toFixed(1)} MB)`);
}
store.close();
rmSync(base, { recursive: true, force: true });
