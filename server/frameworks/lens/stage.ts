/** The stage that another trainer trains. */
import { UserError } from "../../../shared/lib/errors.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { StageConfig } from "../../core/config/stageConfig.ts";

/** @throws UserError where nothing trains by rewards */
export function trainedStage({ stages, file }: RunConfig, engine: string): StageConfig {
  const stage = stages.find(({ kind }) => kind === "rl");
  if (stage !== undefined) return stage;
  throw new UserError(`the config has no rl stage, and ${engine} trains by rewards`, {
    file,
    code: "export-stage",
    action: "Add a stage of `kind: rl`, or leave `stages` out.",
  });
}
