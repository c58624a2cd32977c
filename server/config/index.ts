/** A config from text to what the run reads. */
export type { Diagnostic, Fix, Position, Range } from "./diagnostic.ts";
export { createMethod } from "./create.ts";
export { allFindings, loadConfig, type LoadOptions, type LoadedConfig, type ValueOrigin } from "./load.ts";
export { listPresets, presetNamed, type Preset } from "./presets.ts";
