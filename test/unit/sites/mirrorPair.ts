/** A folder and its mirror, through the shell of this machine or one that breaks. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UserError } from "../../../shared/lib/errors.ts";
import { here } from "../../../server/sites/here.ts";
import { Mirror } from "../../../server/sites/mirror.ts";
import type { Shell } from "../../../server/sites/shell.ts";
import { atExit } from "../../support/atExit.ts";

const made: string[] = [];
atExit(() => made.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

/** A folder there, and a mirror of it here. */
export function pair(shell: Shell = here(), name = "out") {
  const base = mkdtempSync(join(tmpdir(), "gradus-mirror-"));
  made.push(base);
  const there = join(base, name);
  mkdirSync(there);
  const root = join(base, "mirror");
  const file = (path: string) => join(there, path);
  const copy = (path: string) => join(root, name, path);
  const same = (path: string) =>
    assert.ok(readFileSync(copy(path)).equals(readFileSync(file(path))), `${path} is another`);
  return { base, there, root, file, copy, same, again: () => new Mirror(shell, there, root) };
}

/** The shell of this machine, which counts what it is asked and may break. */
export class Breaking implements Shell {
  readonly name = "box";
  asked = 0;
  bytes = 0;
  /** Which question finds no answer, counted from 1. */
  breaksAt = Number.POSITIVE_INFINITY;
  /** What comes before each script. */
  prelude = "";
  /** Called before each question is answered. */
  before: (asked: number) => unknown = () => undefined;
  private readonly shell = here();

  async run(...ask: Parameters<Shell["run"]>): ReturnType<Shell["run"]> {
    this.before(++this.asked);
    if (this.asked === this.breaksAt)
      throw new UserError("box does not answer.", { code: "site-unreachable" });
    const [script, ...rest] = ask;
    const answer = await this.shell.run(`${this.prelude}\n${script}`, ...rest);
    this.bytes += answer.stdout.length;
    return answer;
  }

  close(): void {
    this.shell.close();
  }
}
