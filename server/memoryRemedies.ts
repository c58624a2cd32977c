/** What may be lowered in a config that needs too much memory. */
import type { RunConfig, StageConfig } from "./config/resolved.ts";
import type { Budget } from "./policy/memory.ts";

/** What the config itself decides. */
export function fixedBudget({ stages }: RunConfig): Partial<Budget> {
  const written = stages.flatMap(({ body }) => body.update.micro_tokens ?? []);
  return written.length === 0 ? {} : { micro_tokens: Math.max(...written) };
}

/** One change of a config that lowers its memory. */
export interface Remedy {
  readonly key: string;
  readonly now: string | number;
  /** Values to try, the mildest first. */
  readonly values: readonly (string | number)[];
  with(value: string | number): RunConfig;
}
const halves = (from: number, least: number): number[] => {
  const found: number[] = [];
  for (let value = Math.floor(from / 2); value >= least; value = Math.floor(value / 2)) found.push(value);
  return found;
};
const everyStage = (
  config: RunConfig,
  change: (body: StageConfig["body"]) => StageConfig["body"],
): RunConfig => ({
  ...config,
  stages: config.stages.map((stage) => ({ ...stage, body: change(stage.body) })),
});

export function remedies(config: RunConfig): Remedy[] {
  const found: Remedy[] = [];
  const micro = fixedBudget(config).micro_tokens;
  if (micro !== undefined)
    found.push({
      key: "update.micro_tokens",
      now: micro,
      values: halves(micro, 64),
      with: (value) =>
        everyStage(config, (body) => ({ ...body, update: { ...body.update, micro_tokens: Number(value) } })),
    });
  const longest = Math.max(...config.stages.map(({ body }) => body.rollout.max_tokens));
  found.push({
    key: "rollout.max_tokens",
    now: longest,
    values: halves(longest, 16),
    with: (value) =>
      everyStage(config, (body) => ({
        ...body,
        rollout: { ...body.rollout, max_tokens: Math.min(body.rollout.max_tokens, Number(value)) },
      })),
  });
  found.push(...keptLess(config));
  if (config.model.base === "tiny") found.push(...smaller(config));
  return found;
}
/** Fewer rollouts of earlier steps. */
function keptLess(config: RunConfig): Remedy[] {
  const capacities = config.stages.flatMap(({ body }) => body.replay.source.params["capacity"] ?? []);
  const most = Math.max(0, ...capacities.map(Number));
  if (most === 0) return [];
  const at = (body: StageConfig["body"], value: number): StageConfig["body"] => {
    const { source } = body.replay;
    const capacity = Math.min(Number(source.params["capacity"] ?? 0), value);
    if (source.params["capacity"] === undefined) return body;
    return {
      ...body,
      replay: { ...body.replay, source: { ...source, params: { ...source.params, capacity } } },
    };
  };
  return [
    {
      key: "replay.capacity",
      now: most,
      values: halves(most, 64),
      with: (value) => everyStage(config, (body) => at(body, Number(value))),
    },
  ];
}
/** Sizes of a tiny model that keep what its heads ask of the width. */
function smaller(config: RunConfig): Remedy[] {
  const { size } = config.model;
  const sized = (more: Partial<typeof size>): RunConfig => ({
    ...config,
    model: { ...config.model, size: { ...size, ...more } },
  });
  return [
    {
      key: "model.layers",
      now: size.layers,
      values: halves(size.layers, 1),
      with: (value) => sized({ layers: Number(value) }),
    },
    {
      key: "model.width",
      now: size.width,
      values: halves(size.width / (2 * size.heads), 1).map((pairs) => pairs * 2 * size.heads),
      with: (value) => sized({ width: Number(value) }),
    },
  ];
}
