/** Trainers that a run may be exported to, by `engine.use`; `embedded` is the engine of Gradus. */
export const externalEngines = ["trl", "verl", "openrlhf", "skyrl", "prime-rl"] as const;
export type ExternalEngine = (typeof externalEngines)[number];

export const engineNames: Readonly<Record<ExternalEngine, string>> = {
  trl: "TRL",
  verl: "verl",
  openrlhf: "OpenRLHF",
  skyrl: "SkyRL",
  "prime-rl": "prime-rl",
};
