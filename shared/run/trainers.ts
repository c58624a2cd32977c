/** The trainers that Gradus knows, and what it does with each: every list and type of trainers follows from this table. */

interface TrainerFacts {
  /** As its authors spell it. */
  readonly name: string;
  /** Its spelling in run logs and among the names of metrics. */
  readonly recorded?: string;
  /** Its configurations are checked and completed, by tables of its releases. */
  readonly checked?: true;
  /** `gradus convert` makes a config of its configuration. */
  readonly converted?: true;
  /** A config may name it in `engine.use`, and is written as a project for it. */
  readonly exported?: true;
  /** Its rollouts are read from its own files, where they stay. */
  readonly dumps?: true;
}

export const trainers = {
  trl: { name: "TRL", recorded: "trl", checked: true, converted: true, exported: true, dumps: true },
  verl: { name: "verl", recorded: "verl", checked: true, converted: true, exported: true, dumps: true },
  openrlhf: { name: "OpenRLHF", recorded: "openrlhf", checked: true, converted: true, exported: true },
  skyrl: { name: "SkyRL", recorded: "skyrl", converted: true, exported: true },
  // Logs spell it as its package does, and always did.
  "prime-rl": { name: "prime-rl", recorded: "prime_rl", converted: true, exported: true },
  // Only recognised: it is said that they are not read.
  "nemo-rl": { name: "NeMo RL" },
  "llama-factory": { name: "LLaMA-Factory" },
  "ms-swift": { name: "ms-swift" },
  axolotl: { name: "Axolotl" },
  areal: { name: "AReaL" },
  roll: { name: "ROLL" },
  "open-instruct": { name: "open-instruct" },
  easyr1: { name: "EasyR1" },
  slime: { name: "slime" },
  miles: { name: "miles" },
  torchtune: { name: "torchtune" },
  "trinity-rft": { name: "Trinity-RFT" },
  unsloth: { name: "Unsloth" },
} as const satisfies Readonly<Record<string, TrainerFacts>>;

type Table = typeof trainers;
export type TrainerId = keyof Table;
type Capability = "recorded" | "checked" | "converted" | "exported" | "dumps";
export type TrainerThat<Is extends Capability> = {
  [Id in TrainerId]: Is extends keyof Table[Id] ? Id : never;
}[TrainerId];

/** The trainers that have a fact, in the table's order. */
export const trainersThat = <Is extends Capability>(is: Is): readonly TrainerThat<Is>[] =>
  trainerIds.filter((id): id is TrainerThat<Is> => is in trainers[id]);

// `Object.keys` gives strings: the table has no other keys.
const trainerIds = Object.keys(trainers) as TrainerId[];

/** Trainers that a run may be exported to, by `engine.use`; `embedded` is the engine of Gradus. */
export const externalEngines = trainersThat("exported");
export type ExternalEngine = TrainerThat<"exported">;

/** A trainer, as the names of metrics and run logs spell it. */
export type Namer = Table[TrainerThat<"recorded">]["recorded"];
export const namers: readonly Namer[] = trainersThat("recorded").map((id) => trainers[id].recorded);

/** Whether there are tables of its releases. */
export const isChecked = (id: TrainerId): id is TrainerThat<"checked"> => "checked" in trainers[id];
