/** Judges the examples of a trainer's checkout and compares with the ledger. `CHECKOUT… [--repository NAME --commit HASH] [--write]` */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { candidates, judge } from "./frameworks/judge.ts";
import { isFile, parseLedger, withProofs, written, type Line } from "./frameworks/ledger.ts";
import { measured, skipped } from "./report.ts";

const ledgerFile = "bench/frameworks/ledger.jsonl";
const words = process.argv.slice(2);
const named = (name: string): string | undefined => {
  const at = words.indexOf(`--${name}`);
  return at < 0 ? undefined : words.splice(at, 2)[1];
};
const [repository, commit] = [named("repository"), named("commit")];
const isWriting = words.includes("--write");
const checkouts = words.filter((word) => !word.startsWith("--"));

if (checkouts.length === 0) skipped("judge", "no checkout was named");
const before = existsSync(ledgerFile) ? parseLedger(readFileSync(ledgerFile, "utf8")) : [];
const judged = checkouts.flatMap((checkout) => linesOf(resolve(checkout)));
const again = new Set(judged.map((line) => line.repository));
if (isWriting)
  writeFileSync(
    ledgerFile,
    written(sorted([...before.filter((line) => !again.has(line.repository)), ...judged])),
  );
else compare(before.filter((line) => again.has(line.repository)));
if (checkouts.length > 0) report();

function linesOf(checkout: string): Line[] {
  const at = {
    repository: repository ?? originOf(checkout),
    commit: commit ?? execFileSync("git", ["-C", checkout, "rev-parse", "HEAD"], { encoding: "utf8" }).trim(),
  };
  const paths = candidates(checkout);
  const known = paths.flatMap((path) => judge(checkout, path) ?? []);
  const files = known.map((file) => withProofs({ ...at, ...file }, before));
  return [{ ...at, files: paths.length, unknown: paths.length - known.length }, ...files];
}

/** `owner/name` of where it came from; else the folder's name. */
function originOf(checkout: string): string {
  try {
    const url = execFileSync("git", ["-C", checkout, "remote", "get-url", "origin"], {
      encoding: "utf8",
      stdio: "pipe",
    });
    return /([\w.-]+\/[\w.-]+?)(?:\.git)?\s*$/.exec(url)?.[1] ?? basename(checkout);
  } catch (error) {
    console.error(
      `${checkout}: no origin is named (${error instanceof Error ? error.name : "failed"}); give --repository`,
    );
    return basename(checkout);
  }
}

function sorted(lines: readonly Line[]): Line[] {
  const name = (line: Line): string => `${line.repository} ${isFile(line) ? line.path : ""}`;
  return [...lines].sort((a, b) => (name(a) < name(b) ? -1 : 1));
}

/** Prints what is not as the ledger has it; then the command fails. */
function compare(expected: readonly Line[]): void {
  const [old, now] = [expected, judged].map((lines) => written(sorted(lines)).split("\n"));
  const lost = old?.filter((line) => now?.includes(line) !== true) ?? [];
  const added = now?.filter((line) => old?.includes(line) !== true) ?? [];
  for (const line of lost) console.log(`- ${line}`);
  for (const line of added) console.log(`+ ${line}`);
  if (lost.length + added.length > 0) process.exitCode = 1;
}

function report(): void {
  const errors = judged.filter(isFile).flatMap((file) => file.errors.map((error) => ({ ...error, file })));
  for (const { rule, key, line, proof, file } of errors)
    console.log(`${file.repository} ${file.path}:${line} ${rule} ${key}: ${proof.state}`);
  const setting = `${checkouts.length} checkouts, ${judged.filter(isFile).length} files of known programs`;
  measured({
    what: "judge: errors that are proven",
    value: errors.filter(({ proof }) => proof.state === "true").length,
    unit: "errors",
    setting,
  });
  measured({
    what: "judge: errors that are not",
    value: errors.filter(({ proof }) => proof.state !== "true").length,
    unit: "errors",
    goal: 1,
    setting,
  });
}
