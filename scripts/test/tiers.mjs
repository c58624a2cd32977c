// Every check and tier of `npm test`.
import { join } from "node:path";

/** A program of an installed package. */
export const bin = (name, file = name) => join("node_modules", name, file);

export const checks = [
  // What the compiler says of types, and rules, many of which ask for types: one pass, by TypeScript's native compiler.
  { name: "lint", limit: 300, run: [bin("oxlint", "bin/oxlint"), "--type-check", "--deny-warnings"] },
  // Who imports whom: .dependency-cruiser.mjs is the table of floors.
  {
    name: "floors",
    limit: 120,
    run: [
      bin("dependency-cruiser", "bin/dependency-cruise.mjs"),
      "--config",
      ".dependency-cruiser.mjs",
      "server",
      "shared",
      "extension",
      "webviews",
    ],
  },
  { name: "format", limit: 60, run: [bin("oxfmt", "bin/oxfmt"), "--check"] },
];

/**
 * `file`: seconds that one file may take: the end of what hangs, larger than that of its waits (test/support/until.ts). `needs`: what set-up may not have
 * found. `likes`: what single tests look for themselves, and say why they were skipped. Tiers that `wait` spend about half
 * of their time waiting for other processes, so that their jobs run next to those that compute (pool.mjs). `together`: how
 * many files of a room one process may run.
 */
export const tiers = [
  { name: "story", file: 600, waits: true },
  { name: "rpc", file: 600, waits: true },
  { name: "scenario", file: 900, waits: true, needs: "workbench" },
  { name: "workbench", file: 600, waits: true, needs: "workbench" },
  { name: "webview", file: 600, waits: true, needs: "browser" },
  { name: "lsp", file: 600, likes: ["neovim", "preCommit"] },
  { name: "unit", file: 600, together: 20 },
];

/** Suites of the workbench that take minutes, and run in the tier `long`: each offered command is pressed where it is offered. */
export const longSuites = ["offers", "menus"];

/** What takes minutes: runs only where it is named. After `limit` seconds in all no other file is begun; the next call goes on. */
export const long = { name: "long", file: 1800, limit: 2700 };
/** Files of it that start all tiers by themselves, under another Node. */
export const fillsMachine = (file) => file.startsWith("test/long/nodes/");
