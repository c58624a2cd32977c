/** The project of a run: a config, exported to the trainer that it names, for the site it goes to. */
import type { ExternalEngine } from "../../shared/run/trainers.ts";
import { UserError } from "../../shared/lib/errors.ts";
import type { RunConfig } from "../core/config/runConfig.ts";
import { exporters, writeProject, type Exported } from "../frameworks/trainers/exporters.ts";
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
export function engineOf({ file, engine }: Pick<RunConfig, "file" | "engine">): ExternalEngine {
  if (engine.use !== "embedded") return engine.use;
  throw new UserError("This config trains in the engine of Gradus, which runs on this machine.", {
    file,
    code: "site-embedded",
    action: "To train elsewhere, name a trainer: engine: { use: trl }.",
  });
}

/** An earlier project of ours in the folder is replaced. */
export async function projectFor({ config, text, site, folder, version }: ProjectAsk): Promise<Project> {
  const exporter = exporters[engineOf(config)];
  const { python, launch } = site;
  const exported = await writeProject(exporter, { config, text, folder, version, python, launch });
  return { ...exported, engine: exporter.engine, release: exporter.release, folder };
}
