/** `gradus export`: a config as a project of another trainer. */
import type { ExternalEngine } from "../../../shared/run/engines.ts";
import type { Exporter } from "./exporter.ts";
import { openRlhfExporter } from "./openrlhf/index.ts";
import { primeRlExporter } from "./primeRl/index.ts";
import { skyrlExporter } from "./skyrl/index.ts";
import { trlExporter } from "./trl/index.ts";
import { verlExporter } from "./verl/index.ts";

export { isProject, writeProject } from "./project.ts";
export type { Exported, Exporter, ExportRequest, Missing, Needs } from "./exporter.ts";

export const exporters: Readonly<Record<ExternalEngine, Exporter>> = {
  trl: trlExporter,
  verl: verlExporter,
  openrlhf: openRlhfExporter,
  skyrl: skyrlExporter,
  "prime-rl": primeRlExporter,
};
