/** `gradus check` of a folder with 200 launches, and of the folders that are named, from its start to its end. `[FOLDER…]` */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { performance } from "node:perf_hooks";
import { measured, quantile } from "./report.ts";

const gradus = resolve("dist/cli.mjs");
const launches = ["verl", "trl", "openrlhf"].flatMap((trainer) => {
  const folder = resolve("test/fixtures/frameworks", trainer);
  return readdirSync(folder).map((name) => join(folder, name));
});

const folder = mkdtempSync(join(tmpdir(), "gradus-bench-check-"));
try {
  for (let n = 0; n < 200; n++) {
    const launch = launches[n % launches.length] ?? "";
    cpSync(launch, join(folder, `${n}`, launch.slice(launch.lastIndexOf("/") + 1)), { recursive: true });
  }
  report("200 launches", folder, 5);
  for (const named of process.argv.slice(2).filter((word) => !word.startsWith("--"))) report(named, named);
} finally {
  rmSync(folder, { recursive: true });
}

function report(setting: string, word: string, goal?: number): void {
  const times = Array.from({ length: 5 }, () => seconds(word));
  const value = quantile(times, 0.5);
  measured({ what: "a folder checked, median of five", value, unit: "s", ...(goal && { goal }), setting });
}

function seconds(word: string): number {
  const began = performance.now();
  const { status } = spawnSync(process.execPath, [gradus, "check", word], { stdio: "ignore" });
  // 1: it found something, as it should.
  if (status !== 0 && status !== 1) throw new Error(`gradus check ${word} ended with ${status}`);
  return (performance.now() - began) / 1000;
}
