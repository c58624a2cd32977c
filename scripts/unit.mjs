// Builds and runs node tests: `node scripts/unit.mjs [path fragments…]`, e.g. `node scripts/unit.mjs unit/engine`.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildNodeTests, filesOf } from "./testFiles.mjs";

const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith("-"));
const flags = process.argv.slice(2).filter((argument) => argument.startsWith("-"));
const files = ["unit", "story", "rpc", "lsp", "webview", "scenario"]
  .flatMap(filesOf)
  .filter((name) => wanted.length === 0 || wanted.some((fragment) => name.includes(fragment)))
  // Only where it is named.
  .concat(
    filesOf("long").filter((name) =>
      wanted.some((part) => /^(test\/)?long/.test(part) && name.includes(part)),
    ),
  );
if (files.length === 0) {
  console.error(`no test matches ${wanted.join(" ")}`);
  process.exit(1);
}
const built = await buildNodeTests(files);
// What tests leave in temporary folders goes with them.
const own = mkdtempSync(join(tmpdir(), "gu-"));
const { status } = spawnSync(
  process.execPath,
  ["--enable-source-maps", "--test", "--test-reporter=spec", ...flags, ...built],
  { stdio: "inherit", env: { ...process.env, TMPDIR: own } },
);
rmSync(own, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
process.exit(status ?? 1);
