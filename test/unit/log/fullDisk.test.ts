import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { build } from "esbuild";
import { logStart, readCommitted } from "../../../shared/log/reader.ts";

/** A process whose files cannot grow past 8 KiB fails as on a full disk, after part of the step has been written. */
const script = (source: string): string => `
import { openAttempt } from ${JSON.stringify(join(source, "shared/log/writer.ts"))};
import { UserError } from ${JSON.stringify(join(source, "shared/lib/errors.ts"))};
const log = openAttempt(process.argv[2] ?? "", 0);
const fill = (step: number, size: number): void => {
  log.append({ kind: "event", step, time: 0, severity: "info", name: "fill", message: "x".repeat(size) });
  log.commit(step);
};
const failures: unknown[] = [];
for (let step = 0; step < 8; step++) {
  try { fill(step, 3000); } catch (error) {
    if (!(error instanceof UserError)) throw error;
    failures.push({ step, message: error.message, ...error.detail, cause: undefined });
    break;
  }
}
// The limit applies to a file: the writer must still be able to go on where there is room.
try { log.commit(99); failures.push("wrote past the limit"); } catch { failures.push("still full"); }
process.stdout.write(JSON.stringify(failures));
`;

test(
  "on a full disk the writer names the file and what to do, and the log ends with a whole step",
  { skip: process.platform === "win32" },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "gradus-full-"));
    try {
      writeFileSync(join(folder, "fill.ts"), script(process.cwd()));
      await build({
        entryPoints: [join(folder, "fill.ts")],
        outfile: join(folder, "fill.mjs"),
        bundle: true,
        platform: "node",
        format: "esm",
        nodePaths: [join(process.cwd(), "node_modules")],
        banner: {
          js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
        },
      });
      const child = spawnSync(
        "bash",
        [
          "-c",
          `ulimit -f 8; exec "$0" "$1" "$2"`,
          process.execPath,
          join(folder, "fill.mjs"),
          join(folder, "run"),
        ],
        { encoding: "utf8" },
      );
      assert.equal(child.status, 0, child.stderr);
      const [first, second]: { step: number; message: string; file: string; action: string; code: string }[] =
        JSON.parse(child.stdout);
      assert.equal(first?.code, "disk-full");
      assert.match(first.message, /disk is full/i);
      assert.match(first.file, /run[/\\]log[/\\]0[/\\]0\.seg$/);
      assert.match(first.action, /Free space/);
      assert.equal(second, "still full");
      const { steps, problems, position } = readCommitted(join(folder, "run"), 0, logStart);
      assert.deepEqual(
        steps.map(({ step }) => step),
        Array.from({ length: first.step }, (_, step) => step),
      );
      assert.ok(first.step > 0);
      assert.deepEqual(problems, []);
      assert.equal(readCommitted(join(folder, "run"), 0, position).more, false);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
