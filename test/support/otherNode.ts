/** The tests of this checkout under another Node than the one at hand, in a copy that is set up for it. */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { test } from "node:test";
import { once } from "node:events";

const platformPackage = `node-${process.platform}-${process.arch}`;

/** The copy has its own record of what was set up; packages are linked, but for the one that is built for a Node. */
function copied(folder: string): void {
  const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "-z"], {
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  for (const file of files.split("\0").filter((name) => name !== "")) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(file, join(folder, file), { force: true });
  }
  execFileSync("cp", ["-al", "node_modules", join(folder, "node_modules")]);
  for (const own of ["better-sqlite3", ".gradus"])
    rmSync(join(folder, "node_modules", own), { recursive: true, force: true });
  execFileSync("cp", ["-a", join("node_modules", "better-sqlite3"), join(folder, "node_modules")]);
}

function fetched(major: number): string {
  const folder = mkdtempSync(join(tmpdir(), `gradus-node${major}-`));
  const flags = ["--ignore-scripts", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"];
  execFileSync("npm", ["install", "--prefix", folder, ...flags, `${platformPackage}@${major}`]);
  return folder;
}

const ownMajor = Number(process.versions.node.split(".")[0]);

/**
 * A test that passes where a part of the tiers' files do under the newest Node of a major version: what a newer Node
 * changes stays so in those that follow, so each file is run under one of them.
 */
export function passesUnder(major: number, part: string): void {
  const tiers = ["unit", "rpc", "lsp"];
  const skip =
    process.platform === "linux"
      ? ownMajor === major && "it is the Node at hand"
      : "packages are linked by GNU cp";
  test(`part ${part} of ${tiers.join(", ")} passes under Node ${major}`, { skip }, async () => {
    const node = fetched(major);
    const folder = mkdtempSync(join(tmpdir(), "gradus-copy-"));
    try {
      copied(folder);
      const bin = join(node, "node_modules", platformPackage, "bin");
      // Set by a runner of this very test: the other one would report to it.
      const { NODE_TEST_CONTEXT: _, ...own } = process.env;
      const child = spawn(join(bin, "node"), [join("scripts", "test.mjs"), ...tiers, `--part=${part}`], {
        cwd: folder,
        env: { ...own, PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}`, GRADUS_THOROUGH: "" },
        stdio: ["ignore", "pipe", "inherit"],
      });
      let said = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
      const [code] = await once(child, "close");
      assert.equal(code, 0, said.slice(said.indexOf("✖")));
      assert.match(said, /^[1-9]\d* passed, 0 failed/m);
    } finally {
      rmSync(folder, { recursive: true, force: true });
      rmSync(node, { recursive: true, force: true });
    }
  });
}
