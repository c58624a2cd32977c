/** What the panel needs of a run's record. Pure. */
import type { Json } from "../../../shared/lib/json.ts";
import type { RunDetail, RunSummary } from "../../../shared/protocol/protocol.ts";
import type { PanelRun } from "../../../shared/editor/runPanel.ts";

const isRecord = (value: Json | undefined): value is Readonly<Record<string, Json>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export function panelRun(detail: RunDetail, summary: RunSummary): PanelRun {
  const { config } = detail;
  const stages = Array.isArray(config["stages"]) ? config["stages"].filter(isRecord) : [];
  const rollout = isRecord(config["rollout"]) ? config["rollout"] : {};
  const {
    id,
    name,
    file,
    status,
    message,
    attempt,
    step,
    steps,
    stage,
    startedAt,
    endedAt,
    backend,
    headline,
    first,
    last,
    warnings,
    verdict,
    origin,
  } = summary;
  return {
    summary: {
      id,
      name,
      file,
      status,
      message,
      attempt,
      step,
      steps,
      stage,
      startedAt,
      endedAt,
      backend,
      headline,
      first,
      last,
      ...(warnings === undefined ? {} : { warnings }),
      ...(verdict === undefined ? {} : { verdict }),
      ...(origin === undefined ? {} : { origin }),
    },
    stages: detail.stages,
    planned: stages.map((planned) => ({
      name: String(planned["name"] ?? ""),
      kind: String(planned["kind"] ?? "rl"),
      steps: typeof planned["steps"] === "number" ? planned["steps"] : null,
    })),
    checkpoints: detail.checkpoints.map((checkpoint) => ({ step: checkpoint.step })),
    group: typeof rollout["group"] === "number" ? rollout["group"] : null,
    device: detail.device ?? summary.backend,
    attempts: detail.attempts.flatMap(({ attempt, resumedAt }) =>
      resumedAt === null ? [] : [{ attempt, from: resumedAt }],
    ),
    seed: typeof config["seed"] === "number" ? config["seed"] : null,
    commit: detail.git === null ? null : `${detail.git.commit.slice(0, 8)}${detail.git.dirty ? "+" : ""}`,
  };
}
