/** The policy as it was where training began: what KL terms, preferences and merges compare it with. */
import { join } from "node:path";
import { z } from "zod";
import type { StageKind } from "../../../shared/run/stageKinds.ts";
import { modelsRead } from "../../algorithm/loss/modelsRead.ts";
import type { MergeSource } from "../../core/blocks/stage.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { Saved } from "../../core/basics.ts";
import type { TrainablePolicy } from "../../engine/index.ts";

const schema = z.number().int().nullable();
const folderOf = (run: string, done: number): string => join(run, "models", `reference-${done}`);

export class ReferencePolicy {
  /** Steps done when it was taken. */
  private done: number | null = null;

  constructor(
    private readonly policy: TrainablePolicy,
    /** Folder of the run; undefined: nothing is kept. */
    private readonly folder: string | undefined,
  ) {}

  /** Whether the stage is the first that needs it. */
  isDue({ stages }: Pick<RunConfig, "stages">, index: number): boolean {
    return this.done === null && compares(stages[index]!.kind, stages, index) && isRead(stages);
  }

  /** It is kept next to the checkpoints, once, since they hold the policy alone. */
  async take(done: number): Promise<void> {
    await this.policy.snapshot("reference");
    this.done = done;
    if (this.folder !== undefined) await this.policy.save(folderOf(this.folder, done));
  }

  save(): Saved {
    return { json: this.done };
  }

  /** Leaves its weights in the policy, from which snapshots are taken. */
  async load(saved: Saved | undefined): Promise<void> {
    const done = schema.parse(saved?.json ?? null);
    if (done !== null && this.folder !== undefined) {
      await this.policy.load(folderOf(this.folder, done));
      await this.policy.snapshot("reference");
    }
    this.done = done;
  }
}

/** Whether a step of the stage may compare the policy with it. */
function compares(kind: StageKind, stages: RunConfig["stages"], index: number): boolean {
  if (kind === "alternate")
    return stages[index]!.turns.some((turn) => compares(stages[turn.stage]!.kind, stages, turn.stage));
  return kind === "rl" || kind === "preference";
}

const isRead = (stages: RunConfig["stages"]): boolean =>
  stages.some(
    ({ body, on_enter }) =>
      modelsRead(body).includes("reference") || on_enter.merge.some(({ source }) => isReference(source)),
  );
const isReference = (source: MergeSource): boolean => source.kind === "model" && source.name === "reference";
