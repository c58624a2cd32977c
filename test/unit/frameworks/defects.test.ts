/** The list of defects in public examples: each entry has its proof, and a patch that touches the place it names. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { frameworkRules, keyRules } from "../../../server/frameworks/check/index.ts";

const folder = "bench/frameworks";
const place = /`([^`]+):(\d+)`/;

interface Entry {
  number: string;
  heading: string;
  lines: readonly string[];
}

interface Hunk {
  file: string;
  start: number;
  /** The lines that the patch expects to find, from `start` on. */
  before: string[];
  changed: number;
  /** Counts in the hunk's header. */
  counts: readonly [before: number, after: number];
  after: number;
  /** Nothing of the file is below it: git tells that by the missing context. */
  last: boolean;
}

const page = readFileSync(join(folder, "defects.md"), "utf8");

const entries: readonly Entry[] = page
  .split(/^### /m)
  .slice(1)
  .map((text) => {
    const [heading = "", ...lines] = text.trimEnd().split("\n");
    return { number: heading.slice(0, 2), heading, lines };
  });

/** What follows a label, once for each line that has it. */
function values(entry: Entry, label: string): string[] {
  const start = `- ${label}: `;
  return entry.lines.filter((line) => line.startsWith(start)).map((line) => line.slice(start.length));
}

function only(entry: Entry, label: string): string {
  const found = values(entry, label);
  assert.equal(found.length, 1, `${entry.heading}: ${label}`);
  return found[0] ?? "";
}

const patchOf = (entry: Entry) => /\(patches\/([^)]+)\)/.exec(only(entry, "Patch"))?.[1] ?? "";

function hunksOf(patch: string): Hunk[] {
  const hunks: Hunk[] = [];
  let file = "";
  for (const line of patch.replace(/\n$/, "").split("\n")) {
    const header = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@$/.exec(line);
    const hunk = hunks.at(-1);
    // A name with a space has a tab after it.
    if (line.startsWith("--- ")) file = line.slice("--- a/".length).trimEnd();
    else if (line.startsWith("+++ ")) assert.equal(line.slice("+++ b/".length).trimEnd(), file);
    else if (header)
      hunks.push({
        file,
        start: Number(header[1]),
        before: [],
        changed: 0,
        counts: [Number(header[2] ?? 1), Number(header[3] ?? 1)],
        after: 0,
        last: false,
      });
    else if (hunk) take(hunk, line);
    else assert.fail(`before the first hunk: ${line}`);
  }
  return hunks;
}

function take(hunk: Hunk, line: string): void {
  if (line.startsWith("\\")) return;
  hunk.last = !line.startsWith(" ");
  assert.match(line, /^[ +-]/);
  if (!line.startsWith("+")) hunk.before.push(line.slice(1));
  if (!line.startsWith("-")) hunk.after += 1;
  if (!line.startsWith(" ")) hunk.changed += 1;
}

/** Files that have the expected lines where each hunk says, and something else around them. */
function treeFor(hunks: readonly Hunk[]): string {
  const root = mkdtempSync(join(tmpdir(), "gradus-patch-"));
  for (const file of new Set(hunks.map((hunk) => hunk.file))) {
    const lines: string[] = [];
    const own = hunks.filter((each) => each.file === file);
    for (const hunk of own) {
      while (lines.length < hunk.start - 1) lines.push(`line ${lines.length + 1}`);
      lines.push(...hunk.before);
    }
    if (own.at(-1)?.last !== true) lines.push("the end of the file");
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), `${lines.join("\n")}\n`);
  }
  return root;
}

function applies(patch: string, root: string): string {
  const arguments_ = ["apply", "--check", join(process.cwd(), folder, "patches", patch)];
  const run = spawnSync("git", arguments_, { cwd: root, encoding: "utf8" });
  return run.status === 0 ? "" : run.stderr;
}

describe("defects of public examples", () => {
  it("are at least 25, numbered, in the table as in the sections", () => {
    assert.ok(entries.length >= 25, String(entries.length));
    const rows = [...page.matchAll(/^\| (\d\d) +\|/gm)].map((match) => match[1]);
    assert.deepEqual(
      rows,
      entries.map((entry) => entry.number),
    );
    assert.deepEqual(
      rows,
      rows.map((_, i) => String(i + 1).padStart(2, "0")),
    );
  });

  it("name repository, commit, place and what happens", () => {
    for (const entry of entries) {
      assert.match(only(entry, "Repository"), /^[\w.-]+\/[\w.-]+, commit `[0-9a-f]{40}`$/, entry.heading);
      assert.match(only(entry, "Place"), place, entry.heading);
      for (const label of ["Wrong", "Effect"]) assert.ok(only(entry, label).length > 30, entry.heading);
    }
  });

  it("are proved by a line of the same commit, and say what it shows", () => {
    for (const entry of entries) {
      const proofs = values(entry, "Proof");
      assert.ok(proofs.length > 0, entry.heading);
      for (const proof of proofs) assert.match(proof, /^`[^`]+:\d+`: \S.{8,}$/, entry.heading);
    }
  });

  it("name rules that there are", () => {
    const ids = new Set([...keyRules, ...frameworkRules].map((rule) => rule.id));
    for (const entry of entries) {
      const found = only(entry, "Found by `gradus validate`");
      const rule = /^`([^`]+)`/.exec(found)?.[1];
      assert.ok(found === "no" || (rule !== undefined && ids.has(rule)), `${entry.heading}: ${found}`);
    }
  });

  it("have one patch each, and no patch is left over", () => {
    const patches = entries.map(patchOf);
    assert.deepEqual(readdirSync(join(folder, "patches")).sort(), [...patches].sort());
    for (const [i, patch] of patches.entries())
      assert.ok(patch.startsWith(`${entries[i]?.number ?? ""}-`), patch);
  });

  it("have patches that git accepts, with little of the others' text", () => {
    for (const entry of entries) {
      const name = patchOf(entry);
      const hunks = hunksOf(readFileSync(join(folder, "patches", name), "utf8"));
      for (const hunk of hunks) {
        assert.deepEqual([hunk.before.length, hunk.after], [...hunk.counts], name);
        assert.ok(hunk.changed > 0 && hunk.before.length <= hunk.changed + 4, `${name}: much context`);
      }
      const root = treeFor(hunks);
      try {
        assert.equal(applies(name, root), "", name);
      } finally {
        rmSync(root, { recursive: true });
      }
    }
  });

  it("have patches that touch the place", () => {
    for (const entry of entries) {
      const [, file = "", line = "0"] = place.exec(only(entry, "Place")) ?? [];
      const hunks = hunksOf(readFileSync(join(folder, "patches", patchOf(entry)), "utf8"));
      const touched = hunks.some(
        (hunk) =>
          hunk.file === file && hunk.start <= Number(line) && Number(line) < hunk.start + hunk.before.length,
      );
      assert.ok(touched, entry.heading);
    }
  });
});
