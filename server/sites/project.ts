/** The project of a run: a config, exported to the trainer that it names, for the site it goes to. */
import { mkdirSync, rmSync } from "node:fs";
import type { ExternalEngine } from "../../shared/run/engines.ts";
import { UserError } from "../../shared/lib/errors.ts";
import type { RunConfig } from "../core/config/runConfig.ts";
import { exporterOf } from "../frameworks/export/index.ts";
import type { Exported } from "../frameworks/export/exporter.ts";
import type { SiteConfig } from "./siteConfig.ts";

export interface ProjectAsk {
  readonly config: RunConfig;
  /** The config's own text. */
  readonly text: string;
  readonly site: Pick<SiteConfig, "python" | "launch">;
  readonly folder: string;
  readonly version: string;
}

export interface Project extends Exported {
  readonly engine: ExternalEngine;
  /** "TRL 1.16" */
  readonly release: string;
  readonly folder: string;
}

/** Who trains a config elsewhere. @throws UserError where it is the engine of Gradus */
export function engineOf({ file, engine }: RunConfig): ExternalEngine {
  if (engine.use !== "embedded") return engine.use;
  throw new UserError("This config trains in the engine of Gradus, which runs on this machine.", {
    file,
    code: "site-embedded",
    action: "To train elsewhere, name a trainer: engine: { use: trl }.",
  });
}

/** Writes the project into a folder that holds nothing else. */
export async function writeProject({ config, text, site, folder, version }: ProjectAsk): Promise<Project> {
  const engine = engineOf(config);
  const exporter = exporterOf(engine);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const exported = await exporter.write({
    ...{ config, text, folder, version },
    python: site.python,
    launch: site.launch,
  });
  return { ...exported, engine, release: exporter.release, folder };
}
