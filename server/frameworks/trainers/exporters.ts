/** `gradus export`: a config as a project of another trainer. */
import type { ExternalEngine } from "../../../shared/run/trainers.ts";
import type { Exporter } from "../lens/exporter.ts";
import { openRlhfExporter } from "./openrlhf/project/index.ts";
import { primeRlExporter } from "./primeRl/project/index.ts";
import { skyrlExporter } from "./skyrl/project/index.ts";
import { trlExporter } from "./trl/project/index.ts";
import { verlExporter } from "./verl/project/index.ts";

export { isProject, writeProject } from "../carried/project.ts";
export type { Exported, Exporter, ExportRequest, Missing, Needs } from "../lens/exporter.ts";

export const exporters: Readonly<Record<ExternalEngine, Exporter>> = {
  trl: trlExporter,
  verl: verlExporter,
  openrlhf: openRlhfExporter,
  skyrl: skyrlExporter,
  "prime-rl": primeRlExporter,
};
