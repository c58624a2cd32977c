/** The parts of a document that each have blocks of their own: the top level, and every stage that it writes. */
import { child, textOf, type MapNode, type SourceNode } from "../../config/text/node.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { StageConfig } from "../../core/config/stageConfig.ts";
import type { StageBody } from "../../core/config/resolved.ts";

export interface Scope {
  /** Whose blocks these are. */
  readonly node: MapNode;
  /** As they are in force. */
  readonly body: StageBody;
  /** undefined for the top level. */
  readonly stage: StageConfig | undefined;
}

export function scopesOf(root: SourceNode | undefined, config: RunConfig): Scope[] {
  if (root?.kind !== "map") return [];
  const top: Scope = { node: root, body: config.top, stage: undefined };
  return [top, ...stagesOf(root, config)];
}

function stagesOf(root: MapNode, { stages }: RunConfig): Scope[] {
  const written = child(root, "stages");
  const named: (readonly [string | undefined, SourceNode])[] =
    written?.kind === "list"
      ? written.items.map((item) => [textOf(child(item, "name")), item])
      : written?.kind === "map"
        ? [...written.entries].map(([name, { value }]) => [name, value])
        : [];
  return named.flatMap(([name, node]) => {
    const stage = stages.find((one) => one.name === name);
    return stage === undefined || node.kind !== "map" ? [] : [{ node, body: stage.body, stage }];
  });
}

export const rlSteps = ({ stages }: RunConfig): number =>
  stages.reduce((sum, { kind, steps }) => sum + (kind === "rl" ? steps : 0), 0);
