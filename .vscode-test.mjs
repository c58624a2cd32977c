// Suites inside a real extension host. `npm test` runs them in the workbench out of npm (test/workbench/code.mjs);
// with VSCODE_TEST_VERSION=stable (or a version) vscode-test fetches that editor and runs the same files in it.
import { defineConfig } from "@vscode/test-cli";
import { existsSync } from "node:fs";
import { join } from "node:path";

const version = process.env.VSCODE_TEST_VERSION;
const editor =
  version === undefined
    ? { useInstallation: { fromPath: join(import.meta.dirname, "test", "workbench", "code.mjs") } }
    : { version };

/** A suite is a folder of test/workbench; what it opens decides what it can test. */
const suite = (label, workspaceFolder, env = {}) => ({
  label,
  ...(workspaceFolder === undefined ? {} : { workspaceFolder }),
  files: `out/test/workbench/${label}/**/*.test.js`,
  env,
  launchArgs: ["--disable-extensions"],
  // Longer than any wait of theirs (test/support/until.ts), which says what it waits for.
  mocha: { ui: "bdd", timeout: 300_000, forbidOnly: process.env.CI !== undefined },
  ...editor,
});

const single = "test/fixtures/workbench/single";
export const suites = [
  suite("language", single),
  suite("runs", single),
  suite("seen", single),
  suite("multiroot", "test/fixtures/workbench/multi.code-workspace"),
  suite("offers", single),
  suite("menus", single),
  suite("trainer", "test/fixtures/workbench/trainer"),
  suite("notebook", "test/fixtures/workbench/trainer"),
  suite("project", "test/fixtures/projects/gsm"),
  suite("empty", undefined),
];

export default defineConfig({
  tests: suites.filter(({ label }) => existsSync(join("out", "test", "workbench", label))),
  coverage: { includeAll: true, exclude: ["**/test/**"], reporter: ["text-summary", "lcov"] },
});
