/** A config from text to what the run reads. */
export type { Diagnostic, Fix, Position, Range } from "../config/check/diagnostic.ts";
export { createMethod } from "../core/config/create.ts";
export { allFindings, loadConfig, type LoadOptions, type LoadedConfig, type ValueOrigin } from "./load.ts";
export { listPresets, presetNamed, type Preset } from "../config/presets.ts";
