/** A command in a YAML file's own comments that starts TRL with it. */
import { basename } from "node:path";
import { trainers } from "../releases/programs/trl.ts";

interface HeaderLaunch {
  /** One of TRL's programs. */
  readonly program: string;
  /** `--config` is the only flag, so the file is complete. */
  readonly alone: boolean;
}

const command = /\btrl(?:\s+|[./]scripts[./])([a-z]+)(?:\.py)?\b(.*?--config(?:\s+|=)(\S+).*)$/;

/**
 * Above the first key every such command is meant for this file, whatever the file was called when it was written; further down
 * only one that names it.
 */
export function startIn(file: string, text: string): HeaderLaunch | undefined {
  const lines = text.split("\n");
  const first = lines.findIndex((line) => /^[^\s#-]/.test(line));
  return lines
    .flatMap((_, i) => {
      const said = /^\s*#(.*)$/.exec(continued(lines, i))?.[1];
      const [, program = "", rest = "", config = ""] = command.exec(said ?? "") ?? [];
      if (!trainers.some(({ name }) => name === program)) return [];
      const isMeant = first < 0 || i < first || basename(config) === basename(file);
      return isMeant ? [{ program, alone: !/--(?!config\b)[a-z]/.test(rest) }] : [];
    })
    .at(-1);
}

/** A comment's line with those that a backslash makes part of it. */
function continued(lines: readonly string[], at: number): string {
  const line = (lines[at] ?? "").trimEnd();
  if (!line.endsWith("\\") || !/^\s*#/.test(line)) return line;
  return `${line.slice(0, -1)} ${continued(lines, at + 1).replace(/^\s*#/, "")}`;
}
