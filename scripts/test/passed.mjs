// What has passed for the sources as they are: long tests that did are not run again.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const git = (...words) =>
  execFileSync("git", words, { encoding: "utf8", maxBuffer: 2 ** 28, stdio: ["ignore", "pipe", "ignore"] });

/** The commit and what differs from it; undefined without git, which alone can show that nothing changed. */
export function sourcesNow() {
  try {
    const hash = createHash("sha256").update(git("diff", "HEAD", "--binary"));
    const untracked = git("ls-files", "--others", "--exclude-standard", "-z").split("\0").filter(Boolean);
    for (const file of untracked) hash.update(file).update(readFileSync(file));
    return `${git("rev-parse", "HEAD").trim()} ${hash.digest("hex").slice(0, 12)}`;
  } catch {
    return undefined;
  }
}

/** Remembers test files that passed, in a file of its own, for one state of the sources. */
export class Passed {
  #files;

  constructor(sources, { again = false, file = join("out", "long.json") } = {}) {
    this.sources = sources;
    this.file = file;
    const known = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
    this.#files = new Set(!again && sources !== undefined && known.sources === sources ? known.files : []);
  }

  has(name) {
    return this.#files.has(name);
  }

  /** Written at once: an interrupted tier continues after the last file that passed. */
  add(name) {
    this.#files.add(name);
    if (this.sources === undefined) return;
    mkdirSync(dirname(this.file), { recursive: true });
    writeFileSync(this.file, JSON.stringify({ sources: this.sources, files: [...this.#files] }));
  }
}
