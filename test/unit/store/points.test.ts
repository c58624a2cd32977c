import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import fc from "fast-check";
import type { Database } from "../../../server/store/drivers/database.ts";
import { openDatabase } from "../../../server/store/drivers/driver.ts";
import { packEvery, PointWriter, readPoints } from "../../../server/store/ingest/points.ts";
import { migrate } from "../../../server/store/schema.ts";
import { Statements } from "../../../server/store/drivers/statements.ts";

const base = mkdtempSync(join(tmpdir(), "gradus-points-"));
const path = join(base, "store.sqlite");
const database: Database = openDatabase(path, { anyThread: true }).database;
migrate(database, path);
const statements = new Statements(database);
after(() => {
  database.close();
  rmSync(base, { recursive: true, force: true });
});
const count = (table: string, series: number): unknown =>
  database.prepare(`SELECT count(*) AS n FROM ${table} WHERE series = ?`).get(series);
let series = 0;

test("points are packed as they gather; what is read is what was written, in any window", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          from: fc.integer({ min: 0, max: 1500 }),
          length: fc.integer({ min: 1, max: 900 }),
          stride: fc.integer({ min: 1, max: 3 }),
        }),
        { minLength: 1, maxLength: 4 },
      ),
      fc.integer({ min: -1, max: 2000 }),
      fc.integer({ min: 0, max: 2500 }),
      (writes, after_, before) => {
        series += 1;
        const expected = new Map<number, number>();
        database.transaction(() =>
          writes.forEach(({ from, length, stride }, write) => {
            // A new writer each time: as after a restart.
            const writer = new PointWriter(statements);
            for (let index = 0; index < length; index++) {
              const step = from + index * stride;
              const value = step % 11 === 0 ? Number.NaN : write + step / 7;
              writer.add(series, 0, step, value);
              expected.set(step, value);
            }
          }),
        );
        const { steps, values } = readPoints(statements, series, 0, after_, before);
        const wanted = [...expected].filter(([step]) => step > after_ && step < before);
        wanted.sort(([one], [other]) => one - other);
        assert.deepEqual(
          [...steps].map((step, index) => [step, values[index]]),
          wanted,
        );
      },
    ),
    { numRuns: 25 },
  );
});

test("a long series is mostly packed, another attempt of it apart", () => {
  series += 1;
  const writer = new PointWriter(statements);
  database.transaction(() => {
    for (let step = 0; step < 10 * packEvery; step++) writer.add(series, 0, step, Math.sin(step));
  });
  assert.deepEqual(count("packed", series), { n: 10 });
  assert.equal(readPoints(statements, series, 1, -1, Number.MAX_SAFE_INTEGER).steps.length, 0);
  const { steps, values } = readPoints(statements, series, 0, -1, Number.MAX_SAFE_INTEGER);
  assert.equal(steps.length, 10 * packEvery);
  assert.ok(values.every((value, step) => value === Math.sin(step)));
});
