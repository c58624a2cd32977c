/** The configs of sides/: where they are, and what of them decides a result. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parse } from "yaml";
import { loadConfig, type LoadedConfig } from "../../server/rules/load.ts";
import type { RunConfig } from "../../server/core/config/runConfig.ts";

export const sideFile = (name: string): string =>
  resolve(join("bench/curriculum/sides", `${name}.gradus.yaml`));

/** Everything that was written, in this file and those it extends: comments and a preset's header decide nothing. */
function written({ files }: LoadedConfig): unknown {
  return files.map((file) => {
    const { preset: _, ...rest } = parse(readFileSync(file, "utf8")) ?? {};
    return rest;
  });
}

const digest = (value: unknown): string =>
  createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 12);

/** What every real side begins from. */
export const warmUp = "warmUp";
export const warmUpFingerprint = (): string => digest(written(loadConfig(sideFile(warmUp))));

/** Of a side's settings, and of what it begins from or is simulated with. */
export const sideFingerprint = (side: string, with_: unknown): string =>
  digest([written(loadConfig(sideFile(side))), with_]);

/** @throws Error where the config has errors */
export function configOfSide(side: string, set: readonly string[] = []): RunConfig {
  const { config, diagnostics } = loadConfig(sideFile(side), { set });
  if (config === undefined) {
    const errors = diagnostics.filter(({ severity }) => severity === "error");
    throw new Error(`${side}: ${errors.map(({ message }) => message).join("; ")}`);
  }
  return config;
}
